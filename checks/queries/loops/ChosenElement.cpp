#include "queries/loops/ChosenElement.h"
#include "ast/Expressions.h"
#include "ast/Walk.h"
#include "queries/loops/ElementPath.h"
#include "torch/Modules.h"
#include "torch/Std.h"
#include "torch/Types.h"
#include "clang/AST/StmtCXX.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace clang;

namespace torchtidy::model {

namespace {

class Choice {
public:
  Choice(const Execution &Entry, llvm::ArrayRef<const flow::Loop *> Around) {
    for (const flow::Loop *L : Around)
      Statements.push_back(Entry.loopStatement(*L));
  }

  /// The statements of loops that choose what was followed.
  llvm::SmallPtrSet<const Stmt *, 4> Choosing;

  void follow(const Frame *In, const Expr *E) {
    std::optional<Written> Next = Written{In, E};
    // Bounds the way through references and callers.
    for (unsigned Hop = 0; Next && Hop < 24; ++Hop)
      Next = step(Next->In, ast::strip(Next->E));
  }

private:
  /// What In is called on or given; nothing at the root.
  static std::optional<Written> inCaller(const Frame *In, const Expr *E) {
    if (!In || !In->Caller || !E)
      return std::nullopt;
    return Written{In->Caller, E};
  }

  std::optional<Written> step(const Frame *In, const Expr *E) {
    if (!E || !In)
      return std::nullopt;
    if (const auto *Ref = dyn_cast<DeclRefExpr>(E))
      return variable(In, Ref->getDecl());
    if (isa<CXXThisExpr>(E))
      return inCaller(In, In->Object);
    if (const auto *Member = dyn_cast<MemberExpr>(E))
      return Written{In, Member->getBase()};
    if (const auto *Unary = dyn_cast<UnaryOperator>(E))
      return Written{In, Unary->getSubExpr()};
    if (const auto *Subscript = dyn_cast<ArraySubscriptExpr>(E)) {
      index(In, Subscript->getIdx());
      return Written{In, Subscript->getBase()};
    }
    if (const auto *Construct = dyn_cast<CXXConstructExpr>(E))
      return Construct->getNumArgs() == 1
                 ? std::optional(Written{In, Construct->getArg(0)})
                 : std::nullopt;
    const auto *Call = dyn_cast<CallExpr>(E);
    const Expr *Object = Call ? ast::objectOf(Call) : nullptr;
    if (!Object)
      return std::nullopt;
    const auto Arguments = ast::argumentsOf(Call);
    if (Arguments.size() == 1 && leadsToElement(Call->getDirectCallee()))
      index(In, Arguments.front());
    return Written{In, Object};
  }

  static bool leadsToElement(const FunctionDecl *Callee) {
    return torch::meaning(Callee) == torch::StdMeaning::Element ||
           torch::partAccess(Callee) == torch::PartAccess::One;
  }

  std::optional<Written> variable(const Frame *In, const ValueDecl *D) {
    if (const auto *Binding = dyn_cast<BindingDecl>(D))
      D = cast<VarDecl>(Binding->getDecomposedDecl());
    const auto *V = dyn_cast<VarDecl>(D);
    const Frame *Owner = V ? Supergraph::owner(In, V) : nullptr;
    if (!Owner)
      return std::nullopt;
    // An iterator that the loop counts up, or the element of a range, which
    // loops around it may choose in turn.
    if (isCounted(V)) {
      const Expr *Range = rangeOf(V);
      return Range ? std::optional(Written{Owner, Range}) : std::nullopt;
    }
    if (const auto *Parameter = dyn_cast<ParmVarDecl>(V)) {
      // std::for_each.
      if (Parameter->getFunctionScopeIndex() == 0 && Owner->Range &&
          Owner->Caller) {
        Choosing.insert(Owner->Site);
        return std::nullopt;
      }
      const Supergraph::Passed Given = Supergraph::passed(In, Parameter);
      return inCaller(Given.To, Given.Argument);
    }
    return V->getInit() ? std::optional(Written{Owner, V->getInit()})
                        : std::nullopt;
  }

  /// nets[i], nets[i + 1]
  void index(const Frame *In, const Expr *E) {
    E = ast::stripCopies(E);
    if (const auto *Binary = dyn_cast_or_null<BinaryOperator>(E);
        Binary && Binary->isAdditiveOp()) {
      index(In, Binary->getLHS());
      index(In, Binary->getRHS());
      return;
    }
    const auto *Ref = dyn_cast_or_null<DeclRefExpr>(E);
    const auto *V = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
    const Frame *Owner = V ? Supergraph::owner(In, V) : nullptr;
    if (!Owner || isCounted(V))
      return;
    if (const auto *Parameter = dyn_cast<ParmVarDecl>(V)) {
      const Supergraph::Passed Given = Supergraph::passed(In, Parameter);
      if (Given.Argument)
        index(Given.To->Caller, Given.Argument);
    } else if (V->getInit() && V->getType().isConstQualified()) {
      index(Owner, V->getInit());
    }
  }

  static bool names(const Expr *E, const VarDecl *V) {
    const auto *Ref = dyn_cast_or_null<DeclRefExpr>(ast::strip(E));
    return Ref && Ref->getDecl() == V;
  }

  /// In the third part of a for: ++i, i++, --i, i += n.
  static bool counts(const Stmt *Increment, const VarDecl *V) {
    auto Counts = [&](const Stmt *S) {
      if (const auto *Unary = dyn_cast<UnaryOperator>(S))
        return Unary->isIncrementDecrementOp() && names(Unary->getSubExpr(), V);
      if (const auto *Binary = dyn_cast<CompoundAssignOperator>(S))
        return names(Binary->getLHS(), V);
      const auto *Operator = dyn_cast<CXXOperatorCallExpr>(S);
      return Operator && names(Operator->getArg(0), V);
    };
    return ast::anyStmt(Increment, Counts, ast::Lambdas::Skip);
  }

  /// What the loop goes through whose variable V is, or null.
  const Expr *rangeOf(const VarDecl *V) const {
    for (const Stmt *S : Statements)
      if (const auto *Range = dyn_cast_or_null<CXXForRangeStmt>(S);
          Range && Range->getLoopVariable() == V)
        return Range->getRangeInit();
    return nullptr;
  }

  /// V has another value in each iteration of one of the loops.
  bool isCounted(const VarDecl *V) {
    bool Found = false;
    for (const Stmt *S : Statements) {
      const auto *Range = dyn_cast_or_null<CXXForRangeStmt>(S);
      const auto *For = dyn_cast_or_null<ForStmt>(S);
      if ((Range && Range->getLoopVariable() == V) ||
          (For && counts(For->getInc(), V))) {
        Choosing.insert(S);
        Found = true;
      }
    }
    return Found;
  }

  /// Of the loops around.
  llvm::SmallVector<const Stmt *, 4> Statements;
};

} // namespace

llvm::SmallVector<const flow::Loop *, 4> choosingLoops(const Execution &Entry,
                                                       const Frame *In,
                                                       const Expr *E,
                                                       flow::Digraph::Node At) {
  auto Around = Entry.loopsAround(At);
  Choice Chosen(Entry, Around);
  Chosen.follow(In, E);
  llvm::erase_if(Around, [&](const flow::Loop *L) {
    return !Chosen.Choosing.count(Entry.loopStatement(*L));
  });
  return Around;
}

} // namespace torchtidy::model

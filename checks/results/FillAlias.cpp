#include "results/FillAlias.h"
#include "ast/Expressions.h"
#include "ast/Walk.h"
#include "flow/PathQuery.h"
#include "model/syntax/Variables.h"
#include "torch/Api.h"
#include "torch/Std.h"
#include "torch/Types.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/StmtCXX.h"

using namespace clang;
using torchtidy::flow::Loop;
using torchtidy::torch::TypeKind;

namespace torchtidy::model {

namespace {

/// The handle that the elements are copies of. Not stripCopies: in Block(n)
/// that goes on to n, which a new module is made with.
const Expr *originalHandle(const Expr *E) {
  E = ast::strip(E);
  while (const Expr *From = ast::madeFrom(E)) {
    if (torch::kindOf(From->getType()) == TypeKind::Other &&
        !torch::moduleClass(From->getType()))
      break;
    E = From;
  }
  return E;
}

class SharedFillQuery {
public:
  SharedFillQuery(Program &User, const Execution &Entry, const FillEvent &Fill)
      : User(User), Entry(Entry), Fill(Fill),
        Element(originalHandle(Fill.Operand)) {}

  std::optional<SharedFill> run() {
    if (!Fill.In->Flow || isSingle() || isGivenAway())
      return std::nullopt;
    SharedFill Result;
    Result.Entry = &Entry;
    Result.Fill = &Fill;
    if (Fill.IsAppended) {
      Result.Around = addingLoop();
      if (!Result.Around)
        return std::nullopt;
    }
    if (isUsedByName())
      return std::nullopt;
    if (isModuleWithParameters())
      return isRebound(nullptr) ? std::nullopt
                                : std::optional<SharedFill>(Result);
    Result.Write = findWrite();
    return Result.Write ? std::optional<SharedFill>(Result) : std::nullopt;
  }

private:
  /// vector(1, t)
  bool isSingle() const {
    const Expr *Number = nullptr;
    if (const auto *Made = dyn_cast<CXXConstructExpr>(Fill.Site))
      Number = Made->getArg(0);
    else if (const auto *Call = dyn_cast<CallExpr>(Fill.Site))
      for (const Expr *Argument : ast::argumentsOf(Call))
        if (Argument->getType()->isIntegerType())
          Number = Argument;
    if (!Number || Number->isValueDependent())
      return false;
    Expr::EvalResult Known;
    return Number->EvaluateAsInt(Known, User.context()) &&
           Known.Val.getInt().getExtValue() < 2;
  }

  /// The loop that adds the same object in every iteration, or null.
  const Loop *addingLoop() const {
    const auto *Ref = dyn_cast<DeclRefExpr>(Element);
    const auto *V = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
    if (!V || V->getType()->isReferenceType())
      return nullptr;
    const Loop *Result = nullptr;
    for (const Loop *L : Entry.loopsAround(Fill.Point)) {
      const Stmt *Statement = Entry.loopStatement(*L);
      if (Statement && Fill.In->Flow->isInside(Fill.Site, Statement) &&
          !isBoundIn(V, Statement) &&
          llvm::all_of(Fill.Containers, [&](PlaceId P) {
            return Entry.outlives(P, *L).value_or(false);
          }))
        Result = L;
    }
    return Result;
  }

  static bool isBoundIn(const VarDecl *V, const Stmt *S) {
    auto Binds = [&](const Stmt *Part) {
      if (const auto *Declaration = dyn_cast<DeclStmt>(Part))
        return llvm::is_contained(Declaration->decls(), V);
      const auto *Call = dyn_cast<CallExpr>(Part);
      return Call && mayBind(V, Call);
    };
    return ast::anyStmt(S, Binds, ast::Lambdas::Enter);
  }

  /// x = y, std::tie(x, z) = y, and what gets it by reference.
  static bool mayBind(const VarDecl *V, const CallExpr *Call) {
    const FunctionDecl *Callee = Call->getDirectCallee();
    const auto *Operator = dyn_cast<CXXOperatorCallExpr>(Call);
    const bool IsAssignment = Operator && Operator->getOperator() == OO_Equal;
    const bool MayKeep = torch::asTie(Call) || !Callee ||
                         (!torch::isLibTorch(Callee) && !torch::isStd(Callee));
    for (unsigned I = 0; I < Call->getNumArgs(); ++I) {
      const auto *Ref = dyn_cast<DeclRefExpr>(ast::strip(Call->getArg(I)));
      if (Ref && Ref->getDecl() == V && (MayKeep || (IsAssignment && I == 0)))
        return true;
    }
    return false;
  }

  /// The shared object has a name, by which it is used as well.
  bool isUsedByName() const {
    const auto *Ref = dyn_cast<DeclRefExpr>(Element);
    if (!Ref)
      return !isMadeHere();
    if (!isOwn(Ref->getDecl(), Fill.In->Function))
      return true;
    const Readers Reading(*Fill.In->Flow, Ref->getDecl());
    const auto IsOfFill = [&](const Stmt *S) {
      return llvm::any_of(Entry.events<FillEvent>(),
                          [&](const FillEvent &Other) {
                            return Other.In == Fill.In &&
                                   Fill.In->Flow->isInside(S, Other.Site);
                          });
    };
    return flow::mayMeet(*Fill.In->Flow, Fill.Site, [&](const CFGElement &Met) {
      const flow::Met Read = Reading.look(Met);
      return Read == flow::Met::Found &&
                     IsOfFill(Met.castAs<CFGStmt>().getStmt())
                 ? flow::Met::Passed
                 : Read;
    });
  }

  /// The shared object is made in the statement itself, so only the container
  /// leads to it.
  bool isMadeHere() const {
    if (torch::moduleClass(Fill.Operand->getType()))
      return isa<CallExpr, CXXConstructExpr, InitListExpr>(Element);
    return llvm::all_of(Fill.Shared.Memory, [&](AllocationId Id) {
      const Expr *Site = Entry.allocation(Id).Site;
      return Site && contains(Fill.Site, Site);
    });
  }

  /// The initializers of a constructor have no parents in its control flow.
  static bool contains(const Stmt *S, const Stmt *Inner) {
    return ast::anyStmt(
        S, [&](const Stmt *Part) { return Part == Inner; },
        ast::Lambdas::Enter);
  }

  bool isModuleWithParameters() const {
    const QualType Type = Fill.Operand->getType();
    const CXXRecordDecl *Class = torch::moduleClass(Type);
    const TypeKind Kind = torch::kindOf(Type);
    if (!Class || (Kind != TypeKind::ModuleHolder && Kind != TypeKind::Pointer))
      return false;
    // An empty holder: Linear(nullptr).
    if (Fill.Shared.Refs.empty())
      return false;
    if (const auto *Made = dyn_cast<CXXConstructExpr>(Element))
      if (llvm::any_of(Made->arguments(), [](const Expr *Argument) {
            return isa<CXXNullPtrLiteralExpr>(ast::strip(Argument));
          }))
        return false;
    return torch::parametersOf(Class) != torch::Parameters::None;
  }

  /// A write through the container into the memory that all elements share.
  const WriteEvent *findWrite() const {
    const AllocationSet &Shared = Fill.Shared.Memory;
    if (Shared.empty())
      return nullptr;
    const bool HasName = !isMadeHere();
    for (const WriteEvent &Write : Entry.events<WriteEvent>()) {
      const AllocationSet &Written = Write.Before.Memory;
      if (Write.IsPointer || Written.empty() || isHarmless(Write) ||
          !llvm::all_of(Written,
                        [&](AllocationId Id) {
                          return llvm::is_contained(Shared, Id);
                        }) ||
          (HasName && !isOfContainer(Write.Places)) || isRebound(&Write))
        continue;
      if (flow::mayReach(
              Entry.points(), Fill.Point,
              [&](flow::Digraph::Node N) { return N == Write.Point; },
              [](flow::Digraph::Node) { return false; }))
        return &Write;
    }
    return nullptr;
  }

  bool isOfContainer(const PlaceSet &Set) const {
    return llvm::any_of(Set, [&](PlaceId P) {
      return llvm::any_of(Fill.Containers, [&](PlaceId Container) {
        return Entry.places().isWithin(P, Container);
      });
    });
  }

  /// All elements are to be zero.
  static bool isHarmless(const WriteEvent &Write) {
    const auto *Call = dyn_cast<CallExpr>(Write.Site);
    const torch::Operation *Op = Call ? torch::classify(Call).Op : nullptr;
    return Op && (torch::isZeroing(*Op) || torch::changesHistoryOnly(*Op));
  }

  /// Code that cannot be seen gets the container.
  bool isGivenAway() const {
    return llvm::any_of(Entry.events<EscapeEvent>(), [&](const auto &Escape) {
      const flow::ControlFlow *Flow = Escape.In->Flow;
      return !isa_and_nonnull<ReturnStmt>(Flow ? Flow->parent(Escape.Site)
                                               : nullptr) &&
             llvm::any_of(Escape.Places, [&](PlaceId P) {
               return llvm::any_of(Fill.Containers, [&](PlaceId Container) {
                 return Entry.places().overlap(P, Container);
               });
             });
    });
  }

  /// An element gets an object of its own: before the write, or anywhere.
  bool isRebound(const WriteEvent *Write) const {
    for (PlaceId P : Fill.Containers) {
      const ValueDecl *Container = declarationOf(P);
      if (!Container)
        continue;
      for (const FunctionDecl *F : User.code().functions().all())
        if (assignsElement(F->getBody(), F, Container, Write))
          return true;
    }
    return false;
  }

  /// The variable or member that the container at P is, or is in.
  const ValueDecl *declarationOf(PlaceId P) const {
    const PlaceTable &Places = Entry.places();
    while (!Places.isRoot(P) && Places.step(P).Of != Step::Field)
      P = Places.parent(P);
    if (!Places.isRoot(P))
      return Places.step(P).Member;
    const Root Kind = Places.rootKind(P);
    return Kind == Root::Local || Kind == Root::Global ? Places.variable(P)
                                                       : nullptr;
  }

  /// S assigns to an element of Container, and Write, where there is one, may
  /// come afterwards.
  bool assignsElement(const Stmt *S, const FunctionDecl *In,
                      const ValueDecl *Container,
                      const WriteEvent *Write) const {
    auto Assigns = [&](const Stmt *Part) {
      const auto *Call = dyn_cast<CallExpr>(Part);
      if (!Call)
        return false;
      const auto *Operator = dyn_cast<CXXOperatorCallExpr>(Call);
      const bool IsElement = Operator && Operator != Fill.Site &&
                             Operator->getOperator() == OO_Equal &&
                             isRebinding(Operator) &&
                             isElementOf(Operator->getArg(0), In, Container);
      return (IsElement || replacesElements(Call, Container)) &&
             (!Write || mayPrecede(Call, In, *Write));
    };
    return ast::anyStmt(S, Assigns, ast::Lambdas::Captures);
  }

  /// v = ..., v.clear(), std::generate(v.begin(), ...).
  bool replacesElements(const CallExpr *Call,
                        const ValueDecl *Container) const {
    if (Call == Fill.Site)
      return false;
    const auto IsContainer = [&](const Expr *E) {
      const std::optional<Named> To = namedVariable(E);
      return To && !To->IsElement &&
             (To->Member ? To->Member == Container : To->Variable == Container);
    };
    const FunctionDecl *Callee = Call->getDirectCallee();
    if (!Callee || !torch::isStd(Callee))
      return false;
    const Expr *Object = ast::objectOf(Call);
    if (Object && Callee->getOverloadedOperator() == OO_Equal)
      return IsContainer(Object) &&
             !(Fill.In->Flow && Fill.In->Flow->isInside(Fill.Site, Call));
    if (Object)
      return torch::replacesElements(Callee) && IsContainer(Object);
    if (!torch::writesElements(Callee))
      return false;
    return llvm::any_of(Call->arguments(), [&](const Expr *Argument) {
      const auto *Begin = dyn_cast<CallExpr>(ast::stripCopies(Argument));
      const Expr *Of = Begin ? ast::objectOf(Begin) : Argument;
      if (Begin && !Of && Begin->getNumArgs() == 1)
        Of = Begin->getArg(0);
      return Of && IsContainer(Of);
    });
  }

  bool isElementOf(const Expr *E, const FunctionDecl *In,
                   const ValueDecl *Container) const {
    std::optional<Named> To = namedVariable(E);
    if (!To)
      return false;
    const flow::ControlFlow *Flow = User.code().controlFlow(In);
    if (Flow && To->Variable && To->Variable->getType()->isReferenceType())
      // for (auto &layer : layers) layer = ...
      if (const CXXForRangeStmt *Loop = rangeLoopOf(*Flow, To->Variable)) {
        To = namedVariable(Loop->getRangeInit());
        return To && (To->Variable == Container || To->Member == Container);
      }
    return To->IsElement &&
           (To->Variable == Container || To->Member == Container);
  }

  bool mayPrecede(const Stmt *Assignment, const FunctionDecl *In,
                  const WriteEvent &Write) const {
    const Stmt *Site = Write.Site;
    for (const Frame *F = Write.In; F; Site = F->Site, F = F->Caller)
      if (F->Function == In)
        return !F->Flow ||
               flow::mayMeet(*F->Flow, Assignment, [&](const CFGElement &E) {
                 const std::optional<CFGStmt> S = E.getAs<CFGStmt>();
                 return S && S->getStmt() == Site ? flow::Met::Found
                                                  : flow::Met::Passed;
               });
    return true;
  }

  Program &User;
  const Execution &Entry;
  const FillEvent &Fill;
  /// What the elements are, as it is written.
  const Expr *Element;
};

} // namespace

std::vector<SharedFill> sharedFills(Program &User) {
  std::vector<SharedFill> Results;
  for (const auto &Entry : User.executions())
    for (const FillEvent &Fill : Entry->events<FillEvent>())
      if (std::optional<SharedFill> Found =
              SharedFillQuery(User, *Entry, Fill).run())
        Results.push_back(*Found);
  return Results;
}

} // namespace torchtidy::model

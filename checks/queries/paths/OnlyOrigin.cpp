#include "queries/paths/OnlyOrigin.h"
#include "ast/Expressions.h"
#include "ast/Walk.h"
#include "torch/Api.h"
#include "clang/AST/ExprCXX.h"

using namespace clang;

namespace torchtidy::model {

/// The variable or the member of this that E is; null for others.
static const ValueDecl *declarationAt(const Expr *E) {
  E = E ? ast::strip(E) : nullptr;
  if (const auto *Ref = dyn_cast_or_null<DeclRefExpr>(E))
    return Ref->getDecl();
  const auto *Member = dyn_cast_or_null<MemberExpr>(E);
  return Member && isa<CXXThisExpr>(ast::strip(Member->getBase()))
             ? Member->getMemberDecl()
             : nullptr;
}

/// It is the member of another object.
static bool isOfAnother(const Expr *E, const ValueDecl *D) {
  const auto *Member =
      dyn_cast_or_null<MemberExpr>(E ? ast::strip(E) : nullptr);
  return Member && Member->getMemberDecl() == D && declarationAt(E) != D;
}

namespace {

/// What gives a variable or a member a value.
struct Definitions {
  const Expr *Only = nullptr;
  /// The function that has it.
  const FunctionDecl *In = nullptr;
  unsigned Count = 0;

  void add(const Expr *E, const FunctionDecl *F) {
    // Tensor x; is no value yet.
    const auto *Made = dyn_cast<CXXConstructExpr>(ast::strip(E));
    if (Made && Made->getNumArgs() == 0)
      return;
    Only = E;
    In = F;
    ++Count;
  }

  /// Those in a body; what may set it by a reference counts, too.
  void addAll(const ValueDecl *D, const FunctionDecl *F) {
    ast::forEachStmt(
        F->getBody(), [&](const Stmt *S) { addOne(D, S, F); },
        ast::Lambdas::Enter);
  }

private:
  static bool isChangeable(QualType Type) {
    return Type->isReferenceType() &&
           !Type.getNonReferenceType().isConstQualified();
  }

  static bool isAt(const Expr *E, const ValueDecl *D) {
    return E && (declarationAt(E) == D || isOfAnother(E, D));
  }

  void addOne(const ValueDecl *D, const Stmt *S, const FunctionDecl *F) {
    if (const auto *Assign = dyn_cast<BinaryOperator>(S);
        Assign && Assign->isAssignmentOp() &&
        declarationAt(Assign->getLHS()) == D)
      return add(Assign->getRHS(), F);
    // A second name, by which it may be set.
    if (const auto *Declared = dyn_cast<DeclStmt>(S))
      for (const Decl *Each : Declared->decls())
        if (const auto *V = dyn_cast<VarDecl>(Each);
            V && isChangeable(V->getType()) && isAt(V->getInit(), D))
          Count += 2;
    const auto *Call = dyn_cast<CallExpr>(S);
    const FunctionDecl *Callee = Call ? Call->getDirectCallee() : nullptr;
    if (!Callee)
      return;
    const auto *Operator = dyn_cast<CXXOperatorCallExpr>(Call);
    if (Operator && Operator->getOperator() == OO_Equal &&
        Operator->getNumArgs() == 2) {
      if (declarationAt(Operator->getArg(0)) == D)
        add(Operator->getArg(1), F);
      else if (isOfAnother(Operator->getArg(0), D))
        Count += 2;
      return;
    }
    if (Operator)
      return;
    for (unsigned I = 0;
         I < std::min(Call->getNumArgs(), Callee->getNumParams()); ++I) {
      if (isChangeable(Callee->getParamDecl(I)->getType()) &&
          isAt(Call->getArg(I), D))
        Count += 2;
    }
  }
};

} // namespace

/// Whether it is what somebody looks for.
using IsSought = llvm::function_ref<bool(const Frame *, const Expr *)>;

static bool leadsTo(const Execution &Entry, const Frame *In, const Expr *E,
                    IsSought Is, unsigned Hops);

static bool isReturned(const Execution &Entry, const Frame *In,
                       const CallExpr *Call, IsSought Is, unsigned Hops) {
  const llvm::ArrayRef<const Frame *> Callees =
      Entry.graph().expansions(In, Call);
  if (Callees.size() != 1)
    return false;
  const Expr *Only = nullptr;
  unsigned Returns = 0;
  ast::forEachStmt(
      Callees.front()->Function->getBody(),
      [&](const Stmt *S) {
        if (const auto *Return = dyn_cast<ReturnStmt>(S)) {
          Only = Return->getRetValue();
          ++Returns;
        }
      },
      ast::Lambdas::Skip);
  return Returns == 1 && leadsTo(Entry, Callees.front(), Only, Is, Hops);
}

static bool isSetOnce(const Execution &Entry, const Frame *In,
                      const ValueDecl *D, IsSought Is, unsigned Hops) {
  Definitions All;
  if (const auto *Parameter = dyn_cast<ParmVarDecl>(D)) {
    const Supergraph::Passed Given = Supergraph::passed(In, Parameter);
    if (!Given.To || !Given.Argument)
      return false;
    All.addAll(D, Given.To->Function);
    return All.Count == 0 &&
           leadsTo(Entry, Given.To->Caller, Given.Argument, Is, Hops);
  }
  if (const auto *V = dyn_cast<VarDecl>(D)) {
    const Frame *Owner =
        V->isLocalVarDecl() ? Supergraph::owner(In, V) : nullptr;
    if (!Owner)
      return false;
    if (V->getInit())
      All.add(V->getInit(), Owner->Function);
    All.addAll(D, Owner->Function);
    return All.Count == 1 && leadsTo(Entry, Owner, All.Only, Is, Hops);
  }
  const auto *Field = dyn_cast<FieldDecl>(D);
  if (!Field || Field->hasInClassInitializer())
    return false;
  for (const FunctionDecl *F : Entry.code().functions().all()) {
    All.addAll(D, F);
    if (const auto *Constructor = dyn_cast<CXXConstructorDecl>(F))
      for (const CXXCtorInitializer *Init : Constructor->inits())
        if (Init->getMember() == Field)
          All.add(Init->getInit(), F);
  }
  if (All.Count != 1)
    return false;
  return llvm::any_of(Entry.graph().frames(), [&](const auto &F) {
    return F->Function == All.In && leadsTo(Entry, F.get(), All.Only, Is, Hops);
  });
}

/// x of x.add_(1), which returns x itself.
static const Expr *writtenItself(const CallExpr *Call) {
  const torch::Call Kind = torch::classify(Call);
  return Kind.Kind == torch::Api::Operation && Kind.Op &&
                 Kind.Op->Writes == torch::operation::Self &&
                 isa<CXXMemberCallExpr>(Call)
             ? ast::objectOf(Call)
             : nullptr;
}

static bool leadsTo(const Execution &Entry, const Frame *In, const Expr *E,
                    IsSought Is, unsigned Hops) {
  E = E ? ast::stripCopies(E) : nullptr;
  if (!E || Hops == 0)
    return false;
  if (Is(In, E))
    return true;
  if (const auto *Call = dyn_cast<CallExpr>(E)) {
    const Expr *Itself = writtenItself(Call);
    return Itself ? leadsTo(Entry, In, Itself, Is, Hops - 1)
                  : isReturned(Entry, In, Call, Is, Hops - 1);
  }
  const ValueDecl *D = declarationAt(E);
  return D && isSetOnce(Entry, In, D, Is, Hops - 1);
}

bool isOnlyMadeBy(const Execution &Entry, const Frame *In, const Expr *E,
                  const Expr *Made) {
  const auto Is = [&](const Frame *, const Expr *Each) { return Each == Made; };
  return leadsTo(Entry, In, E, Is, 16);
}

std::optional<CallAt> onlyOperation(const Execution &Entry, const Frame *In,
                                    const Expr *E) {
  CallAt Result;
  const auto Is = [&](const Frame *F, const Expr *Each) {
    const auto *Call = dyn_cast<CallExpr>(Each);
    const torch::Call Kind = Call ? torch::classify(Call) : torch::Call();
    if (Kind.Kind != torch::Api::Operation || !Kind.Op ||
        Kind.Op->View != torch::Tri::No ||
        Kind.Op->Writes != torch::operation::NoArgument)
      return false;
    Result.Call = Call;
    Result.In = F;
    return true;
  };
  if (!leadsTo(Entry, In, E, Is, 16))
    return std::nullopt;
  for (const CallAt &Each : callsOf(Entry))
    if (Each.Call == Result.Call && Each.In == Result.In)
      return Each;
  return std::nullopt;
}

} // namespace torchtidy::model

#include "training/HookInLoop.h"
#include "ast/Expressions.h"
#include "flow/PathQuery.h"
#include "queries/loops/LoopInvariance.h"
#include "queries/loops/Loops.h"
#include "queries/loops/TripCount.h"
#include "torch/Members.h"
#include "torch/Options.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/StmtCXX.h"
#include "llvm/ADT/DenseSet.h"

using namespace clang;

namespace torchtidy::model {

using flow::Loop;
using Node = flow::Digraph::Node;

/// Of a tensor that stays the same, this does too: p.requires_grad(),
/// p.defined().
static bool asksOfTensor(const Expr *Condition) {
  const auto *Call =
      Condition ? dyn_cast<CallExpr>(ast::strip(Condition)) : nullptr;
  const FunctionDecl *Callee = Call ? Call->getDirectCallee() : nullptr;
  return Callee &&
         (torch::saysRequiresGrad(Callee) || torch::asksWhetherThere(Callee));
}

/// What a lambda that is registered returns is the gradient from there on.
static bool changesGradient(const CallExpr *Call) {
  const Expr *Given =
      Call->getNumArgs() > 0 ? ast::stripCopies(Call->getArg(0)) : nullptr;
  const CXXRecordDecl *Class =
      Given ? Given->getType().getNonReferenceType()->getAsCXXRecordDecl()
            : nullptr;
  const CXXMethodDecl *Body =
      Class && Class->isLambda() ? Class->getLambdaCallOperator() : nullptr;
  return Body && !Body->getReturnType()->isVoidType();
}

namespace {

class HookQuery {
public:
  HookQuery(const Execution &Entry, Invariance &Same, const HookEvent &Hook)
      : Entry(Entry), Same(Same), Hook(Hook), Call(cast<CallExpr>(Hook.Site)),
        Around(Entry.loopsAround(Hook.Point)) {}

  std::optional<HookInLoop> run() {
    const Expr *Tensor = ast::objectOf(Call);
    if (!Tensor || Hook.IsRemoved || Hook.On.empty() || isHandleKept())
      return std::nullopt;
    for (const Loop *L : llvm::reverse(Around))
      if (goesBack(*L) && outlives(*L) &&
          Same.isSameObject(Tensor, Hook.In, *L))
        return in(*L);
    return std::nullopt;
  }

private:
  std::optional<HookInLoop> in(const Loop &L) const {
    if (mostTrips(Entry, L).value_or(2) < 2 || removesHooks(L) ||
        !isUnconditional(Entry, Call, Hook.In, L, asksOfTensor) ||
        isPassedBy(L))
      return std::nullopt;
    HookInLoop Result;
    Result.Entry = &Entry;
    Result.Hook = &Hook;
    Result.Around = &L;
    Result.ChangesGradient = changesGradient(Call);
    return Result;
  }

  /// Who has it may take the hook away, here or in another file.
  bool isHandleKept() const {
    const flow::ControlFlow *Flow = Hook.In->Flow;
    const Stmt *Parent = Flow ? Flow->parent(Call) : nullptr;
    while (isa_and_nonnull<FullExpr, ParenExpr, ImplicitCastExpr>(Parent))
      Parent = Flow->parent(Parent);
    if (const auto *Cast = dyn_cast_or_null<ExplicitCastExpr>(Parent))
      return !Cast->getType()->isVoidType();
    if (const auto *Declaration = dyn_cast_or_null<DeclStmt>(Parent)) {
      const auto *V = Declaration->isSingleDecl()
                          ? dyn_cast<VarDecl>(Declaration->getSingleDecl())
                          : nullptr;
      return !V || V->isReferenced();
    }
    return isa_and_nonnull<Expr, ReturnStmt>(Parent);
  }

  bool goesBack(const Loop &L) const {
    return llvm::any_of(
        Entry.events<GraphUseEvent>(), [&](const GraphUseEvent &Use) {
          return isa<BackwardEvent, GradEvent>(Use) && L.contains(Use.Point);
        });
  }

  /// By the number of the hook, or all of them.
  bool removesHooks(const Loop &L) const {
    return llvm::any_of(Entry.events<HookEvent>(), [&](const auto &Other) {
      return Other.IsRemoved && L.contains(Other.Point);
    });
  }

  bool outlives(const Loop &L) const {
    return llvm::all_of(Hook.On, [&](PlaceId P) {
      return Entry.outlives(P, L).value_or(false);
    });
  }

  /// An iteration goes back through a graph without a registration. A loop over
  /// the parameters runs at least once.
  bool isPassedBy(const Loop &L) const {
    llvm::DenseSet<Node> Gates;
    for (const HookEvent &Other : Entry.events<HookEvent>())
      if (Other.Site == Hook.Site)
        Gates.insert(Other.Point);
    for (const Loop *Inner : Around)
      if (Inner != &L && L.contains(Inner->Header))
        Gates.insert(Inner->Header);
    return flow::mayReachVia(
               Entry.points(), L.Header,
               [&](Node N) {
                 const Event *E = Entry.eventAt(N);
                 return isa_and_nonnull<BackwardEvent, GradEvent>(E);
               },
               [&](Node N) { return N == L.Header; },
               [&](Node N) { return !L.contains(N) || Gates.count(N) != 0; })
        .has_value();
  }

  const Execution &Entry;
  Invariance &Same;
  const HookEvent &Hook;
  const CallExpr *Call;
  const llvm::SmallVector<const Loop *, 4> Around;
};

} // namespace

std::vector<HookInLoop> hooksInLoop(Program &Program) {
  std::vector<HookInLoop> Result;
  for (const Execution *Entry : Program.executionsThatCost()) {
    Invariance Same(*Entry);
    for (const HookEvent &Hook : Entry->events<HookEvent>())
      if (auto Found = HookQuery(*Entry, Same, Hook).run())
        Result.push_back(*Found);
  }
  return Result;
}

} // namespace torchtidy::model

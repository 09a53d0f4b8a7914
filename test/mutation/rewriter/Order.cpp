#include "Order.h"
#include "Calls.h"
#include "Operators.h"

#include <set>

using namespace clang;

namespace torchtidy::mutation {

const CXXMemberCallExpr *backwardOf(const Stmt *S) {
  const auto *Call = dyn_cast<CXXMemberCallExpr>(S);
  return Call && methodName(Call) == "backward" &&
                 isTensor(Call->getObjectType())
             ? Call
             : nullptr;
}

const CXXMemberCallExpr *stepOf(const Stmt *S) {
  const auto *Call = dyn_cast<CXXMemberCallExpr>(S);
  return Call && methodName(Call) == "step" &&
                 isOptimizer(Call->getObjectType())
             ? Call
             : nullptr;
}

bool reaches(const Program &Whole, const Stmt *S,
             const std::function<bool(const Stmt *)> &Wanted) {
  bool Found = false;
  auto Look = [&](const Stmt *Each) { Found |= Wanted(Each); };
  forEach(S, Look);
  for (const Function *Called : Whole.callees(S))
    forEach(Called->body(), Look);
  return Found;
}

bool isInTraining(const Program &Whole, const Function &In, const Stmt *S) {
  auto Trains = [&](const Function &Of, const Stmt *At) {
    return llvm::any_of(Of.loops(At), [&](const Stmt *Loop) {
      return reaches(Whole, Loop, backwardOf);
    });
  };
  if (Trains(In, S))
    return true;
  for (const Function &Caller : Whole.functions()) {
    bool Found = false;
    forEach(Caller.body(), [&](const Stmt *Each) {
      const auto *Call = dyn_cast<CallExpr>(Each);
      Found |= Call && Whole.find(Call->getDirectCallee()) == &In &&
               Trains(Caller, Call);
    });
    if (Found)
      return true;
  }
  return false;
}

const Stmt *fullStatement(const Function &In, const Stmt *S) {
  while (
      isa_and_nonnull<ExprWithCleanups, ImplicitCastExpr, CXXBindTemporaryExpr>(
          In.parent(S)))
    S = In.parent(S);
  return S;
}

namespace {

/// The optimizers that take steps.
std::set<const ValueDecl *> steppingOptimizers(const Program &Whole) {
  std::set<const ValueDecl *> Result;
  for (const Function &In : Whole.functions())
    forEach(In.body(), [&](const Stmt *S) {
      if (const CXXMemberCallExpr *Step = stepOf(S))
        if (const ValueDecl *Of = placeOf(Step->getImplicitObjectArgument()))
          Result.insert(Of);
    });
  return Result;
}

bool clearsGradients(const Stmt *S) {
  const auto *Call = dyn_cast<CXXMemberCallExpr>(S);
  return methodName(Call) == "zero_grad";
}

/// The statement of a block that clears gradients right before the backward(),
/// with no forward pass between: elsewhere an earlier step() has no gradients.
const Stmt *clearedBefore(const Program &Whole, const CompoundStmt *Block,
                          const Stmt *Backward) {
  const Stmt *Cleared = nullptr;
  for (const Stmt *Each : Block->body()) {
    if (Each == Backward)
      return Cleared;
    if (reaches(Whole, Each, clearsGradients))
      Cleared = Each;
    else if (reaches(Whole, Each, isForward))
      Cleared = nullptr;
  }
  return nullptr;
}

} // namespace

void moveSteps(const Program &Whole, std::vector<Mutation> &Out) {
  for (const Function &In : Whole.functions())
    forEach(In.body(), [&](const Stmt *S) {
      const CXXMemberCallExpr *Step = stepOf(S);
      if (!Step)
        return;
      const Stmt *Full = fullStatement(In, Step);
      const auto *Block = dyn_cast_or_null<CompoundStmt>(In.parent(Full));
      if (!Block || !isInTraining(Whole, In, Step))
        return;
      const Stmt *Backward = nullptr;
      for (const Stmt *Each : Block->body()) {
        if (Each == Full)
          break;
        if (isa<Expr>(Each) && reaches(Whole, Each, backwardOf))
          Backward = Each;
      }
      const Stmt *Cleared =
          Backward ? clearedBefore(Whole, Block, Backward) : nullptr;
      auto Removed = Cleared ? Whole.removal(In, Full) : std::nullopt;
      auto Before =
          Cleared ? Whole.piece(Cleared->getSourceRange()) : std::nullopt;
      auto Point = Whole.piece(Step->getSourceRange());
      auto Where =
          Cleared ? Whole.piece(Backward->getSourceRange()) : std::nullopt;
      if (!Removed || !Before || !Point || !Where)
        return;
      Edit Moved{{Before->File, Before->Offset, 0},
                 Whole.text(*Point) + ";\n" + Whole.indentation(*Before)};
      std::vector<Piece> Expected = Whole.reach(In, Backward);
      Expected.push_back(*Where);
      Out.push_back({"step-order",
                     {"torch-stale-graph"},
                     *Point,
                     "the weights change between forward and backward",
                     {*Removed, Moved},
                     Expected});
    });
}

void removeGeneratorDetach(const Program &Whole, std::vector<Mutation> &Out) {
  if (steppingOptimizers(Whole).size() < 2)
    return;
  for (const Function &In : Whole.functions())
    forEach(In.body(), [&](const Stmt *S) {
      const auto *Call = dyn_cast<CXXMemberCallExpr>(S);
      if (methodName(Call) != "detach" || !isTensor(Call->getObjectType()))
        return;
      const Stmt *Given = Call;
      while (isa_and_nonnull<ImplicitCastExpr, MaterializeTemporaryExpr,
                             CXXBindTemporaryExpr, CXXConstructExpr>(
          In.parent(Given)))
        Given = In.parent(Given);
      const Stmt *Run = In.parent(Given);
      auto Removed = withoutCall(Whole, Call);
      auto Point = Whole.piece(Call->getSourceRange());
      if (!isa_and_nonnull<CallExpr>(Run) || !isForward(Run) || !Removed ||
          !Point)
        return;
      Out.push_back({"generator-detach",
                     {"torch-undetached-generator-output"},
                     *Point,
                     "a network is trained through another one",
                     {*Removed},
                     Whole.reach(In, In.body())});
    });
}

} // namespace torchtidy::mutation

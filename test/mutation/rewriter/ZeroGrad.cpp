#include "Operators.h"

using namespace clang;

namespace torchtidy::mutation {

namespace {

struct StepCall {
  const CXXMemberCallExpr *Call;
  const Function *In;
};

std::vector<StepCall> stepsOf(const Program &Whole) {
  std::vector<StepCall> Result;
  for (const Function &In : Whole.functions())
    forEach(In.body(), [&](const Stmt *S) {
      const auto *Call = dyn_cast<CXXMemberCallExpr>(S);
      if (methodName(Call) == "step" && isOptimizer(Call->getObjectType()))
        Result.push_back({Call, &In});
    });
  return Result;
}

/// `p.grad().zero_()`, `p.mutable_grad().reset()`.
bool clearsByHand(const CXXMemberCallExpr *Call) {
  llvm::StringRef Name = methodName(Call);
  if (Name != "zero_" && Name != "reset")
    return false;
  const auto *Of = dyn_cast_or_null<CXXMemberCallExpr>(
      plain(Call->getImplicitObjectArgument()));
  return methodName(Of) == "grad" || methodName(Of) == "mutable_grad";
}

bool clears(const CXXMemberCallExpr *Call) {
  return (methodName(Call) == "zero_grad" &&
          (isOptimizer(Call->getObjectType()) ||
           isModule(Call->getObjectType()))) ||
         clearsByHand(Call);
}

} // namespace

void removeZeroGrad(const Program &Whole, std::vector<Mutation> &Out) {
  std::vector<StepCall> Steps = stepsOf(Whole);
  if (Steps.empty())
    return;
  for (const Function &In : Whole.functions())
    forEach(In.body(), [&](const Stmt *S) {
      const auto *Call = dyn_cast<CXXMemberCallExpr>(S);
      if (!Call || !clears(Call))
        return;
      const Stmt *Full = Call;
      while (
          isa_and_nonnull<ExprWithCleanups, ImplicitCastExpr>(In.parent(Full)))
        Full = In.parent(Full);
      auto Removed = Whole.removal(In, Full);
      auto Point = Whole.piece(Call->getSourceRange());
      if (!Removed || !Point)
        return;
      Mutation Found{"zero-grad", {"torch-missing-zero-grad"},
                     *Point,      "gradients are not cleared",
                     {*Removed},  {}};
      // The steps of the same optimizer, else those beside it, else all.
      // Gradients that are cleared by hand can belong to an update by hand:
      // only a step() in the same loop shows that they do not.
      const ValueDecl *Place = placeOf(Call->getImplicitObjectArgument());
      std::vector<const Stmt *> Loops = In.loops(Call);
      bool ByHand = clearsByHand(Call);
      for (int Round = ByHand ? 1 : 0; Round < 3 && Found.Expected.empty();
           ++Round)
        for (const StepCall &Step : Steps)
          if ((Round == 2 && !ByHand) ||
              (Round == 1 && Step.In == &In &&
               (!ByHand ||
                (!Loops.empty() && In.contains(Loops.back(), Step.Call)))) ||
              (Round == 0 && Place &&
               placeOf(Step.Call->getImplicitObjectArgument()) == Place))
            if (auto Where = Whole.piece(Step.Call->getSourceRange()))
              Found.Expected.push_back(*Where);
      if (!Found.Expected.empty())
        Out.push_back(std::move(Found));
    });
}

} // namespace torchtidy::mutation

#include "model/semantics/Losses.h"
#include "model/machine/Machine.h"
#include "torch/Modules.h"
#include "torch/Scores.h"
#include "torch/Types.h"

using namespace clang;

namespace torchtidy::model::losses {

static void emit(Machine &M, const CallExpr *Call,
                 std::optional<torch::ScaledLoss> Loss, const Expr *Operand) {
  if (!M.isRecording() || !Operand)
    return;
  const Value Given = M.deepValue(Operand);
  if (Given.OnScale.get())
    M.emit<ScaleUseEvent>(Call, [&](ScaleUseEvent &E) {
      E.Loss = Loss;
      E.Operand = Operand;
      E.OfOperand = Given;
    });
}

void tell(Machine &M, const CallExpr *Call, const torch::Operation &Op,
          llvm::ArrayRef<const Expr *> Operands) {
  const std::optional<torch::ScaledLoss> Loss = torch::scaledLoss(Op);
  if ((Loss || torch::isLogarithm(Op)) && !Operands.empty())
    emit(M, Call, Loss, Operands.front());
}

void tellOfLayer(Machine &M, const CallSite &Site) {
  const auto Loss = torch::scaledLoss(
      Site.Object ? torch::moduleClass(Site.Object->getType()) : nullptr);
  if (Loss)
    emit(M, Site.Call, Loss, Site.first());
}

} // namespace torchtidy::model::losses

#include "results/LossInput.h"
#include "ast/Expressions.h"

using namespace clang;

namespace torchtidy::model {

std::vector<LossInput> lossInputs(Program &Program) {
  std::vector<LossInput> Result;
  for (const auto &Entry : Program.executions())
    for (const ScaleUseEvent &Use : Entry->events<ScaleUseEvent>()) {
      const std::optional<torch::Scale> Given = Use.OfOperand.OnScale.get();
      if (!Use.Loss || !Given || torch::takes(*Use.Loss, *Given))
        continue;
      LossInput Found;
      Found.Entry = Entry.get();
      Found.Use = &Use;
      Found.Loss = *Use.Loss;
      Found.Given = *Given;
      Found.ScaledBy = Use.OfOperand.ScaledBy.get().value_or(nullptr);
      Found.IsWrittenThere =
          Found.ScaledBy && ast::stripCopies(Use.Operand) == Found.ScaledBy;
      Result.push_back(Found);
    }
  return Result;
}

} // namespace torchtidy::model

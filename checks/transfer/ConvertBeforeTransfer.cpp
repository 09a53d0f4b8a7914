#include "transfer/ConvertBeforeTransfer.h"
#include "queries/devices/DeviceUse.h"
#include "queries/devices/Transfers.h"
#include "queries/memory/Sizes.h"
#include "queries/paths/Uses.h"
#include "torch/Scalars.h"

using namespace clang;

namespace torchtidy::model {

static unsigned sizeOf(const Value &V) {
  return torch::scalarSize(V.Scalar.get().value_or(""));
}

static std::optional<WideTransfer> wideTransferAt(const Execution &Entry,
                                                  const TransferEvent &Move) {
  const auto *Moves = dyn_cast<CXXMemberCallExpr>(Move.Site);
  const flow::ControlFlow *Flow = Move.In->Flow;
  if (!Moves || !Flow || !mayLeaveCpu(Move) || Move.ConvertsType ||
      Move.Input.OnDevice.get() != Device::CPU)
    return std::nullopt;
  WideTransfer Result;
  Result.Entry = &Entry;
  Result.Move = &Move;
  Result.Moves = Moves;
  const std::optional<Chained> Before = chainedTo(*Flow, Moves);
  if (!Before)
    return std::nullopt;
  Result.Variable = Before->Variable;
  Result.Converts = dyn_cast<CXXMemberCallExpr>(Before->Source);
  for (const TransferEvent &Each : Entry.events<TransferEvent>())
    if (Result.Converts && Each.Site == Result.Converts && Each.In == Move.In)
      Result.Convert = &Each;
  if (!Result.Convert || !Result.Convert->ConvertsType ||
      Result.Convert->MovesDevice ||
      Result.Convert->Input.OnDevice.get() != Device::CPU)
    return std::nullopt;
  Result.Narrow = sizeOf(Result.Convert->Input);
  Result.Wide = sizeOf(Result.Convert->Result);
  if (Result.Narrow == 0 || Result.Wide <= Result.Narrow ||
      isKnownSmall(Entry, Result.Convert->Input))
    return std::nullopt;
  return Result;
}

std::vector<WideTransfer> wideTransfers(Program &Program) {
  std::vector<WideTransfer> Result;
  if (!mayUseDevice(Program))
    return Result;
  for (const Execution *Entry : Program.executionsThatCost())
    for (const TransferEvent &Move : Entry->events<TransferEvent>())
      if (auto Found = wideTransferAt(*Entry, Move))
        Result.push_back(*Found);
  return Result;
}

} // namespace torchtidy::model

#include "transfer/ConvertBeforeTransfer.h"
#include "ast/Expressions.h"
#include "queries/devices/DeviceUse.h"
#include "queries/devices/Transfers.h"
#include "queries/memory/Sizes.h"
#include "queries/paths/Uses.h"
#include "torch/Api.h"
#include "torch/Scalars.h"
#include "torch/Shapes.h"
#include "torch/Types.h"

using namespace clang;

namespace torchtidy::model {

static unsigned sizeOf(const Value &V) {
  return torch::scalarSize(V.Scalar.get().value_or(""));
}

/// The same elements in another shape: x.flatten(1), x.view({-1}).
static bool onlyReshapes(const torch::Operation &Op) {
  return torch::keepsOrder(Op) && torch::changesShape(Op);
}

/// x of x.div(255), sin(x), x.clamp_(0, 1), x.flatten(1): of one tensor, and of
/// numbers, so that it is as well done where the tensor goes. Null for anything
/// else.
static const Expr *computedFrom(const Expr *E) {
  const auto *Call = dyn_cast<CallExpr>(E);
  const torch::Operation *Op = Call ? torch::classify(Call).Op : nullptr;
  if (!Op || torch::isTransfer(*Op) ||
      !(torch::isPointwise(*Op) || torch::broadcasts(*Op) || onlyReshapes(*Op)))
    return nullptr;
  const Expr *Tensor = ast::objectOf(Call);
  for (const Expr *Argument : ast::argumentsOf(Call)) {
    if (!torch::mayHoldTensor(Argument->getType()))
      continue;
    if (Tensor)
      return nullptr;
    Tensor = Argument;
  }
  return Tensor ? ast::stripCopies(Tensor) : nullptr;
}

/// What is computed on the way, in the same expression, or in that of a
/// variable which nothing else uses.
static const CXXMemberCallExpr *conversionBehind(const flow::ControlFlow &Flow,
                                                 const Expr *E) {
  for (unsigned Hop = 0; E && Hop < 8; ++Hop) {
    const auto *Call = dyn_cast<CXXMemberCallExpr>(E);
    const torch::Operation *Op = Call ? torch::classify(Call).Op : nullptr;
    if (Op && torch::isTransfer(*Op))
      return Call;
    E = computedFrom(E);
    const auto *Ref = dyn_cast_or_null<DeclRefExpr>(E);
    const auto *V = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
    if (V && Call && isNextUse(Flow, V, Call))
      E = ast::stripCopies(V->getInit());
  }
  return nullptr;
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
  Result.Converts = conversionBehind(*Flow, Before->Source);
  Result.IsComputed = Result.Converts != Before->Source;
  for (const TransferEvent &Each : Entry.events<TransferEvent>())
    if (Result.Converts && Each.Site == Result.Converts && Each.In == Move.In)
      Result.Convert = &Each;
  if (!Result.Convert || !Result.Convert->ConvertsType ||
      Result.Convert->MovesDevice ||
      Result.Convert->Input.OnDevice.get() != Device::CPU)
    return std::nullopt;
  Result.Narrow = sizeOf(Result.Convert->Input);
  Result.Wide = sizeOf(Result.IsComputed ? Move.Input : Result.Convert->Result);
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

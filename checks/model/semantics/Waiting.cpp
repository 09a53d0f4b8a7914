#include "model/semantics/Waiting.h"
#include "torch/Waiting.h"

using namespace clang;
using torchtidy::torch::Api;
using torchtidy::torch::Tri;
using torchtidy::torch::Wait;
namespace op = torchtidy::torch::operation;

namespace torchtidy::model {

/// A tensor is computed: no view, no copy, nothing that is only asked.
static bool computes(const CallSite &Site) {
  const torch::Operation *Op = Site.Kind.Op;
  if (Site.Kind.Kind == Api::Library)
    Op = torch::functionalOperation(Site.callee());
  return Op && Op->View == Tri::No && !Op->has(op::Factory) &&
         !Op->has(op::LikeFactory) && !Op->has(op::DiscardsHistory) &&
         !torch::isTransfer(*Op) && !torch::copiesInto(*Op) &&
         !torch::changesNoData(*Op) && !torch::changesHistoryOnly(*Op) &&
         Op->Returns != op::Scalar && Op->Returns != op::Nothing;
}

/// What the tensors are that decide for how long it waits: those that it is
/// given, of a copy the one that is copied.
static Value waitedFor(Machine &M, const CallSite &Site, Wait How) {
  Value Result;
  auto Add = [&](const Expr *E) {
    if (!isa<CXXDefaultArgExpr>(E) && torch::mayHoldTensor(E->getType()))
      Result.join(M.deepValue(E));
  };
  const bool IsInto =
      How == Wait::Copy && Site.Kind.Op && torch::copiesInto(*Site.Kind.Op);
  if (Site.Object && !IsInto)
    Add(Site.Object);
  if (How != Wait::Copy || IsInto || !Site.Object)
    llvm::for_each(Site.Arguments, Add);
  return Result;
}

void emitDeviceWork(Machine &M, const CallSite &Site,
                    const Denotation &Returned) {
  const Wait How = torch::waitOf(Site.Call);
  const bool Computes = computes(Site);
  if (How == Wait::None && !Computes)
    return;
  const Value Result =
      Returned.Objects.empty() ? Returned.Own : M.load(Returned.Objects);
  if (Computes && Result.mayBeElsewhere())
    M.emit<ComputeEvent>(Site.Call,
                         [&](ComputeEvent &E) { E.Result = Result; });
  if (How == Wait::None)
    return;
  const Value Of = waitedFor(M, Site, How);
  if (How == Wait::Device || How == Wait::Other || !Of.isOnCpu())
    M.emit<WaitEvent>(Site.Call, [&](WaitEvent &E) {
      E.Of = Of;
      E.Result = Result;
    });
}

} // namespace torchtidy::model

#include "model/NonLeafParameters.h"
#include "flow/Names.h"
#include "torch/Types.h"

using namespace clang;

namespace torchtidy::model {

static const Origin *builder(const Execution &Way, const Value &V) {
  for (OriginId Id : V.Origins)
    if (Way.origin(Id).isBuilder())
      return &Way.origin(Id);
  return nullptr;
}

static bool reaches(const Execution &Way, const Event &From, const Event &To,
                    llvm::function_ref<bool(const Event &)> Avoid) {
  return flow::mayReach(
             Way.points(), From.Point,
             [&](flow::Digraph::Node N) { return N == To.Point; },
             [&](flow::Digraph::Node N) {
               const Event *E = Way.eventAt(N);
               return E && Avoid(*E);
             })
      .has_value();
}

/// What a step of the optimizer trains after the variable was bound anew is
/// what it held before.
static const Event *staleTraining(const Execution &Way, const Event &Store) {
  const PlaceId P = Store.Places.front();
  auto Trains = [&](const Event &E) {
    return E.Kind == EventKind::Train && llvm::is_contained(E.Result.Refs, P);
  };
  for (const Event &Given : Way.events()) {
    if (!Trains(Given) || !Way.comesBefore(Given.Point, Store.Point))
      continue;
    for (const Event &Step : Way.events())
      if (Step.Kind == EventKind::Step && Step.Places == Given.Places &&
          reaches(Way, Store, Step, Trains))
        return &Given;
  }
  return nullptr;
}

std::vector<NonLeafParameter> nonLeafParameters(const Execution &Way) {
  std::vector<NonLeafParameter> Result;
  for (const Event &E : Way.events()) {
    if (E.Result.History != history::Graph || !E.Operand)
      continue;
    const Origin *Made = builder(Way, E.Result);
    if (E.Kind == EventKind::Train)
      Result.push_back({flow::calleeName(E.Site) == "add_parameters"
                            ? NonLeafParameter::Ignored
                            : NonLeafParameter::Throws,
                        &E, E.Operand, Made});
    else if (E.Kind == EventKind::Register &&
             flow::calleeName(E.Site) == "register_parameter")
      Result.push_back({NonLeafParameter::Registered, &E, E.Operand, Made});
    else if (E.Kind == EventKind::Store && E.Places.size() == 1 &&
             (E.How == StoreKind::Rebind || E.How == StoreKind::Accumulate)) {
      // w += x is an in-place operation.
      const auto *Assign = dyn_cast<CXXOperatorCallExpr>(E.Site);
      if (!Assign || Assign->getOperator() != OO_Equal)
        continue;
      if (const Event *Given = staleTraining(Way, E))
        Result.push_back(
            {NonLeafParameter::Rebound, &E, Assign->getArg(0), Made, Given});
    }
  }
  return Result;
}

} // namespace torchtidy::model

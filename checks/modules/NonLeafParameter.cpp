#include "modules/NonLeafParameter.h"
#include "ast/Names.h"
#include "torch/Api.h"
#include "torch/Members.h"
#include "torch/Types.h"

using namespace clang;

namespace torchtidy::model {

static const Origin *builder(const Execution &Entry, const Value &V) {
  for (OriginId Id : V.Origins)
    if (Entry.origin(Id).isBuilder())
      return &Entry.origin(Id);
  return nullptr;
}

static bool reaches(const Execution &Entry, const Event &From, const Event &To,
                    llvm::function_ref<bool(const Event &)> Avoid) {
  return flow::mayReach(
             Entry.points(), From.Point,
             [&](flow::Digraph::Node N) { return N == To.Point; },
             [&](flow::Digraph::Node N) {
               const Event *E = Entry.eventAt(N);
               return E && Avoid(*E);
             })
      .has_value();
}

/// What a step of the optimizer trains after the variable was bound anew is
/// what it held before.
static const AddParametersEvent *staleTraining(const Execution &Entry,
                                               const StoreEvent &Store) {
  const PlaceId P = Store.Places.front();
  auto Trains = [&](const Event &E) {
    const auto *Added = E.getAs<AddParametersEvent>();
    return Added && llvm::is_contained(Added->Given.Refs, P);
  };
  for (const AddParametersEvent &Added : Entry.events<AddParametersEvent>()) {
    if (!Trains(Added) || !Entry.comesBefore(Added.Point, Store.Point))
      continue;
    for (const StepEvent &Step : Entry.events<StepEvent>())
      if (Step.Optimizers == Added.Optimizers &&
          reaches(Entry, Store, Step, Trains))
        return &Added;
  }
  return nullptr;
}

/// A result of an operation; a fact of it, or nothing.
static std::optional<NonLeafParameter>
describe(const Execution &Entry, NonLeafParameter::Kind How, const Event &Given,
         const Expr *Tensor, const Value &V) {
  if (V.History != history::Graph || !Tensor)
    return std::nullopt;
  NonLeafParameter Result;
  Result.How = How;
  Result.Entry = &Entry;
  Result.Given = &Given;
  Result.Tensor = Tensor;
  Result.Made = builder(Entry, V);
  return Result;
}

static std::optional<NonLeafParameter> rebound(const Execution &Entry,
                                               const StoreEvent &Store) {
  if (!Store.Operand || Store.Places.size() != 1 ||
      (Store.How != StoreKind::Rebind && Store.How != StoreKind::Accumulate))
    return std::nullopt;
  // w += x is an in-place operation.
  const auto *Assign = dyn_cast<CXXOperatorCallExpr>(Store.Site);
  if (!Assign || Assign->getOperator() != OO_Equal)
    return std::nullopt;
  std::optional<NonLeafParameter> Result = describe(
      Entry, NonLeafParameter::Rebound, Store, Assign->getArg(0), Store.Stored);
  if (!Result)
    return std::nullopt;
  Result->GivenBefore = staleTraining(Entry, Store);
  return Result->GivenBefore ? Result : std::nullopt;
}

static const FunctionDecl *calleeOf(const Stmt *Site) {
  const auto *Call = dyn_cast_or_null<CallExpr>(Site);
  return Call ? Call->getDirectCallee() : nullptr;
}

std::vector<NonLeafParameter> nonLeafParameters(Program &Program) {
  std::vector<NonLeafParameter> Result;
  auto Add = [&](const std::optional<NonLeafParameter> &Found) {
    if (Found)
      Result.push_back(*Found);
  };
  for (const auto &Entry : Program.executions()) {
    for (const AddParametersEvent &Added : Entry->events<AddParametersEvent>())
      Add(describe(*Entry,
                   torch::addsUnchecked(calleeOf(Added.Site))
                       ? NonLeafParameter::Ignored
                       : NonLeafParameter::Throws,
                   Added, Added.Operand, Added.Given));
    for (const RegisterEvent &Register : Entry->events<RegisterEvent>())
      if (const auto *Call = dyn_cast_or_null<CallExpr>(Register.Site);
          Call && torch::classify(Call).Kind == torch::Api::RegisterParameter)
        Add(describe(*Entry, NonLeafParameter::Registered, Register,
                     Register.Operand, Register.Before));
    for (const StoreEvent &Store : Entry->events<StoreEvent>())
      Add(rebound(*Entry, Store));
  }
  return Result;
}

} // namespace torchtidy::model

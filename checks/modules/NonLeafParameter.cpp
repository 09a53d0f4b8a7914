#include "modules/NonLeafParameter.h"
#include "ast/Expressions.h"
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

/// A list that an optimizer is given.
struct GivenList {
  /// What it is, was copied from or was passed as.
  llvm::SmallVector<const ValueDecl *, 2> Names;
  /// std::move on the way there: what it takes is given.
  llvm::SmallVector<const Expr *, 2> Moves;
};

static GivenList listBehind(const Frame *F, const Expr *E) {
  GivenList Result;
  for (unsigned Hop = 0; E && Hop < 8; ++Hop) {
    E = ast::stripCopies(E);
    if (const auto *Call = dyn_cast<CallExpr>(E)) {
      Result.Moves.push_back(Call);
      E = calleeOf(Call) && torch::isStd(calleeOf(Call)) &&
                  Call->getNumArgs() == 1
              ? Call->getArg(0)
              : nullptr;
      continue;
    }
    if (const auto *Member = dyn_cast<MemberExpr>(E))
      Result.Names.push_back(Member->getMemberDecl());
    const auto *Ref = dyn_cast<DeclRefExpr>(E);
    const auto *V = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
    if (!V)
      break;
    Result.Names.push_back(V);
    E = V->getInit();
    if (const auto *Parameter = dyn_cast<ParmVarDecl>(V)) {
      const Supergraph::Passed Given = Supergraph::passed(F, Parameter);
      E = Given.Argument;
      F = Given.To ? Given.To->Caller : F;
    }
  }
  return Result;
}

static bool isOneOf(const PlaceTable &Places, PlaceId P,
                    const GivenList &List) {
  const ValueDecl *Is = Places.variable(P);
  if (!Places.isRoot(P))
    Is = Places.step(P).Member;
  return Is && llvm::is_contained(List.Names, Is);
}

/// Something replaces or takes out elements of the list between the two.
static bool isChanged(const Execution &Entry, const StoreEvent &Append,
                      const AddParametersEvent &Added, const GivenList &List) {
  const PlaceTable &Places = Entry.places();
  const auto IsOfList = [&](PlaceId P) {
    return isOneOf(Places, P, List) ||
           (!Places.isRoot(P) && isOneOf(Places, Places.parent(P), List));
  };
  return llvm::any_of(
      Entry.events<UpdateEvent>(), [&](const UpdateEvent &Update) {
        return Update.How != StoreKind::Append &&
               !llvm::is_contained(List.Moves, Update.Site) &&
               llvm::any_of(Update.Places, IsOfList) &&
               reaches(Entry, Append, Update,
                       [&](const Event &E) { return &E == &Added; }) &&
               reaches(Entry, Update, Added,
                       [&](const Event &E) { return &E == &Append; });
      });
}

/// Elements of a list are known by what they have in common. Of one that is
/// given with leaves in it, what was appended is told apart.
static std::vector<const StoreEvent *>
appendedNonLeaves(const Execution &Entry, const AddParametersEvent &Added) {
  std::vector<const StoreEvent *> Result;
  if (!Added.Given.mayHaveGraph() || Added.Given.History == history::Graph)
    return Result;
  const GivenList List = listBehind(Added.In, Added.Operand);
  for (const StoreEvent &Store : Entry.events<StoreEvent>())
    if (Store.How == StoreKind::Append &&
        Store.Stored.History == history::Graph &&
        llvm::any_of(
            Store.Places,
            [&](PlaceId P) { return isOneOf(Entry.places(), P, List); }) &&
        reaches(Entry, Store, Added, [](const Event &) { return false; }) &&
        !isChanged(Entry, Store, Added, List))
      Result.push_back(&Store);
  return Result;
}

std::vector<NonLeafParameter> nonLeafParameters(Program &Program) {
  std::vector<NonLeafParameter> Result;
  auto Add = [&](const std::optional<NonLeafParameter> &Found) {
    if (Found)
      Result.push_back(*Found);
  };
  for (const auto &Entry : Program.executions()) {
    for (const AddParametersEvent &Added :
         Entry->events<AddParametersEvent>()) {
      const auto How = torch::addsUnchecked(calleeOf(Added.Site))
                           ? NonLeafParameter::Ignored
                           : NonLeafParameter::Throws;
      Add(describe(*Entry, How, Added, Added.Operand, Added.Given));
      for (const StoreEvent *Append : appendedNonLeaves(*Entry, Added))
        Add(describe(*Entry, How, Added, Append->Operand, Append->Stored));
    }
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

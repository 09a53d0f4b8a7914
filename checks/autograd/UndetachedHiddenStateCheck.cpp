// Finds recurrent state that goes into the next optimisation step, or the next
// call, together with the graph of all steps before.
#include "autograd/UndetachedHiddenStateCheck.h"
#include "autograd/UndetachedHiddenState.h"
#include "report/Edit.h"
#include "report/Report.h"

namespace torchtidy::checks {

using namespace model;

static std::string stateName(const CarriedState &Carried,
                             const clang::ASTContext &Context) {
  const std::string Name = storedName(Context, *Carried.Store);
  return Name.empty() ? Carried.Entry->places().name(Carried.Place) : Name;
}

static std::string message(const CarriedState &Carried, const std::string &Name,
                           bool IsTensor) {
  std::string Result =
      "recurrent state " + (Name.empty() ? "" : "'" + Name + "' ") +
      "carries what its backward() needs (its autograd graph) into "
      "the next " +
      (Carried.Around ? "iteration" : "call");
  switch (Carried.Outcome) {
  case CarriedState::Throws:
    Result += ": the next backward() goes on into what this one has freed, and "
              "throws; ";
    break;
  case CarriedState::Retained:
    Result +=
        ": with retain_graph every backward() goes through all iterations "
        "so far, so each takes longer; ";
    break;
  case CarriedState::Grows:
    Result += ": no backward() frees it, so memory grows; ";
    break;
  }
  if (Carried.Outcome == CarriedState::Grows)
    return Result +
           "detach it or put 'torch::NoGradGuard no_grad;' before the " +
           (Carried.Around ? "loop" : "call");
  return Result + (IsTensor && !Name.empty()
                       ? "detach it: '" + Name + " = " + Name + ".detach();'"
                       : "detach its tensors");
}

static FindingKind kind(const CarriedState &Carried) {
  switch (Carried.Outcome) {
  case CarriedState::Throws:
    return FindingKind::StateThrows;
  case CarriedState::Retained:
    return FindingKind::StateChains;
  case CarriedState::Grows:
    break;
  }
  return FindingKind::StateGrows;
}

/// The statement behind which the state is no longer needed with its graph: the
/// later of store and backward().
static const clang::Stmt *lastUse(const CarriedState &Carried) {
  const StoreEvent &Store = *Carried.Store;
  const flow::ControlFlow &Flow = *Store.In->Flow;
  const clang::Stmt *Last = Flow.statement(Store.Site);
  auto Extend = [&](const Event *E) {
    const clang::Stmt *Other =
        E->In == Store.In ? Flow.statement(E->Site) : nullptr;
    if (!Last || !Other || Flow.parent(Other) != Flow.parent(Last))
      Last = nullptr;
    else if (Last->getBeginLoc() < Other->getBeginLoc())
      Last = Other;
  };
  for (const StoreEvent *Other : Carried.Others)
    Extend(Other);
  if (Carried.Backward)
    Extend(Carried.Backward);
  return Last;
}

static std::vector<clang::FixItHint> fixes(const CarriedState &Carried,
                                           const clang::ASTContext &Context) {
  const clang::Stmt *Last = lastUse(Carried);
  if (!Last)
    return {};
  std::string Code = detachStatement(Context, *Carried.Store);
  for (const StoreEvent *Other : Carried.Others) {
    const std::string More = detachStatement(Context, *Other);
    if (Code.empty() || More.empty())
      return {};
    Code += "\n" + More;
  }
  if (Code.empty())
    return {};
  return insertAfter(Context, *Carried.Store->In->Flow, Last, Code);
}

static Finding describe(const Program &Program, const CarriedState &Carried) {
  const clang::ASTContext &Context = Program.context();
  const StoreEvent &Store = *Carried.Store;
  Finding Result;
  Result.Location = Store.Site->getBeginLoc();
  Result.Range = Store.Site->getSourceRange();
  const clang::Expr *Target = storedInto(Store);
  Result.Kind = kind(Carried);
  Result.Message = message(Carried, stateName(Carried, Context),
                           Target && isNamedTensor(Target));
  for (const StoreEvent *Other : Carried.Others)
    if (Other->Site != Store.Site)
      Result.Notes.push_back(
          {Other->Site->getBeginLoc(), "and here", NoteRole::Store});
  if (Carried.Built)
    Result.Notes.push_back({Carried.Built->Site->getBeginLoc(),
                            "the graph is built here", NoteRole::GraphBuilt});
  if (Carried.Backward)
    Result.Notes.push_back({Carried.Backward->Site->getBeginLoc(),
                            Carried.Outcome == CarriedState::Retained
                                ? "this backward() keeps the graph"
                                : "this backward() frees the graph",
                            NoteRole::Backward});
  addLoop(Result, *Carried.Entry, Store.In, Carried.Around);
  Result.Fixes = fixes(Carried, Context);
  if (Carried.Built)
    Result.IterationSite = Carried.Built->Site->getBeginLoc();
  // Without a backward() it is a guard that is missing.
  Result.Cause = Carried.Outcome == CarriedState::Grows ? "graph of inference"
                                                        : "kept graph";
  return Result;
}

std::vector<Finding> UndetachedHiddenStateCheck::analyze(Program &Program) {
  return findingsOf(Program, carriedStates, describe);
}

} // namespace torchtidy::checks

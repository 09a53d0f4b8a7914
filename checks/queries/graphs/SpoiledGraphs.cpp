#include "queries/graphs/SpoiledGraphs.h"
#include "ast/Expressions.h"
#include "queries/paths/Paths.h"
#include "torch/Api.h"

using namespace clang;

namespace torchtidy::model {

/// Another backward() has freed the graph: that is a mistake of its own.
static bool isFreed(const Execution &Entry, const GraphUseEvent &Use) {
  return llvm::any_of(Entry.events<BackwardEvent>(), [&](const auto &Backward) {
    return &Backward != &Use && Use.Root.hasOrigin(Backward.Origin) &&
           !Backward.RetainsGraph;
  });
}

/// It comes back, round a loop, to a graph that it has gone through.
static bool comesBack(const GraphUseEvent &Use) {
  const auto *Backward = Use.getAs<BackwardEvent>();
  return Backward && Use.Root.hasOrigin(Backward->Origin);
}

/// Where the operation at Site runs in that activation.
static Nodes pointsOf(const Execution &Entry, const Expr *Site,
                      const Frame *In) {
  Nodes Result;
  for (const Event &E : Entry.events())
    if (E.Site == Site && E.In == In)
      Result.insert(E.Point);
  return Result;
}

/// The tensor is saved and overwritten before the first time, which then
/// throws: that a later one would find its graph freed is of no importance.
static bool isSpoiledFirst(const Execution &Entry, const GraphUseEvent &Use,
                           const Save &Saved, const Overwrite &Change) {
  const Nodes Avoid{Use.Point};
  const auto IsReached = [&](flow::Digraph::Node From, const Nodes &To) {
    return llvm::any_of(To, [&](flow::Digraph::Node Each) {
      return Each != Use.Point && reaches(Entry, From, Each, Avoid);
    });
  };
  const Nodes Changes = pointsOf(Entry, Change.Site, Change.In);
  return llvm::any_of(
      pointsOf(Entry, Saved.Site, Saved.In), [&](flow::Digraph::Node At) {
        return At != Use.Point && reaches(Entry, Entry.start(), At, Avoid) &&
               IsReached(At, Changes);
      });
}

std::vector<SpoiledGraph> spoiledGraphs(const Execution &Entry) {
  std::vector<SpoiledGraph> Result;
  for (const GraphUseEvent &Use : Entry.events<GraphUseEvent>()) {
    const auto *Backward = Use.getAs<BackwardEvent>();
    if (Use.Is == Event::Inspect || Use.Root.Spoiled.empty() ||
        !Use.Root.mayHaveGraph() || Use.Root.ManyOrigins ||
        (Backward && Backward->HasInputs) || isFreed(Entry, Use))
      continue;
    for (OverwriteId Id : Use.Root.Spoiled) {
      const Overwrite &Change = Entry.overwrite(Id);
      const Save &Saved = Entry.save(Change.Of);
      if (!comesBack(Use) || isSpoiledFirst(Entry, Use, Saved, Change))
        Result.push_back({&Entry, &Saved, &Change, &Use});
    }
  }
  return Result;
}

const Expr *writtenAt(const Expr *Site) {
  const auto *Call = dyn_cast_or_null<CallExpr>(Site);
  if (!Call)
    return nullptr;
  if (const auto *Operator = dyn_cast<CXXOperatorCallExpr>(Call))
    return Operator->getArg(0);
  const torch::Call Kind = torch::classify(Call);
  if (Kind.Op && Kind.Op->Writes == torch::operation::Out &&
      torch::writesLastArgument(*Kind.Op))
    return Call->getArg(Call->getNumArgs() - 1);
  if (const Expr *Object = ast::objectOf(Call))
    return Object;
  return Call->getNumArgs() ? Call->getArg(0) : nullptr;
}

} // namespace torchtidy::model

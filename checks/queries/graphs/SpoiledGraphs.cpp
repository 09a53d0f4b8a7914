#include "queries/graphs/SpoiledGraphs.h"
#include "ast/Expressions.h"
#include "torch/Api.h"

using namespace clang;

namespace torchtidy::model {

/// Another backward() has freed the graph, or this one comes back to it round a
/// loop: that is a mistake of its own.
static bool isGoneThrough(const Execution &Entry, const GraphUseEvent &Use) {
  return llvm::any_of(Entry.events<BackwardEvent>(), [&](const auto &Backward) {
    return Use.Root.hasOrigin(Backward.Origin) &&
           (!Backward.RetainsGraph || &Backward == &Use);
  });
}

std::vector<SpoiledGraph> spoiledGraphs(const Execution &Entry) {
  std::vector<SpoiledGraph> Result;
  for (const GraphUseEvent &Use : Entry.events<GraphUseEvent>()) {
    const auto *Backward = Use.getAs<BackwardEvent>();
    if (Use.Is == Event::Inspect || Use.Root.Spoiled.empty() ||
        !Use.Root.mayHaveGraph() || Use.Root.ManyOrigins ||
        (Backward && Backward->HasInputs) || isGoneThrough(Entry, Use))
      continue;
    for (OverwriteId Id : Use.Root.Spoiled) {
      const Overwrite &Change = Entry.overwrite(Id);
      Result.push_back({&Entry, &Entry.save(Change.Of), &Change, &Use});
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

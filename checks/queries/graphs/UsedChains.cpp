#include "queries/graphs/UsedChains.h"
#include "queries/graphs/UnseenTraining.h"

using namespace clang;

namespace torchtidy::model {

bool UsedChains::isUsed(const Execution &Entry, const ForwardEvent &Forward) {
  return llvm::any_of(Entry.events<GraphUseEvent>(), [&](const auto &Use) {
    return Use.Root.ManyOrigins || Use.Root.hasOrigin(Forward.Origin);
  });
}

bool isWithoutGraph(const ForwardEvent &Forward) {
  const uint8_t Off = mode::Off | mode::Inference;
  return Forward.GradMode && !(Forward.GradMode & ~Off);
}

/// Site, which is in F, and what leads to it.
static void addChain(UsedChains::Statements &To, const Frame *F,
                     const Stmt *Site) {
  for (; F; F = F->Caller) {
    To.insert({F->Function, Site});
    Site = F->Site;
  }
}

void UsedChains::add(const Execution &Entry) {
  for (const GraphUseEvent &Use : Entry.events<GraphUseEvent>())
    if (Use.Is != Event::Inspect)
      add(Use);
  for (const ForwardEvent &Forward : Entry.events<ForwardEvent>()) {
    if (isUsed(Entry, Forward))
      add(Forward);
    if (isWithoutGraph(Forward) && !Entry.isInForward(Forward.In))
      addChain(Guarded, Forward.In, Forward.Site);
  }
  for (const UnseenCall &Unseen : unseenTraining(Entry))
    addChain(Unseen.Trains == UnseenTraining::Likely ? UnseenLikely
                                                     : UnseenUnlikely,
             Unseen.At.In, Unseen.At.Call);
}

void UsedChains::add(const Event &E) {
  addChain(Training, E.In, E.Site);
  const Stmt *Site = E.Site;
  for (const Frame *F = E.In; F; F = F->Caller) {
    Sites.insert(Site);
    Site = F->Site;
  }
}

/// Something in Within, which is in F, and not in Except is one of them.
static bool hasOneOf(const UsedChains::Statements &Statements, const Frame *F,
                     const Stmt *Within, const Stmt *Except = nullptr) {
  return llvm::any_of(Statements, [&](const auto &Each) {
    return Each.first == F->Function && Each.second &&
           F->Flow->isInside(Each.second, Within) &&
           !(Except && F->Flow->isInside(Each.second, Except));
  });
}

bool UsedChains::isTrained(const Frame *F, const Stmt *Within) const {
  return hasOneOf(Training, F, Within);
}

/// Something in Within, which is in F, leads to training, or may.
static bool trains(const UsedChains &Used, const Frame *F, const Stmt *Within) {
  return Used.isTrained(F, Within) || hasOneOf(Used.UnseenLikely, F, Within);
}

const CompoundStmt *guardScope(const UsedChains &Used, const Frame *F,
                               const Stmt *Site) {
  if (!F->Flow)
    return nullptr;
  const CompoundStmt *Best = nullptr;
  for (const Stmt *S = Site; S; S = F->Flow->parent(S)) {
    const auto *Block = dyn_cast<CompoundStmt>(S);
    if (!Block)
      continue;
    if (trains(Used, F, Block) ||
        (Best && hasOneOf(Used.UnseenUnlikely, F, Block, Best)))
      return Best;
    Best = Block;
  }
  return Best;
}

} // namespace torchtidy::model

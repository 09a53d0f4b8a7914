#include "model/Evaluation.h"
#include "torch/Types.h"

using namespace clang;

namespace torchtidy::model {

namespace {

class EvaluationQuery {
public:
  explicit EvaluationQuery(const Execution &Way) : Way(Way) {}

  std::vector<UnusedGraph> run() {
    std::vector<UnusedGraph> Result;
    collectUsedChains();
    for (const Event &E : Way.events())
      if (E.Kind == EventKind::Forward && !Way.isInForward(E.In))
        if (std::optional<UnusedGraph> Found = ask(E))
          Result.push_back(*Found);
    // A guard before the first serves those that work on what it returns.
    auto IsFed = [&](const UnusedGraph &Found) {
      return llvm::any_of(Result, [&](const UnusedGraph &Other) {
        return Other.Forward != Found.Forward && Other.GuardScope &&
               (Found.IsStrictOnly || !Other.IsStrictOnly) &&
               Other.GuardScope == Found.GuardScope &&
               Found.Forward->Input.hasOrigin(Other.Forward->Origin) &&
               !Other.Forward->Input.hasOrigin(Found.Forward->Origin);
      });
    };
    std::vector<UnusedGraph> Causes;
    llvm::copy_if(Result, std::back_inserter(Causes),
                  [&](const UnusedGraph &Found) { return !IsFed(Found); });
    return Causes;
  }

private:
  bool isUsed(const Event &Forward) const {
    for (const Event &E : Way.events())
      if ((E.Kind == EventKind::Backward || E.Kind == EventKind::Grad ||
           E.Kind == EventKind::Inspect) &&
          (E.Result.ManyOrigins || E.Result.hasOrigin(Forward.Origin)))
        return true;
    return false;
  }

  /// The statements that lead to a forward whose graph is used, or to backward
  /// or step: no guard may be around them.
  void collectUsedChains() {
    for (const Event &E : Way.events()) {
      const bool NeedsGraph = E.Kind == EventKind::Backward ||
                              E.Kind == EventKind::Grad ||
                              (E.Kind == EventKind::Forward && isUsed(E));
      if (!NeedsGraph)
        continue;
      const Stmt *Site = E.Site;
      for (const Frame *F = E.In; F; F = F->Caller) {
        UsedSites.insert(Site);
        TrainingSites.insert({F->Function, Site});
        Site = F->Site;
      }
    }
  }

  /// The value leaves what is analysed: returned to callers elsewhere, kept in
  /// an object from outside.
  bool escapes(const Event &Forward) const {
    for (const Event &E : Way.events()) {
      if (!E.Result.hasOrigin(Forward.Origin))
        continue;
      if (E.Kind == EventKind::Escape)
        return true;
      if (E.Kind == EventKind::Store)
        for (PlaceId P : E.Places)
          if (Way.isFromOutside(P))
            return true;
    }
    return false;
  }

  /// The way begins in a method of a network: like its forward(), that is for
  /// others to run, who know what for.
  bool isOfNetwork() const {
    const auto *Method = dyn_cast<CXXMethodDecl>(Way.root().Function);
    return Method &&
           torch::kindOf(Method->getParent()) == torch::TypeKind::Module;
  }

  /// In the constructor of the network that a method is called on.
  bool isPartOfNetwork(const Event &E) const {
    if (!isOfNetwork())
      return false;
    // Its activation is the only one that no call in the way leads to.
    for (const Frame *F = E.In; F; F = F->Caller)
      if (F->Caller && !F->Site)
        return true;
    return false;
  }

  const Event *find(EventKind Kind, const Event &Forward) const {
    const Event *Found = nullptr;
    for (const Event &E : Way.events())
      if (E.Kind == Kind &&
          // What a constructor makes says nothing about who calls.
          !(Kind == EventKind::Create && isPartOfNetwork(E)) &&
          (Kind != EventKind::ModeChange || E.Mode == mode::Off))
        for (PlaceId P : E.Places)
          for (PlaceId Q : Forward.Places)
            if (Way.places().overlap(P, Q))
              Found = &E;
    return Found;
  }

  /// A backward() goes through it, but reaches only parameters that no
  /// optimizer of the whole program trains: features of fixed images.
  bool isUsedInVain(const Event &Forward) const {
    if (!Way.root().Function->isMain() || Forward.Input.needsGrad() ||
        Forward.Places.empty() || Forward.Input.ManyOrigins)
      return false;
    // What another module makes may be what is trained: the pixels of an image.
    for (OriginId Id : Forward.Input.Origins)
      if (Way.origin(Id).Of == Origin::Forward)
        return false;
    bool Steps = false;
    for (const Event &E : Way.events()) {
      if (E.Kind == EventKind::Grad || E.Kind == EventKind::Inspect ||
          (E.Kind == EventKind::Backward && E.IsRestricted))
        return false;
      if (E.Kind == EventKind::Escape && Way.mayAlias(E.Places, Forward.Places))
        return false;
      if (E.Kind != EventKind::Step)
        continue;
      Steps = true;
      PlaceSet Trained;
      for (PlaceId P : E.Result.Refs)
        insert(Trained, Way.places().owner(P));
      if (Trained.empty() || Way.mayAlias(Trained, Forward.Places))
        return false;
    }
    return Steps && find(EventKind::Create, Forward);
  }

  /// A sequence is generated: the module is run again on what was chosen from
  /// its results, through which no gradient flows.
  bool isGeneration(const Event &Forward) const {
    return llvm::is_contained(Forward.Input.DecidedBy, Forward.Origin) &&
           !isOfNetwork();
  }

  const Event *trainingBeside(const Event &Forward) const {
    for (const Event &E : Way.events())
      if (E.Kind == EventKind::Backward && E.In == Forward.In &&
          !(E.GradMode & mode::Off) && !(Forward.GradMode & mode::Off))
        return &E;
    return nullptr;
  }

  std::optional<UnusedGraph> ask(const Event &Forward) const {
    if (!Forward.Result.mayHaveGraph() || (Forward.GradMode & mode::Off))
      return std::nullopt;
    UnusedGraph Result = {&Forward, Forward.In, Forward.Site,
                          nullptr,  false,      nullptr};
    if (isUsed(Forward)) {
      if (!isUsedInVain(Forward))
        return std::nullopt;
      Result.Evidence = find(EventKind::Create, Forward);
      Result.IsBackwarded = true;
      return Result;
    }
    const bool InEvalMode = Forward.Mode == mode::Off;
    if (InEvalMode)
      Result.Evidence = find(EventKind::ModeChange, Forward);
    const bool Escapes = escapes(Forward);
    if (!Result.Evidence)
      Result.Evidence = find(EventKind::Load, Forward);
    // A pretrained part of a network that is returned from may well be trained.
    if (Escapes && Result.Evidence &&
        Result.Evidence->Kind == EventKind::Load &&
        isPartOfNetwork(*Result.Evidence))
      Result.Evidence = nullptr;
    if (!Result.Evidence) {
      // Without a sign, everything that could use the graph must be known.
      Result.Evidence = find(EventKind::Create, Forward);
      const bool IsWhole = Way.root().Function->isMain() || Result.Evidence;
      Result.IsStrictOnly = Escapes || !IsWhole;
      // Whoever calls a function that trains has left grad mode on.
      if (!Escapes && !IsWhole)
        if (const Event *Sign =
                isGeneration(Forward) ? &Forward : trainingBeside(Forward)) {
          Result.Evidence = Sign;
          Result.IsStrictOnly = false;
        }
    }
    // Others use the graph that this line makes: the mistake is in the caller.
    while (UsedSites.count(Result.Site)) {
      if (!Result.In->Caller || !Result.In->Site || !InEvalMode)
        return std::nullopt;
      Result.Site = Result.In->Site;
      Result.In = Result.In->Caller;
    }
    Result.GuardScope = guardScope(Result.In, Result.Site);
    return Result;
  }

  const CompoundStmt *guardScope(const Frame *F, const Stmt *Site) const {
    if (!F->Flow)
      return nullptr;
    const CompoundStmt *Best = nullptr;
    for (const Stmt *S = Site; S; S = F->Flow->parent(S)) {
      const auto *Block = dyn_cast<CompoundStmt>(S);
      if (!Block)
        continue;
      for (const auto &[Function, Training] : TrainingSites)
        if (Function == F->Function && Training &&
            F->Flow->isInside(Training, Block))
          return Best;
      Best = Block;
    }
    return Best;
  }

  const Execution &Way;
  std::set<const Stmt *> UsedSites;
  std::set<std::pair<const FunctionDecl *, const Stmt *>> TrainingSites;
};

} // namespace

std::vector<UnusedGraph> unusedGraphs(const Execution &Way) {
  return EvaluationQuery(Way).run();
}

} // namespace torchtidy::model

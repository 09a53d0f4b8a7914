#include "model/Gradients.h"
#include "llvm/ADT/DenseSet.h"
#include "clang/AST/StmtCXX.h"

using namespace clang;

namespace torchtidy::model {

using flow::Digraph;

namespace {

class StepQuery {
public:
  StepQuery(const Execution &Way, const Event &Step) : Way(Way), Step(Step) {
    for (PlaceId P : Step.Result.Refs)
      if (!isOwnParameters(P))
        insert(Trained, P);
    Concerned = Trained;
    insert(Concerned, Step.Places);
  }

  std::optional<UnclearedStep> run() {
    if (Step.IsRestricted || Step.Places.empty())
      return std::nullopt;
    collectBarriers();
    auto Avoid = [&](Digraph::Node N) { return Barriers.count(N) != 0; };
    auto IsBackward = [&](Digraph::Node N) {
      const Event *E = Way.eventAt(N);
      return E && E->Kind == EventKind::Backward && addsGradients(*E);
    };
    auto IsStep = [&](Digraph::Node N) { return N == Step.Point; };
    auto Path = flow::mayReachVia(Way.points(), Step.Point, IsBackward, IsStep,
                                  Avoid);
    if (!Path)
      return std::nullopt;
    UnclearedStep Result = {&Step, nullptr, nullptr, false};
    for (Digraph::Node N : *Path)
      if (IsBackward(N)) {
        Result.Backward = Way.eventAt(N);
        break;
      }
    for (const flow::Loop *L : Way.loopsAround(Step.Point))
      if (L->contains(Result.Backward->Point))
        Result.Around = L;
    if (Result.Around)
      for (Digraph::Node N : Clearings)
        Result.IsClearedElsewhere |= Result.Around->contains(N);
    return Result;
  }

private:
  /// The optimizer's parameters when nothing is known of them.
  bool isOwnParameters(PlaceId P) const {
    return llvm::any_of(Step.Places, [&](PlaceId Optimizer) {
      return Way.places().isWithin(P, Optimizer);
    });
  }

  bool clears(const Event &E) const {
    if (E.Places.empty() || Trained.empty())
      return true;
    return Way.mayAlias(E.Places, Concerned);
  }

  /// A fresh optimizer, or fresh leaves, have no gradients from before.
  bool createsAfresh(const Event &E) const {
    for (PlaceId P : E.Places)
      for (PlaceId Q : Concerned)
        if (Way.places().isWithin(Q, P))
          return true;
    return false;
  }

  bool addsGradients(const Event &E) const {
    if (E.IsRestricted)
      return false;
    // Backward from one network adds nothing to another that it never ran.
    if (Trained.empty() || E.Result.ManyOrigins)
      return true;
    bool SeesForward = false;
    for (OriginId Id : E.Result.Origins) {
      const Origin &From = Way.origin(Id);
      if (From.Of == Origin::Operation)
        return true;
      if (From.Of != Origin::Forward)
        continue;
      SeesForward = true;
      for (const Event &Other : Way.events())
        if (Other.Kind == EventKind::Forward && Other.Origin == Id &&
            (Other.Places.empty() || Way.mayAlias(Other.Places, Trained)))
          return true;
    }
    return !SeesForward;
  }

  void collectBarriers() {
    for (const Event &E : Way.events()) {
      switch (E.Kind) {
      case EventKind::ZeroGrad:
        if (!clears(E))
          break;
        Clearings.push_back(E.Point);
        Barriers.insert(E.Point);
        addDeliberateConditions(E);
        break;
      case EventKind::Escape:
        if (Way.mayAlias(E.Places, Concerned))
          Barriers.insert(E.Point);
        break;
      case EventKind::Create:
        if (createsAfresh(E))
          Barriers.insert(E.Point);
        break;
      default:
        break;
      }
    }
  }

  /// The frame of the step's call chain that is F, with the statement in it that
  /// leads to the step.
  const Stmt *stepIn(const Frame *F) const {
    const Stmt *Statement = Step.Site;
    for (const Frame *G = Step.In; G; G = G->Caller) {
      if (G == F)
        return Statement;
      Statement = G->Site;
    }
    return nullptr;
  }

  /// An `if`, or a loop over the parameters, that holds the clearing and not the
  /// step: whoever wrote it decided when to clear.
  void addDeliberateConditions(const Event &Clearing) {
    const Frame *F = Clearing.In;
    const Stmt *Statement = Clearing.Site;
    const Frame *Helper = nullptr;
    while (F && !stepIn(F)) {
      Helper = F;
      Statement = F->Site;
      F = F->Caller;
    }
    // A helper that clears clears, whatever its guard clauses.
    if (Helper)
      for (Digraph::Node N = 0; N < Way.points().size(); ++N)
        if (Way.segment(N).Of == Segment::Enter && Way.segment(N).In == Helper)
          Barriers.insert(N);
    if (!F || !Statement || !F->Flow)
      return;
    const Stmt *StepStatement = stepIn(F);
    llvm::DenseSet<const Stmt *> Deciders;
    for (const Stmt *S = Statement; S; S = F->Flow->parent(S)) {
      const Stmt *Condition = nullptr;
      if (const auto *If = dyn_cast<IfStmt>(S))
        Condition = If->getCond();
      else if (const auto *While = dyn_cast<WhileStmt>(S))
        Condition = While->getCond();
      else if (const auto *For = dyn_cast<ForStmt>(S))
        Condition = For->getCond();
      else if (!isa<CXXForRangeStmt, SwitchStmt, ConditionalOperator>(S) &&
               !(isa<BinaryOperator>(S) &&
                 cast<BinaryOperator>(S)->isLogicalOp()))
        continue;
      if (StepStatement && F->Flow->isInside(StepStatement, S))
        break;
      Deciders.insert(S);
      // a && b is decided in more than one place.
      llvm::SmallVector<const Stmt *, 8> Work = {Condition};
      while (!Work.empty()) {
        const Stmt *Part = Work.pop_back_val();
        if (!Part)
          continue;
        if (const auto *Binary = dyn_cast<BinaryOperator>(Part);
            Binary && Binary->isLogicalOp())
          Deciders.insert(Binary);
        Work.append(Part->child_begin(), Part->child_end());
      }
    }
    if (Deciders.empty())
      return;
    for (Digraph::Node N = 0; N < Way.points().size(); ++N) {
      const Segment &S = Way.segment(N);
      if (S.In != F || S.Of != Segment::Elements || !Way.point(N).IsEnd ||
          S.End != S.Block->size())
        continue;
      if (Deciders.count(S.Block->getTerminatorStmt()))
        Barriers.insert(N);
    }
  }

  const Execution &Way;
  const Event &Step;
  /// What the optimizer trains, where that is known.
  PlaceSet Trained;
  /// That, and the optimizer.
  PlaceSet Concerned;
  llvm::DenseSet<Digraph::Node> Barriers;
  std::vector<Digraph::Node> Clearings;
};

} // namespace

std::vector<UnclearedStep> unclearedSteps(const Execution &Way) {
  std::vector<UnclearedStep> Result;
  for (const Event &E : Way.events())
    if (E.Kind == EventKind::Step && !Way.loopsAround(E.Point).empty())
      if (std::optional<UnclearedStep> Found = StepQuery(Way, E).run())
        Result.push_back(*Found);
  return Result;
}

} // namespace torchtidy::model

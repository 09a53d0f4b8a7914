#include "model/Gradients.h"
#include "clang/AST/StmtCXX.h"
#include "llvm/ADT/DenseSet.h"

using namespace clang;

namespace torchtidy::model {

using flow::Digraph;

namespace {

class StepQuery {
public:
  StepQuery(const Execution &Way, const Event &Step) : Way(Way), Step(Step) {
    for (PlaceId P : Step.Result.Refs) {
      if (isOwnParameters(P))
        continue;
      insert(Trained, Way.places().owner(P));
      // A tensor of its own gets gradients from whatever it is part of.
      TrainsTensors |= !Way.places().hasStep(P, model::Step::Parameters);
    }
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
    auto Path =
        flow::mayReachVia(Way.points(), Step.Point, IsBackward, IsStep, Avoid);
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
    PlaceSet Cleared;
    for (PlaceId P : E.Places)
      insert(Cleared, Way.places().owner(P));
    for (PlaceId P : E.Result.Refs)
      insert(Cleared, Way.places().owner(P));
    return Way.mayAlias(Cleared, Concerned);
  }

  /// A fresh optimizer, or fresh leaves, have no gradients from before.
  bool createsAfresh(const Event &E) const {
    for (PlaceId P : E.Places)
      for (PlaceId Q : Trained.empty() ? Concerned : Trained)
        if (Way.places().isWithin(Q, P))
          return true;
    return false;
  }

  bool addsGradients(const Event &E) const {
    if (E.IsRestricted)
      return false;
    // Backward from one network adds nothing to another that it never ran.
    if (Trained.empty() || TrainsTensors || E.Result.ManyOrigins)
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

  /// The frame of the step's call chain that is F, with the statement in it
  /// that leads to the step.
  const Stmt *stepIn(const Frame *F) const {
    const Stmt *Statement = Step.Site;
    for (const Frame *G = Step.In; G; G = G->Caller) {
      if (G == F)
        return Statement;
      Statement = G->Site;
    }
    return nullptr;
  }

  /// An `if`, or a loop over the parameters, that holds the clearing and not
  /// the step, and whose condition says that whoever wrote it decided when to
  /// clear.
  void addDeliberateConditions(const Event &Clearing) {
    const Stmt *Statement = Clearing.Site;
    for (const Frame *F = Clearing.In; F; Statement = F->Site, F = F->Caller) {
      if (!Statement || !F->Flow)
        return;
      const Stmt *StepStatement = stepIn(F);
      addDeliberateConditions(*F, Statement, StepStatement);
      // std::for_each over the parameters: over none there is none to clear.
      if (F->Range)
        addReturnOf(*F);
      if (StepStatement)
        return;
    }
  }

  void addDeliberateConditions(const Frame &F, const Stmt *Statement,
                               const Stmt *StepStatement) {
    llvm::DenseSet<const Stmt *> Deciders;
    for (const Stmt *S = Statement; S; S = F.Flow->parent(S)) {
      if (StepStatement && F.Flow->isInside(StepStatement, S))
        break;
      if (isa<ForStmt, WhileStmt, CXXForRangeStmt>(S)) {
        Deciders.insert(S);
        continue;
      }
      const Stmt *Condition = nullptr;
      if (const auto *If = dyn_cast<IfStmt>(S))
        Condition = If->getCond();
      else if (const auto *Choice = dyn_cast<ConditionalOperator>(S))
        Condition = Choice->getCond();
      else if (const auto *Logical = dyn_cast<BinaryOperator>(S);
               Logical && Logical->isLogicalOp())
        Condition = Logical->getLHS();
      if (!Condition || !isDeliberate(F, Condition, StepStatement))
        continue;
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
      if (S.In != &F || S.Of != Segment::Elements || !Way.point(N).IsEnd ||
          S.End != S.Block->size())
        continue;
      if (Deciders.count(S.Block->getTerminatorStmt()))
        Barriers.insert(N);
    }
  }

  void addReturnOf(const Frame &Callee) {
    for (Digraph::Node N = 0; N < Way.points().size(); ++N) {
      const Segment &S = Way.segment(N);
      if (S.In != Callee.Caller || S.Of != Segment::Elements ||
          S.Begin >= S.Block->size())
        continue;
      std::optional<CFGStmt> First = (*S.Block)[S.Begin].getAs<CFGStmt>();
      if (First && First->getStmt() == Callee.Site)
        Barriers.insert(N);
    }
  }

  /// A count of batches, a flag that the loop keeps, a test that there is
  /// something to clear, or the condition under which the step runs as well.
  bool isDeliberate(const Frame &F, const Stmt *Condition,
                    const Stmt *StepStatement) const {
    const ASTContext &Context = Way.code().context();
    llvm::FoldingSetNodeID Own;
    Condition->Profile(Own, Context, /*Canonical=*/true);
    for (const Stmt *S = StepStatement; S; S = F.Flow->parent(S))
      if (const auto *If = dyn_cast<IfStmt>(S)) {
        llvm::FoldingSetNodeID Other;
        If->getCond()->Profile(Other, Context, true);
        if (Own == Other)
          return true;
      }
    llvm::SmallVector<const Stmt *, 8> Work = {Condition};
    while (!Work.empty()) {
      const Stmt *S = Work.pop_back_val();
      if (!S)
        continue;
      if (const auto *Binary = dyn_cast<BinaryOperator>(S);
          Binary && Binary->getOpcode() == BO_Rem)
        return true;
      if (const auto *Cast = dyn_cast<CastExpr>(S);
          Cast && (Cast->getCastKind() == CK_PointerToBoolean ||
                   Cast->getCastKind() == CK_UserDefinedConversion))
        return true;
      if (const auto *Call = dyn_cast<CXXMemberCallExpr>(S))
        if (const CXXMethodDecl *Method = Call->getMethodDecl();
            Method && Method->getIdentifier() &&
            (Method->getName() == "defined" ||
             Method->getName() == "has_value"))
          return true;
      if (const auto *Ref = dyn_cast<DeclRefExpr>(S))
        if (const auto *V = dyn_cast<VarDecl>(Ref->getDecl());
            V && V->getType()->isIntegralOrEnumerationType() && isChanged(F, V))
          return true;
      if (const auto *Member = dyn_cast<MemberExpr>(S);
          Member && Member->getType()->isIntegralOrEnumerationType() &&
          isChanged(F, Member->getMemberDecl()))
        return true;
      // modes[i] says nothing about i.
      if (isa<ArraySubscriptExpr, CXXOperatorCallExpr>(S))
        continue;
      Work.append(S->child_begin(), S->child_end());
    }
    return false;
  }

  /// The function, or one that calls it, counts with D.
  static bool isChanged(const Frame &F, const ValueDecl *D) {
    llvm::SmallVector<const Stmt *, 32> Work = {F.Function->getBody()};
    auto Names = [&](const Expr *E) {
      const Expr *Inner = E->IgnoreParenImpCasts();
      const auto *Ref = dyn_cast<DeclRefExpr>(Inner);
      const auto *Member = dyn_cast<MemberExpr>(Inner);
      return (Ref && Ref->getDecl() == D) ||
             (Member && Member->getMemberDecl() == D);
    };
    while (!Work.empty()) {
      const Stmt *S = Work.pop_back_val();
      if (!S)
        continue;
      if (const auto *Unary = dyn_cast<UnaryOperator>(S);
          Unary && Unary->isIncrementDecrementOp() &&
          Names(Unary->getSubExpr()))
        return true;
      if (const auto *Binary = dyn_cast<BinaryOperator>(S);
          Binary && Binary->isAssignmentOp() && Names(Binary->getLHS()))
        return true;
      Work.append(S->child_begin(), S->child_end());
    }
    return false;
  }

  const Execution &Way;
  const Event &Step;
  /// What the optimizer trains, where that is known.
  PlaceSet Trained;
  bool TrainsTensors = false;
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

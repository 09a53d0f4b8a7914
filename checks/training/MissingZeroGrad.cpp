#include "training/MissingZeroGrad.h"
#include "ast/Expressions.h"
#include "ast/Walk.h"
#include "queries/loops/ChosenElement.h"
#include "torch/Members.h"
#include "torch/Types.h"
#include "clang/AST/StmtCXX.h"
#include "llvm/ADT/DenseSet.h"

using namespace clang;

namespace torchtidy::model {

using flow::Digraph;

namespace {

class StepQuery {
public:
  StepQuery(const Execution &Entry, const StepEvent &Step)
      : Entry(Entry), Step(Step) {
    for (PlaceId P : Step.Trained) {
      if (isOwnParameters(P))
        continue;
      insert(Trained, Entry.places().owner(P));
      // A tensor of its own gets gradients from whatever it is part of.
      TrainsTensors |= !Entry.places().hasStep(P, model::Step::Parameters);
    }
    Concerned = Trained;
    insert(Concerned, Step.Optimizers);
  }

  std::optional<UnclearedStep> run() {
    if (Step.HasClosure || (Step.Optimizers.empty() && !Step.Gradient))
      return std::nullopt;
    collectBarriers();
    auto IsBackward = [&](Digraph::Node N) {
      const BackwardEvent *Backward = backwardAt(N);
      return Backward && addsGradients(*Backward);
    };
    const auto *Call = dyn_cast<CallExpr>(Step.Site);
    const auto Choosing = choosingLoops(
        Entry, Step.In, Call ? ast::objectOf(Call) : nullptr, Step.Point);
    UnclearedStep Result;
    Result.Entry = &Entry;
    Result.Step = &Step;
    Result.Backward = backwardBetweenSteps(Choosing, IsBackward);
    if (!Result.Backward)
      return std::nullopt;
    for (const flow::Loop *L : Entry.loopsAround(Step.Point))
      if (L->contains(Result.Backward->Point) &&
          !llvm::is_contained(Choosing, L))
        Result.Around = L;
    if (Result.Around)
      for (Digraph::Node N : Clearings)
        Result.IsClearedElsewhere |= Result.Around->contains(N);
    return Result;
  }

private:
  /// A backward on a path from the step to itself that nothing bars. A loop
  /// that goes through optimizers has another in each iteration: the same one
  /// comes back within one, or when that loop was left and is entered again.
  const BackwardEvent *
  backwardBetweenSteps(llvm::ArrayRef<const flow::Loop *> Choosing,
                       flow::NodePredicate IsBackward) const {
    auto IsStep = [&](Digraph::Node N) { return N == Step.Point; };
    for (size_t Same = 0; Same <= Choosing.size(); ++Same) {
      auto Avoid = [&](Digraph::Node N) {
        return Barriers.count(N) != 0 ||
               llvm::any_of(Choosing.take_front(Same),
                            [&](const auto *L) { return L->Header == N; });
      };
      auto IsOnTheWay = [&](Digraph::Node N) {
        return IsBackward(N) &&
               flow::mayReach(Entry.points(), N, IsStep, Avoid).has_value();
      };
      auto IsLeft = [&](Digraph::Node N) {
        return !Choosing[Same]->contains(N);
      };
      const auto Path =
          Same < Choosing.size()
              ? flow::mayReachVia(Entry.points(), Step.Point, IsLeft,
                                  IsOnTheWay, Avoid)
              : flow::mayReach(Entry.points(), Step.Point, IsOnTheWay, Avoid);
      if (Path)
        return backwardAt(Path->back());
    }
    return nullptr;
  }

  const BackwardEvent *backwardAt(Digraph::Node N) const {
    const Event *E = Entry.eventAt(N);
    return E ? E->getAs<BackwardEvent>() : nullptr;
  }

  /// The optimizer's parameters when nothing is known of them.
  bool isOwnParameters(PlaceId P) const {
    return llvm::any_of(Step.Optimizers, [&](PlaceId Optimizer) {
      return Entry.places().isWithin(P, Optimizer);
    });
  }

  bool clears(const ZeroGradEvent &ZeroGrad) const {
    if (ZeroGrad.Cleared.empty() || Trained.empty() ||
        (Step.Gradient && isOfUnknown(ZeroGrad)))
      return true;
    PlaceSet Cleared;
    for (PlaceId P : ZeroGrad.Cleared)
      insert(Cleared, Entry.places().owner(P));
    for (PlaceId P : ZeroGrad.Trained)
      insert(Cleared, Entry.places().owner(P));
    return Entry.mayAlias(Cleared, Concerned);
  }

  /// Of an optimizer of which nothing tells what it trains: what is trained by
  /// hand may be among it.
  bool isOfUnknown(const ZeroGradEvent &ZeroGrad) const {
    const PlaceTable &Places = Entry.places();
    return llvm::any_of(ZeroGrad.Cleared, [&](PlaceId Optimizer) {
      const QualType Type = Places.knownType(Optimizer);
      return !Places.hasStep(Optimizer, model::Step::Gradient) &&
             (Type.isNull() ||
              torch::kindOf(Type) == torch::TypeKind::Optimizer) &&
             llvm::all_of(ZeroGrad.Trained, [&](PlaceId P) {
               return Places.isWithin(P, Optimizer);
             });
    });
  }

  /// What is trained by hand gets another tensor.
  bool rebinds(const UpdateEvent &Update) const {
    return Step.Gradient && Update.How == StoreKind::Rebind &&
           llvm::any_of(Update.Places, [&](PlaceId P) {
             return llvm::any_of(Trained, [&](PlaceId Q) {
               return Entry.places().isWithin(Q, P);
             });
           });
  }

  /// A fresh optimizer, or fresh leaves, have no gradients from before.
  bool createsAfresh(const CreateEvent &Create) const {
    for (PlaceId P : Create.Objects)
      for (PlaceId Q : Trained.empty() ? Concerned : Trained)
        if (Entry.places().isWithin(Q, P))
          return true;
    return false;
  }

  bool addsGradients(const BackwardEvent &Backward) const {
    if (Backward.HasInputs)
      return false;
    // Backward from one network adds nothing to another that it never ran.
    if (Trained.empty() || TrainsTensors || Backward.Root.ManyOrigins)
      return true;
    bool SeesForward = false;
    for (OriginId Id : Backward.Root.Origins) {
      const Origin &From = Entry.origin(Id);
      if (From.Of == Origin::Operation)
        return true;
      if (From.Of != Origin::Forward)
        continue;
      SeesForward = true;
      for (const ForwardEvent &Forward : Entry.events<ForwardEvent>())
        if (Forward.Origin == Id &&
            (Forward.Modules.empty() || Entry.mayAlias(Forward.Parts, Trained)))
          return true;
    }
    return !SeesForward;
  }

  /// Where nothing tells what is trained: a method of some module that is not
  /// seen, or that Clang could not make sense of, may be its zero_grad().
  bool isUnseenMethod(const EscapeEvent &Escape) const {
    if (!isa_and_nonnull<CXXMemberCallExpr, RecoveryExpr>(Escape.Site))
      return false;
    const auto IsModule = [&](PlaceId P) {
      const QualType Type = Entry.places().knownType(P);
      return !Type.isNull() && torch::moduleClass(Type);
    };
    return llvm::any_of(Escape.Places, IsModule) &&
           llvm::none_of(Entry.events<ForwardEvent>(),
                         [&](const ForwardEvent &Forward) {
                           return Forward.Site == Escape.Site;
                         });
  }

  void collectBarriers() {
    for (const ZeroGradEvent &ZeroGrad : Entry.events<ZeroGradEvent>())
      if (clears(ZeroGrad)) {
        Clearings.push_back(ZeroGrad.Point);
        Barriers.insert(ZeroGrad.Point);
        addDeliberateConditions(ZeroGrad);
      }
    for (const EscapeEvent &Escape : Entry.events<EscapeEvent>())
      if (Entry.mayAlias(Escape.Places, Concerned) ||
          (Trained.empty() && isUnseenMethod(Escape)))
        Barriers.insert(Escape.Point);
    for (const CreateEvent &Create : Entry.events<CreateEvent>())
      if (createsAfresh(Create))
        Barriers.insert(Create.Point);
    for (const UpdateEvent &Update : Entry.events<UpdateEvent>())
      if (rebinds(Update))
        Barriers.insert(Update.Point);
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
  void addDeliberateConditions(const ZeroGradEvent &Clearing) {
    const Stmt *Statement = Clearing.Site;
    for (const Frame *F = Clearing.In; F; Statement = F->Site, F = F->Caller) {
      if (!Statement || !F->Flow)
        return;
      const Stmt *StepStatement = stepIn(F);
      addDeliberateConditions(*F, Statement, StepStatement);
      // std::for_each over the parameters: an empty list has nothing to clear.
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
      ast::forEachStmt(
          Condition,
          [&](const Stmt *Part) {
            if (const auto *Binary = dyn_cast<BinaryOperator>(Part);
                Binary && Binary->isLogicalOp())
              Deciders.insert(Binary);
          },
          ast::Lambdas::Enter);
    }
    if (Deciders.empty())
      return;
    for (Digraph::Node N = 0; N < Entry.points().size(); ++N) {
      const Segment &S = Entry.segment(N);
      if (S.In != &F || S.Of != Segment::Elements || !Entry.point(N).IsEnd ||
          S.End != S.Block->size())
        continue;
      if (Deciders.count(S.Block->getTerminatorStmt()))
        Barriers.insert(N);
    }
  }

  void addReturnOf(const Frame &Callee) {
    for (Digraph::Node N = 0; N < Entry.points().size(); ++N) {
      const Segment &S = Entry.segment(N);
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
    const ASTContext &Context = Entry.code().context();
    llvm::FoldingSetNodeID Own;
    Condition->Profile(Own, Context, /*Canonical=*/true);
    for (const Stmt *S = StepStatement; S; S = F.Flow->parent(S))
      if (const auto *If = dyn_cast<IfStmt>(S)) {
        llvm::FoldingSetNodeID Other;
        If->getCond()->Profile(Other, Context, true);
        if (Own == Other)
          return true;
      }
    bool Found = false;
    ast::walk(
        Condition,
        [&](const Stmt *S, llvm::ArrayRef<const Stmt *>) {
          if (decides(F, S)) {
            Found = true;
            return ast::Next::Stop;
          }
          // modes[i] says nothing about i.
          return isa<ArraySubscriptExpr, CXXOperatorCallExpr>(S)
                     ? ast::Next::Past
                     : ast::Next::Children;
        },
        ast::Lambdas::Enter);
    return Found;
  }

  /// Such a count, flag or test.
  static bool decides(const Frame &F, const Stmt *S) {
    if (const auto *Binary = dyn_cast<BinaryOperator>(S))
      return Binary->getOpcode() == BO_Rem;
    if (const auto *Cast = dyn_cast<CastExpr>(S))
      return Cast->getCastKind() == CK_PointerToBoolean ||
             Cast->getCastKind() == CK_UserDefinedConversion;
    if (const auto *Call = dyn_cast<CXXMemberCallExpr>(S))
      return torch::asksWhetherThere(Call->getMethodDecl());
    const auto *E = dyn_cast<Expr>(S);
    if (!E || !E->getType()->isIntegralOrEnumerationType())
      return false;
    if (const auto *Ref = dyn_cast<DeclRefExpr>(E))
      return isa<VarDecl>(Ref->getDecl()) && isChanged(F, Ref->getDecl());
    const auto *Member = dyn_cast<MemberExpr>(E);
    return Member && isChanged(F, Member->getMemberDecl());
  }

  /// The function, or one that calls it, counts with D.
  static bool isChanged(const Frame &F, const ValueDecl *D) {
    auto Names = [&](const Expr *E) {
      const Expr *Inner = E->IgnoreParenImpCasts();
      const auto *Ref = dyn_cast<DeclRefExpr>(Inner);
      const auto *Member = dyn_cast<MemberExpr>(Inner);
      return (Ref && Ref->getDecl() == D) ||
             (Member && Member->getMemberDecl() == D);
    };
    auto Changes = [&](const Stmt *S) {
      if (const auto *Unary = dyn_cast<UnaryOperator>(S))
        return Unary->isIncrementDecrementOp() && Names(Unary->getSubExpr());
      const auto *Binary = dyn_cast<BinaryOperator>(S);
      return Binary && Binary->isAssignmentOp() && Names(Binary->getLHS());
    };
    return ast::anyStmt(F.Function->getBody(), Changes, ast::Lambdas::Enter);
  }

  const Execution &Entry;
  const StepEvent &Step;
  /// What the optimizer trains, where that is known.
  PlaceSet Trained;
  bool TrainsTensors = false;
  /// That, and the optimizer.
  PlaceSet Concerned;
  llvm::DenseSet<Digraph::Node> Barriers;
  std::vector<Digraph::Node> Clearings;
};

} // namespace

std::vector<UnclearedStep> unclearedSteps(Program &Program) {
  std::vector<UnclearedStep> Result;
  for (const auto &Entry : Program.executions())
    for (const StepEvent &Step : Entry->events<StepEvent>())
      if (!Entry->loopsAround(Step.Point).empty())
        if (std::optional<UnclearedStep> Found = StepQuery(*Entry, Step).run())
          Result.push_back(*Found);
  return Result;
}

} // namespace torchtidy::model

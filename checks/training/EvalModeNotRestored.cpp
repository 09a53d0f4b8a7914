#include "training/EvalModeNotRestored.h"
#include "ast/Expressions.h"
#include "queries/graphs/UsedChains.h"
#include "queries/loops/Loops.h"
#include "queries/loops/TripCount.h"
#include "queries/modes/Deciders.h"
#include "queries/modes/ModeDependence.h"
#include "queries/paths/Calls.h"
#include "queries/paths/Paths.h"
#include "torch/Callbacks.h"
#include "torch/Types.h"
#include "clang/AST/StmtCXX.h"
#include "llvm/ADT/DenseSet.h"

using namespace clang;

namespace torchtidy::model {

using flow::Loop;
using Node = flow::Digraph::Node;

namespace {

/// One eval(), and one forward pass that trains what it has set.
class EvaluationPassQuery {
public:
  EvaluationPassQuery(const Execution &Entry, const ModeChangeEvent &Eval,
                      const ForwardEvent &Trains)
      : Entry(Entry), Eval(Eval), Trains(Trains) {}

  std::optional<EvalModeNotRestored> run() {
    if (Eval.Mode != mode::Off || Eval.Modules.size() != 1 ||
        Trains.Modules.size() != 1 || !(Trains.Mode & mode::Off))
      return std::nullopt;
    Module = Trains.Modules.front();
    L = loopWithBoth();
    if (!L || !covers(Eval) || Entry.isInForward(Trains.In) ||
        Entry.places().isSummary(Module) ||
        !Entry.outlives(Module, *L).value_or(false) ||
        mostTrips(Entry, *L).value_or(2) < 2 || !isTraining() ||
        !isUnconditional(Entry, Eval.Site, Eval.In, *L, isOccasional))
      return std::nullopt;
    collect();
    EvalModeNotRestored Result;
    Result.Evaluates = evaluation();
    if (!Result.Evaluates)
      return std::nullopt;
    Result.Part = modeDependentPart(Entry, Trains);
    if (Result.Part.empty())
      return std::nullopt;
    Result.Entry = &Entry;
    Result.Eval = &Eval;
    Result.Trains = &Trains;
    Result.Around = L;
    Result.RestoreIn = restoreIn();
    return Result;
  }

private:
  const Loop *loopWithBoth() const {
    const Loop *Result = nullptr;
    for (const Loop *Each : Entry.loopsAround(Eval.Point))
      if (Each->contains(Trains.Point))
        Result = Each;
    return Result;
  }

  /// It sets all of the module that is trained.
  bool covers(const ModeChangeEvent &Change) const {
    return llvm::any_of(Change.Parts, [&](PlaceId P) {
      return Entry.places().isWithin(Module, P);
    });
  }

  bool concerns(const ModeChangeEvent &Change) const {
    return Entry.mayAlias(Change.Parts, Trains.Parts);
  }

  /// A backward() goes through the pass in each iteration, and a step follows
  /// that may be of the module.
  bool isTraining() const {
    if (Trains.GradMode & mode::Off)
      return false;
    const bool IsBackwarded = llvm::any_of(
        Entry.events<BackwardEvent>(), [&](const BackwardEvent &Backward) {
          return L->contains(Backward.Point) && !Backward.HasInputs &&
                 Backward.Root.hasOrigin(Trains.Origin) &&
                 isUnconditional(Entry, Backward.Site, Backward.In, *L,
                                 isOccasional);
        });
    return IsBackwarded &&
           llvm::any_of(Entry.events<StepEvent>(), [&](const StepEvent &Step) {
             return L->contains(Step.Point) && mayTrain(Step);
           });
  }

  bool mayTrain(const StepEvent &Step) const {
    PlaceSet Owners;
    for (PlaceId P : Step.Trained)
      if (llvm::none_of(Step.Optimizers, [&](PlaceId Optimizer) {
            return Entry.places().isWithin(P, Optimizer);
          }))
        insert(Owners, Entry.places().owner(P));
    return Owners.empty() || Entry.mayAlias(Owners, Trains.Parts);
  }

  /// What ends eval mode, or may; and what sets it.
  void collect() {
    for (const ModeChangeEvent &Change : Entry.events<ModeChangeEvent>()) {
      if (!concerns(Change))
        continue;
      if (&Change != &Eval)
        Changes.insert(Change.Point);
      if (Change.Mode == mode::Off) {
        if (covers(Change))
          Evals.insert(Change.Point);
        IsSetElsewhere |= !covers(Change) || !L->contains(Change.Point);
      } else {
        addDeliberateConditions(Change);
        if (Change.Mode == mode::On && covers(Change))
          Beginnings.push_back(Change.Point);
      }
    }
    for (const EscapeEvent &Escape : Entry.events<EscapeEvent>()) {
      if (!Entry.mayAlias(Escape.Places, Trains.Parts))
        continue;
      Changes.insert(Escape.Point);
      if (callsBack(Escape))
        addDeliberateConditions(Escape);
    }
    for (const CallAt &C : callsOf(Entry))
      if (torch::callsForModules(C.Call->getDirectCallee()))
        Changes.insert(C.Point);
    for (const CreateEvent &Create : Entry.events<CreateEvent>())
      if (llvm::any_of(Create.Objects, [&](PlaceId P) {
            return Entry.places().isWithin(Module, P);
          }))
        Changes.insert(Create.Point);
  }

  /// A function that somebody has stored, who may be there to be told when.
  static bool callsBack(const EscapeEvent &Escape) {
    const auto *Call = dyn_cast<CallExpr>(Escape.Site);
    const Expr *Object = Call ? ast::objectOf(Call) : nullptr;
    return Object &&
           torch::kindOf(Object->getType()) == torch::TypeKind::Callable;
  }

  /// Whoever wrote the condition around a train() has decided when it is due:
  /// if (was_training) net->train().
  void addDeliberateConditions(const Event &Restores) {
    for (Node N : decidersOf(Entry, Restores, Trains))
      Changes.insert(N);
  }

  /// A pass that evaluates the module between eval() and the training, which
  /// nothing on the way separates from either.
  const ForwardEvent *evaluation() const {
    Nodes BeforeIt = Changes, BehindIt = Changes;
    BeforeIt.insert(Trains.Point);
    BehindIt.insert(Eval.Point);
    for (const ForwardEvent &Pass : Entry.events<ForwardEvent>())
      if (L->contains(Pass.Point) && !Entry.isInForward(Pass.In) &&
          llvm::any_of(
              Pass.Modules,
              [&](PlaceId P) { return Entry.places().overlap(P, Module); }) &&
          !UsedChains::isUsed(Entry, Pass) && mayTrainOtherwise(Pass) &&
          reaches(Entry, Eval.Point, Pass.Point, BeforeIt) &&
          reaches(Entry, Pass.Point, Trains.Point, BehindIt))
        return &Pass;
    return nullptr;
  }

  /// The module is in train mode where the loop begins; and where it is never
  /// in train mode when it is trained, that is no way to train: the evaluation
  /// is a loop of its own.
  bool mayTrainOtherwise(const ForwardEvent &Pass) const {
    const auto IsReached = [&](Node To) {
      return reaches(Entry, Entry.start(), To, Evals) ||
             llvm::any_of(Beginnings, [&](Node From) {
               return reaches(Entry, From, To, Evals);
             });
    };
    if (!IsReached(L->Header))
      return false;
    return IsReached(Trains.Point) ||
           !Entry.loopsAround(Pass.Point).back()->contains(Trains.Point);
  }

  const CompoundStmt *restoreIn() const {
    const Stmt *Statement = Entry.loopStatement(*L);
    const auto *Call = dyn_cast<CallExpr>(Eval.Site);
    const Expr *Object = Call ? ast::objectOf(Call) : nullptr;
    if (IsSetElsewhere || !Statement || !Object ||
        Entry.beginsIn(Eval.In, *L) ||
        !canMoveBefore(Object, Statement, Eval.In))
      return nullptr;
    Nodes Avoid = Changes;
    Avoid.insert(L->Header);
    if (reaches(Entry, Eval.Point, Trains.Point, Avoid))
      return nullptr;
    return dyn_cast_or_null<CompoundStmt>(bodyOf(Statement));
  }

  static const Stmt *bodyOf(const Stmt *Statement) {
    if (const auto *For = dyn_cast<ForStmt>(Statement))
      return For->getBody();
    if (const auto *Range = dyn_cast<CXXForRangeStmt>(Statement))
      return Range->getBody();
    if (const auto *While = dyn_cast<WhileStmt>(Statement))
      return While->getBody();
    const auto *Do = dyn_cast<DoStmt>(Statement);
    return Do ? Do->getBody() : nullptr;
  }

  const Execution &Entry;
  const ModeChangeEvent &Eval;
  const ForwardEvent &Trains;
  PlaceId Module;
  const Loop *L = nullptr;
  /// Points that no path may pass on which the mode of eval() is kept.
  Nodes Changes;
  Nodes Evals;
  llvm::SmallVector<Node, 4> Beginnings;
  /// Something else sets the module, or a part of it, to eval().
  bool IsSetElsewhere = false;
};

} // namespace

std::vector<EvalModeNotRestored> evalModesNotRestored(Program &Program) {
  std::vector<EvalModeNotRestored> Result;
  for (const auto &Entry : Program.executions())
    for (const ModeChangeEvent &Eval : Entry->events<ModeChangeEvent>())
      for (const ForwardEvent &Trains : Entry->events<ForwardEvent>())
        if (auto Found = EvaluationPassQuery(*Entry, Eval, Trains).run()) {
          Result.push_back(*Found);
          break;
        }
  return Result;
}

} // namespace torchtidy::model

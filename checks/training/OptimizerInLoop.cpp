#include "training/OptimizerInLoop.h"
#include "ast/Expressions.h"
#include "ast/Walk.h"
#include "queries/loops/Epochs.h"
#include "queries/loops/LoopInvariance.h"
#include "queries/loops/Loops.h"
#include "torch/Optimizers.h"
#include "torch/Types.h"
#include "clang/AST/ExprCXX.h"

using namespace clang;

namespace torchtidy::model {

using flow::Loop;

namespace {

class ConstructionQuery {
public:
  ConstructionQuery(const Execution &Entry, Invariance &Same,
                    const CreateEvent &Create)
      : Entry(Entry), Same(Same), Create(Create) {}

  std::optional<OptimizerInLoop> run() {
    const auto Around = Entry.loopsAround(Create.Point);
    // What new makes has an event of its constructor, too.
    if (Around.empty() || !Create.Site || isa<CXXNewExpr>(Create.Site) ||
        Create.Objects.size() != 1)
      return std::nullopt;
    Optimizer = Create.Objects.front();
    const Loop &L = *Around.back();
    readSite();
    if (torch::kindOf(Class) != torch::TypeKind::Optimizer ||
        Arguments.empty() ||
        !torch::keepsState(Class, Arguments, Entry.code().context()))
      return std::nullopt;
    const StepEvent *Step = onlyStep(L);
    const bool IsForEpoch = Step == nullptr;
    if (IsForEpoch)
      Step = stepsOfEpoch(L);
    if (!Step || !isUnconditional(Entry, Create.Site, Create.In, L) ||
        !trainsTheSame(*Step, L) || isRestored(L) || isGivenAway())
      return std::nullopt;
    OptimizerInLoop Result;
    Result.Entry = &Entry;
    Result.Create = &Create;
    Result.Step = Step;
    Result.Around = &L;
    Result.IsForEpoch = IsForEpoch;
    Result.Class = Class;
    Result.Variable = Entry.places().variable(Optimizer);
    if (!Result.Variable)
      Result.Variable = Entry.ownerOf(Optimizer);
    const auto *Local = dyn_cast_or_null<VarDecl>(Result.Variable);
    Result.Before = IsForEpoch ? &L : beforeWhich(*Step, Around);
    Result.CanMove =
        Local && Local->hasInit() && !Local->getType()->isPointerType() &&
        !isLetGo(Local, *Result.Before) &&
        canMoveBefore(Local->getInit(), Entry.loopStatement(*Result.Before),
                      Create.In);
    return Result;
  }

private:
  /// What is made there, and with what.
  void readSite() {
    if (const auto *Construct = dyn_cast<CXXConstructExpr>(Create.Site)) {
      Class = Construct->getType();
      Arguments.assign(Construct->arg_begin(), Construct->arg_end());
    } else if (const auto *Call = dyn_cast<CallExpr>(Create.Site)) {
      const Expr *Object = ast::objectOf(Call);
      Class = torch::pointee(Object ? Object->getType() : Call->getType());
      Arguments = ast::argumentsOf(Call);
    }
    if (!Class.isNull())
      Class = Class.getUnqualifiedType();
  }

  /// Its step, where the loop makes one with each that it constructs.
  const StepEvent *onlyStep(const Loop &L) const {
    const StepEvent *Result = nullptr;
    for (const StepEvent &Step : Entry.events<StepEvent>()) {
      if (!llvm::is_contained(Step.Optimizers, Optimizer))
        continue;
      if (!L.contains(Step.Point) ||
          Entry.loopsAround(Step.Point).back() != &L || Step.HasClosure ||
          (Result && (Result->Site != Step.Site || Result->In != Step.In)))
        return nullptr;
      Result = &Step;
    }
    return Result;
  }

  /// Its steps, where each iteration of L is an epoch of one training, which it
  /// alone makes: one for each batch. Not where the settings of the optimizer
  /// are others in each epoch, a schedule that is written so; nor where the
  /// loop gives what it trains to code that may begin anew.
  const StepEvent *stepsOfEpoch(const Loop &L) {
    const StepEvent *Result = nullptr;
    const Loop *Batches = nullptr;
    for (const StepEvent &Step : Entry.events<StepEvent>()) {
      if (!L.contains(Step.Point))
        continue;
      const Loop *Inner = Entry.loopsAround(Step.Point).back();
      if (Inner == &L || (Batches && Inner != Batches))
        return nullptr;
      Batches = Inner;
      if (!llvm::is_contained(Step.Optimizers, Optimizer))
        continue;
      if (Step.HasClosure ||
          (Result && (Result->Site != Step.Site || Result->In != Step.In)))
        return nullptr;
      Result = &Step;
    }
    return Result && goesOn(*Result, L, *Batches) ? Result : nullptr;
  }

  /// In the epochs that L counts one optimizer could go on.
  bool goesOn(const StepEvent &Step, const Loop &L, const Loop &Batches) {
    return llvm::all_of(Arguments,
                        [&](const Expr *Argument) {
                          return isa<CXXDefaultArgExpr>(Argument) ||
                                 Same.isInvariant(Argument, Create.In, L);
                        }) &&
           !isGivenToTrain(Step, L) && areEpochs(Entry, Same, L, Batches);
  }

  /// The loop over batches, or that over the epochs around it: made between the
  /// two it would forget its state once for each epoch.
  const Loop *beforeWhich(const StepEvent &Step,
                          llvm::ArrayRef<const Loop *> Around) {
    const Loop *Batches = Around.back();
    if (Around.size() < 2)
      return Batches;
    const Loop *Outer = Around[Around.size() - 2];
    const Stmt *Statement = Entry.loopStatement(*Outer);
    return Statement && Create.In->Flow &&
                   Create.In->Flow->isInside(Create.Site, Statement) &&
                   goesOn(Step, *Outer, *Batches)
               ? Outer
               : Batches;
  }

  /// Code that cannot be seen gets in L what the steps train.
  bool isGivenToTrain(const StepEvent &Step, const Loop &L) const {
    return llvm::any_of(
        Entry.events<EscapeEvent>(), [&](const EscapeEvent &Escape) {
          return L.contains(Escape.Point) &&
                 llvm::any_of(Escape.Places, [&](PlaceId P) {
                   return llvm::any_of(Step.Trained, [&](PlaceId Q) {
                     return Entry.places().overlap(P, Entry.places().owner(Q));
                   });
                 });
        });
  }

  /// The same tensors in every iteration, which nothing but steps changes.
  bool trainsTheSame(const StepEvent &Step, const Loop &L) {
    if (Step.Trained.empty() ||
        !Same.isInvariant(Arguments.front(), Create.In, L))
      return false;
    const PlaceTable &Places = Entry.places();
    return llvm::all_of(Step.Trained, [&](PlaceId P) {
      const PlaceId Owner = Places.owner(P);
      return !Places.isWithin(Owner, Optimizer) &&
             Entry.outlives(Owner, L).value_or(false) && !isBrought(Owner, L);
    });
  }

  /// Something in L gives the owner of parameters other values, or makes it
  /// anew. What forward() writes are statistics of what goes through it.
  bool isBrought(PlaceId Owner, const Loop &L) const {
    const auto IsOfOwner = [&](PlaceId P) {
      return Entry.places().overlap(P, Owner);
    };
    return llvm::any_of(Entry.events<WriteEvent>(),
                        [&](const WriteEvent &Write) {
                          return L.contains(Write.Point) &&
                                 !Entry.isInForward(Write.In) &&
                                 llvm::any_of(Write.Places, IsOfOwner);
                        }) ||
           llvm::any_of(Entry.events<LoadEvent>(),
                        [&](const LoadEvent &Load) {
                          return L.contains(Load.Point) &&
                                 llvm::any_of(Load.Loaded, IsOfOwner);
                        }) ||
           llvm::any_of(Entry.events<UpdateEvent>(),
                        [&](const UpdateEvent &Update) {
                          return L.contains(Update.Point) &&
                                 llvm::is_contained(Update.Places, Owner);
                        }) ||
           llvm::any_of(Entry.events<CreateEvent>(),
                        [&](const CreateEvent &Made) {
                          return L.contains(Made.Point) &&
                                 llvm::any_of(Made.Objects, IsOfOwner);
                        });
  }

  /// The loop moves, resets or replaces what V owns.
  bool isLetGo(const VarDecl *V, const Loop &L) const {
    return llvm::any_of(Entry.events<UpdateEvent>(),
                        [&](const UpdateEvent &Update) {
                          return L.contains(Update.Point) &&
                                 llvm::any_of(Update.Places, [&](PlaceId P) {
                                   return Entry.places().variable(P) == V;
                                 });
                        });
  }

  /// What optimizers keep is loaded, or set.
  bool isRestored(const Loop &L) const {
    const bool IsLoaded =
        llvm::any_of(Entry.events<LoadEvent>(), [&](const LoadEvent &Load) {
          return L.contains(Load.Point) &&
                 llvm::is_contained(Load.Loaded, Optimizer);
        });
    return IsLoaded || llvm::any_of(Entry.graph().frames(), [](const auto &F) {
             return F->Function &&
                    ast::anyStmt(
                        F->Function->getBody(),
                        [](const Stmt *S) {
                          const auto *Call = dyn_cast<CXXMemberCallExpr>(S);
                          return Call &&
                                 torch::bringsState(Call->getMethodDecl());
                        },
                        ast::Lambdas::Enter);
           });
  }

  bool isGivenAway() const {
    return llvm::any_of(
        Entry.events<EscapeEvent>(), [&](const EscapeEvent &Escape) {
          return llvm::any_of(Escape.Places,
                              [&](PlaceId P) {
                                return Entry.places().isWithin(P, Optimizer);
                              }) ||
                 llvm::is_contained(Escape.Given.Refs, Optimizer);
        });
  }

  const Execution &Entry;
  Invariance &Same;
  const CreateEvent &Create;
  PlaceId Optimizer;
  QualType Class;
  llvm::SmallVector<const Expr *, 4> Arguments;
};

} // namespace

std::vector<OptimizerInLoop> optimizersInLoop(Program &Program) {
  std::vector<OptimizerInLoop> Result;
  for (const auto &Entry : Program.executions()) {
    Invariance Same(*Entry);
    for (const CreateEvent &Create : Entry->events<CreateEvent>()) {
      // make_unique makes the object and the pointer, at one site.
      const bool IsKnown =
          llvm::any_of(Result, [&](const OptimizerInLoop &Known) {
            return Known.Entry == Entry.get() &&
                   Known.Create->Site == Create.Site &&
                   Known.Create->In == Create.In;
          });
      if (!IsKnown)
        if (auto Found = ConstructionQuery(*Entry, Same, Create).run())
          Result.push_back(*Found);
    }
  }
  return Result;
}

} // namespace torchtidy::model

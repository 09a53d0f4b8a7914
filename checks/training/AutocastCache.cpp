#include "training/AutocastCache.h"
#include "ast/Expressions.h"
#include "ast/Walk.h"
#include "queries/graphs/Training.h"
#include "queries/loops/Loops.h"
#include "queries/modes/AutocastRegions.h"
#include "queries/modes/Deciders.h"
#include "queries/modes/UnseenCalls.h"
#include "torch/Autocast.h"
#include "torch/Devices.h"
#include "torch/Options.h"
#include "torch/Types.h"

using namespace clang;

namespace torchtidy::model {

using Node = flow::Digraph::Node;

/// It comes out the same in every iteration: a flag that has a name, what asks
/// for the device.
static bool isFlag(const Expr *Condition) {
  const Expr *Asked = ast::strip(Condition);
  if (const auto *Call = dyn_cast<CallExpr>(Asked);
      Call && torch::asksForDevice(Call->getDirectCallee()))
    return true;
  if (const auto *Binary = dyn_cast<BinaryOperator>(Asked)) {
    if (Binary->isLogicalOp())
      return isFlag(Binary->getLHS()) && isFlag(Binary->getRHS());
    return Binary->isEqualityOp() &&
           torch::isDeviceType(Binary->getLHS()->getType());
  }
  return isa<DeclRefExpr, MemberExpr>(Asked) &&
         Asked->getType()->isBooleanType();
}

static bool mayRecur(const Expr *Condition) {
  return isFlag(Condition) || isOccasional(Condition);
}

namespace {

/// What is the same for all steps of an entry.
class Cache {
public:
  explicit Cache(const Execution &Entry) : Entry(Entry), Regions(Entry) {
    if (Regions.isEmpty())
      return;
    for (const CastEvent &Cast : Entry.events<CastEvent>())
      if (const AutocastEvent *On = Regions.switchOf(Cast))
        if (isOfDevice(*On, Cast) &&
            !isUnderOwnCondition(On->Site, On->In, Cast, isFlag))
          Casts.push_back({&Cast, On});
    if (Casts.empty())
      return;
    for (const OpaqueEvent &Call : Entry.events<OpaqueEvent>())
      if (maySwitchMode(Entry, Call) || mayBeModeGuard(Call))
        Unseen.insert(Call.Point);
  }

  std::optional<AutocastCache> behind(const StepEvent &Step) const {
    if (Casts.empty())
      return std::nullopt;
    const std::optional<PlaceSet> Trained = ownersOf(Entry, Step.Trained);
    if (!Trained)
      return std::nullopt;
    for (const auto &[Stale, On] : Casts)
      if (isTrained(Stale->Weights, *Trained) && livesOn(*On, Step, *Stale) &&
          isStale(*Stale, Step))
        return AutocastCache{&Entry, &Step, On, Stale};
    return std::nullopt;
  }

private:
  /// Autocast that is on for one device leaves the others alone.
  static bool isOfDevice(const AutocastEvent &On, const CastEvent &Cast) {
    const std::optional<Device> There = Cast.Where.OnDevice.get();
    if (On.Of && There && *On.Of != *There)
      return false;
    const bool MayBeCpu =
        On.Of ? *On.Of == Device::CPU : !There || *There == Device::CPU;
    return !Cast.IsOnCpuOnly || MayBeCpu;
  }

  /// Whatever the destructor of a guard does is not always followed: one in an
  /// optional.
  bool emptiesAtEnd(const AutocastEvent &On) const {
    const CXXDestructorDecl *End = undoingDestructor(On.In);
    if (!End)
      return false;
    const Stmt *Body = End->getBody();
    return !Body || ast::anyStmt(
                        Body,
                        [](const Stmt *S) {
                          const auto *Call = dyn_cast<CallExpr>(S);
                          return Call && mayEmpty(*Call);
                        },
                        ast::Lambdas::Enter);
  }

  /// No guard has emptied the cache between the two: there is none that does,
  /// or it is a local variable that is declared before a loop with both in it,
  /// and ends after the loop.
  bool livesOn(const AutocastEvent &On, const Event &Step,
               const Event &Cast) const {
    if (!emptiesAtEnd(On))
      return true;
    const Frame *Guard = On.In;
    while (Guard && !isa<CXXConstructorDecl>(Guard->Function))
      Guard = Guard->Caller;
    const Frame *Around = Guard ? Guard->Caller : nullptr;
    const Stmt *Scope =
        Around ? scopeOfVariable(Around, dyn_cast_or_null<Expr>(Guard->Site))
               : nullptr;
    const auto IsIn = [&](const Event &E) {
      const Stmt *There = statementIn(Around, E);
      return There && Around->Flow->isInside(There, Scope);
    };
    if (!Scope || !IsIn(Step) || !IsIn(Cast))
      return false;
    const auto Of = [&](const Event &E) { return Entry.loopsAround(E.Point); };
    const auto AroundOn = Of(On), AroundCast = Of(Cast);
    return llvm::any_of(Of(Step), [&](const auto &Each) {
      return llvm::is_contained(AroundCast, Each) &&
             !llvm::is_contained(AroundOn, Each);
    });
  }

  static bool mayEmpty(const CallExpr &Call) {
    const FunctionDecl *Callee = Call.getDirectCallee();
    return !Callee || !(torch::isLibTorch(Callee) || torch::isStd(Callee)) ||
           torch::autocastCall(&Call) == torch::AutocastCall::EmptyCache;
  }

  bool isTrained(PlaceId Weights, const PlaceSet &Trained) const {
    return llvm::any_of(Trained, [&](PlaceId Outer) {
      return Entry.places().isWithin(Weights, Outer);
    });
  }

  bool isStale(const CastEvent &Stale, const StepEvent &Step) const {
    if (isUnderOwnCondition(Stale.Site, Stale.In, Step, mayRecur) ||
        isUnderOwnCondition(Step.Site, Step.In, Stale, mayRecur))
      return false;
    if (llvm::any_of(Entry.events<OpaqueEvent>(), [&](const OpaqueEvent &Each) {
          return mayBeModeGuard(Each) && endsBetween(Each, Step, Stale);
        }))
      return false;
    const Nodes Emptied = emptied(Stale);
    return reaches(Entry, Step.Point, Stale.Point, Emptied) &&
           llvm::any_of(Casts, [&](const auto &Before) {
             return Before.first->Weights == Stale.Weights &&
                    livesOn(*Before.second, Step, *Before.first) &&
                    reaches(Entry, Before.first->Point, Step.Point, Emptied);
           });
  }

  /// Where nothing is kept of the weights any more, or may be kept.
  Nodes emptied(const CastEvent &Stale) const {
    Nodes Result = Unseen;
    for (const AutocastEvent &Change : Entry.events<AutocastEvent>())
      if (Change.How == AutocastChange::EmptyCache) {
        Result.insert(Change.Point);
        for (Node N : decidersOf(Entry, Change, Stale))
          Result.insert(N);
      }
    for (const CreateEvent &Create : Entry.events<CreateEvent>())
      if (begins(Entry, Create, {Stale.Weights}))
        Result.insert(Create.Point);
    return Result;
  }

  const Execution &Entry;
  const AutocastRegions Regions;
  /// Those that happen under autocast, each with what has switched it on.
  llvm::SmallVector<std::pair<const CastEvent *, const AutocastEvent *>, 8>
      Casts;
  Nodes Unseen;
};

} // namespace

std::vector<AutocastCache> autocastCaches(Program &Program) {
  std::vector<AutocastCache> Result;
  if (hasOtherAutocast(Program))
    return Result;
  for (const auto &Entry : Program.executions()) {
    const Cache Kept(*Entry);
    for (const StepEvent &Step : Entry->events<StepEvent>())
      if (auto Found = Kept.behind(Step); Found && !convertsModules(*Entry))
        Result.push_back(*Found);
  }
  return Result;
}

} // namespace torchtidy::model

#include "queries/graphs/UnguardedThreads.h"
#include "ast/Expressions.h"
#include "ast/Walk.h"
#include "queries/graphs/InnerDerivatives.h"
#include "queries/graphs/UnusedGraphs.h"
#include "queries/loops/TripCount.h"
#include "queries/modes/UnseenCalls.h"
#include "queries/paths/Paths.h"
#include "clang/AST/ASTLambda.h"

using namespace clang;

namespace torchtidy::model {

using Node = flow::Digraph::Node;

static bool isOff(uint8_t Mode) {
  return Mode && !(Mode & ~(mode::Off | mode::Inference));
}

/// E hands F to something: by its name, as a lambda, or as a variable that is
/// one.
static bool mentions(const Stmt *E, const FunctionDecl *F) {
  const auto IsLambda = [&](const Expr *Init) {
    const auto *Lambda =
        dyn_cast_or_null<LambdaExpr>(Init ? ast::stripCopies(Init) : nullptr);
    return Lambda && Lambda->getCallOperator() == F;
  };
  return ast::anyStmt(
      E,
      [&](const Stmt *S) {
        if (const auto *Lambda = dyn_cast<LambdaExpr>(S))
          return IsLambda(Lambda);
        const auto *Ref = dyn_cast<DeclRefExpr>(S);
        const auto *V = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
        return (Ref &&
                Ref->getDecl()->getCanonicalDecl() == F->getCanonicalDecl()) ||
               (V && IsLambda(V->getInit()));
      },
      ast::Lambdas::Skip);
}

namespace {

/// The forward passes of one entry.
class ThreadQuery {
public:
  ThreadQuery(const Execution &Entry, const UsedChains &Used)
      : Entry(Entry), Used(Used) {
    for (const GradModeChangeEvent &Change :
         Entry.events<GradModeChangeEvent>()) {
      (isOff(Change.Mode) ? Offs : Ons).insert(Change.Point);
      if (Change.By == GradModeBy::Thread &&
          Entry.segment(Change.Point).Of == Segment::Enter)
        Begins[Change.In] = &Change;
    }
    for (const OpaqueEvent &Call : Entry.events<OpaqueEvent>())
      if (maySwitchMode(Entry, Call))
        Unseen.insert(Call.Point);
  }

  void run(std::vector<UnguardedThread> &Result) const {
    if (Begins.empty())
      return;
    for (const ForwardEvent &Forward : Entry.events<ForwardEvent>())
      if (mayBeRecordedInVain(Forward))
        if (std::optional<UnguardedThread> Found = ask(Forward))
          Result.push_back(*Found);
  }

private:
  /// As far as that can be told without the thread that it runs in.
  bool mayBeRecordedInVain(const ForwardEvent &Forward) const {
    if (Entry.isInForward(Forward.In) || UsedChains::isUsed(Entry, Forward) ||
        mayDifferentiateInside(Entry, Forward))
      return false;
    // Nobody knows what a future gives.
    if (llvm::any_of(Entry.events<GraphUseEvent>(), [](const auto &Use) {
          return Use.Is != Event::Inspect && Use.Root.Origins.empty();
        }))
      return false;
    return Forward.Mode == mode::Off || !leavesEntry(Entry, Forward);
  }

  std::optional<UnguardedThread> ask(const ForwardEvent &Forward) const {
    const Frame *Thread = Forward.In;
    while (Thread && !Begins.count(Thread))
      Thread = Thread->Caller;
    if (!Thread || !Thread->Caller)
      return std::nullopt;
    const GradModeChangeEvent &Begin = *Begins.lookup(Thread);
    UnguardedThread Result;
    Result.Entry = &Entry;
    Result.Forward = &Forward;
    Result.Start = Thread->Site;
    if (!isStarted(Result, Begin) && !isTask(Result, Begin) &&
        !isStatic(Result, Begin))
      return std::nullopt;
    Result.In = Forward.In;
    Result.Site = Forward.Site;
    const Frame *Given = Result.Is == UnguardedThread::Static
                             ? Result.Guard->In
                             : givenTo(Thread, Forward.In);
    // What others train through on the way there is a helper.
    while (Result.In != Given) {
      if (!Result.In->Caller)
        return std::nullopt;
      Result.Site = Result.In->Site;
      Result.In = Result.In->Caller;
    }
    if (!Result.Site || Used.Sites.count(Result.Site))
      return std::nullopt;
    if (!isUnseen(Forward) && Result.Is != UnguardedThread::Static)
      Result.GuardScope = guardScope(Used, Result.In, Result.Site);
    return Result;
  }

  /// What somebody outside of the thread has written for it: the task that runs
  /// the pass, or else the function that the thread begins with.
  static const Frame *givenTo(const Frame *Thread, const Frame *In) {
    for (const Frame *F = In; F != Thread; F = F->Caller)
      if (isHandedIn(F, Thread))
        return F;
    return Thread;
  }

  /// F runs something in Thread that was stored elsewhere: no lambda that is
  /// written in what the thread runs.
  static bool isHandedIn(const Frame *F, const Frame *Thread) {
    if (!F->Callable)
      return false;
    const DeclContext *Around =
        isLambdaCallOperator(static_cast<const DeclContext *>(F->Function))
            ? F->Function->getParent()->getParent()
            : nullptr;
    const auto *Writer = dyn_cast_or_null<FunctionDecl>(Around);
    for (const Frame *G = F->Caller; Writer && G; G = G->Caller) {
      if (G->Function->getCanonicalDecl() == Writer->getCanonicalDecl())
        return !G->isWithin(Thread);
    }
    return true;
  }

  /// Nothing between the begin of the thread and the pass sets grad mode.
  bool isAsAtBegin(const GradModeChangeEvent &Begin, const ForwardEvent &To,
                   const Nodes &Besides = {}) const {
    Nodes Others = Ons;
    Others.insert(Offs.begin(), Offs.end());
    Others.insert(Unseen.begin(), Unseen.end());
    for (Node N : Besides)
      Others.erase(N);
    Others.erase(Begin.Point);
    return reaches(Entry, Begin.Point, To.Point, Others);
  }

  bool isRecorded(const ForwardEvent &Forward) const {
    return Forward.GradMode == mode::On && Forward.Result.mayHaveGraph() &&
           !(Forward.Result.History & history::None);
  }

  bool isStarted(UnguardedThread &Result,
                 const GradModeChangeEvent &Begin) const {
    const ForwardEvent &Forward = *Result.Forward;
    const bool IsSpread = Begin.In->IsSpread;
    if (!isOff(Begin.GradMode) || !isAsAtBegin(Begin, Forward) ||
        !(IsSpread
              ? (Forward.GradMode & mode::On) && Forward.Result.mayHaveGraph()
              : isRecorded(Forward)))
      return false;
    Result.Is = IsSpread ? UnguardedThread::Spread : UnguardedThread::Started;
    Result.Guard = guardAt(Begin.Point, Begin.In);
    return Result.Guard != nullptr;
  }

  /// What has switched grad mode off there, outside of Thread.
  const GradModeChangeEvent *guardAt(Node At, const Frame *Thread) const {
    const GradModeChangeEvent *Result = nullptr;
    for (const GradModeChangeEvent &Change :
         Entry.events<GradModeChangeEvent>())
      if (Change.Site && isOff(Change.Mode) && !Change.In->isWithin(Thread) &&
          reaches(Entry, Change.Point, At, Ons) &&
          (!Result || !Entry.comesBefore(Change.Point, Result->Point)))
        Result = &Change;
    return Result;
  }

  /// Grad mode is off there on every path.
  bool isOffAt(Node At) const {
    if (reaches(Entry, Entry.start(), At, Offs))
      return false;
    return llvm::none_of(
        Ons, [&](Node On) { return On != At && reaches(Entry, On, At, Offs); });
  }

  /// The pass is in a task that others hand to the thread, each of them with
  /// grad mode off.
  bool isTask(UnguardedThread &Result, const GradModeChangeEvent &Begin) const {
    const Frame *Thread = Begin.In;
    const Frame *Task = givenTo(Thread, Result.Forward->In);
    if (Task == Thread || Thread->IsSpread || !isRecorded(*Result.Forward) ||
        !isAsAtBegin(Begin, *Result.Forward))
      return false;
    for (Node N = 0; N < Entry.points().size(); ++N) {
      const Segment &S = Entry.segment(N);
      if (S.Of != Segment::Enter || Entry.eventAt(N) || Entry.point(N).IsEnd ||
          !S.In->Caller || !S.In->Site || S.In->isWithin(Thread) ||
          !mentions(S.In->Site, Task->Function))
        continue;
      if (!isOffAt(N))
        return false;
      Result.Guard = guardAt(N, Thread);
      Result.Start = S.In->Site;
    }
    Result.Is = UnguardedThread::Task;
    return Result.Guard != nullptr;
  }

  /// Several threads run the pass, and all that holds grad mode off in them is
  /// static: it was made once.
  bool isStatic(UnguardedThread &Result,
                const GradModeChangeEvent &Begin) const {
    const Frame *Thread = Begin.In;
    if (!(Result.Forward->GradMode & mode::Off))
      return false;
    Nodes Statics;
    for (const GradModeChangeEvent &Change :
         Entry.events<GradModeChangeEvent>()) {
      if (!Change.In->isWithin(Thread) || !isStaticGuard(Change))
        continue;
      Statics.insert(Change.Point);
      if (reaches(Entry, Change.Point, Result.Forward->Point, {}))
        Result.Guard = &Change;
    }
    Result.Is = UnguardedThread::Static;
    return Result.Guard &&
           (isRunTwice(Begin) || isMetElsewhere(*Result.Guard, Thread)) &&
           isAsAtBegin(Begin, *Result.Forward, Statics);
  }

  bool isStaticGuard(const GradModeChangeEvent &Change) const {
    const PlaceTable &Places = Entry.places();
    if (Change.By != GradModeBy::GuardBegins || !Change.Guard ||
        !Places.isRoot(*Change.Guard))
      return false;
    const VarDecl *V = Places.variable(*Change.Guard);
    return V && V->isStaticLocal() && V->getTSCSpec() == TSCS_unspecified;
  }

  bool isRunTwice(const GradModeChangeEvent &Begin) const {
    for (const flow::Loop *L : Entry.loopsAround(Begin.Point))
      if (mostTrips(Entry, *L).value_or(2) >= 2)
        return true;
    return llvm::any_of(Begins, [&](const auto &Other) {
      return Other.first != Begin.In &&
             Other.first->Function == Begin.In->Function;
    });
  }

  /// Another thread, with code of its own, comes by the same guard.
  bool isMetElsewhere(const GradModeChangeEvent &Guard,
                      const Frame *Thread) const {
    return llvm::any_of(Entry.events<GradModeChangeEvent>(),
                        [&](const GradModeChangeEvent &Other) {
                          return Other.Guard && Other.Guard == Guard.Guard &&
                                 isStaticGuard(Other) &&
                                 !Other.In->isWithin(Thread) &&
                                 llvm::any_of(Begins, [&](const auto &Begin) {
                                   return Other.In->isWithin(Begin.first);
                                 });
                        });
  }

  const Execution &Entry;
  const UsedChains &Used;
  /// Where grad mode is off from, where it may be on from, and where code runs
  /// that may set it.
  Nodes Offs, Ons, Unseen;
  llvm::DenseMap<const Frame *, const GradModeChangeEvent *> Begins;
};

} // namespace

std::vector<UnguardedThread> unguardedThreads(Program &Program) {
  UsedChains Used;
  for (const auto &Entry : Program.executions())
    Used.add(*Entry);
  std::vector<UnguardedThread> Result;
  for (const auto &Entry : Program.executions())
    ThreadQuery(*Entry, Used).run(Result);
  return Result;
}

} // namespace torchtidy::model

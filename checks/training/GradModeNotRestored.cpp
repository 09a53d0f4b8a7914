#include "training/GradModeNotRestored.h"
#include "ast/Walk.h"
#include "queries/loops/Loops.h"
#include "queries/modes/Deciders.h"
#include "queries/modes/UnseenCalls.h"
#include "queries/paths/Calls.h"
#include "queries/paths/Paths.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/ExprCXX.h"
#include "clang/Basic/SourceManager.h"

using namespace clang;

namespace torchtidy::model {

using Node = flow::Digraph::Node;

/// The static variable, or the member, that is the guard, or the plain pointer
/// that leads to it on the heap: it lives on when the scope is left that it is
/// made in. Null for others.
static const ValueDecl *lastingGuard(const Execution &Entry, PlaceId Guard) {
  const PlaceTable &Places = Entry.places();
  if (Places.rootKind(Guard) == Root::Object) {
    const ValueDecl *Owner = Entry.ownerOf(Guard);
    return Owner && Owner->getType()->isPointerType() ? Owner : nullptr;
  }
  if (!Places.isRoot(Guard))
    return Places.step(Guard).Of == Step::Field ? Places.step(Guard).Member
                                                : nullptr;
  const VarDecl *V = Places.variable(Guard);
  return V && V->isStaticLocal() ? V : nullptr;
}

namespace {

/// One place that switches grad mode off, and one that needs a graph.
class UseQuery {
public:
  UseQuery(const Execution &Entry, const GradModeChangeEvent &Off,
           const GraphUseEvent &Use)
      : Entry(Entry), Off(Off), Use(Use) {}

  std::optional<GradModeNotRestored> run() {
    IsUndoneBeside = undoneBeside();
    if (isUnderOwn(Use.Site, Use.In, Off))
      return std::nullopt;
    collect();
    if (isOffUnderOwn())
      return std::nullopt;
    if (!reaches(Off.Point, Use.Point))
      return std::nullopt;
    GradModeNotRestored Result;
    Result.Pass = unrecorded();
    if (!Result.Pass && !isNeverRecorded())
      return std::nullopt;
    Result.Entry = &Entry;
    Result.Off = &Off;
    Result.Use = &Use;
    Result.Restores = restoring();
    return Result;
  }

private:
  /// They may exclude one another. Where the block that switches it off
  /// switches it on at its end, a way out between the two leaves it off,
  /// whoever has asked for the block.
  bool isUnderOwn(const Stmt *S, const Frame *F, const Event &Beside) const {
    return !IsUndoneBeside && isUnderOwnCondition(S, F, Beside, isOccasional);
  }

  /// The same of where it is switched off. A function that goes on to evaluate
  /// has had what it wanted grad mode off for: whether it is called decides
  /// nothing about training that comes all the same.
  bool isOffUnderOwn() const {
    const Frame *Ends = evaluating();
    if (Ends && mayLeaveBetween(Ends))
      Ends = nullptr;
    const auto IsOutside = [&](const Expr *Condition) {
      for (const Frame *F = Off.In; F; F = F->Caller) {
        if (F->Flow && F->Flow->isInside(Condition, F->Function->getBody()))
          return false;
        if (F == Ends)
          break;
      }
      return true;
    };
    return !IsUndoneBeside &&
           isUnderOwnCondition(Off.Site, Off.In, Use, [&](const Expr *E) {
             return isOccasional(E) || (Ends && IsOutside(E));
           });
  }

  /// if (evaluates) validate(net); if (!trains) return; train(net);
  bool mayLeaveBetween(const Frame *Ends) const {
    const Frame *Around = Ends->Caller;
    const Stmt *Needs = nullptr, *Switches = Ends->Site;
    for (; Around && !(Needs = statementIn(Around, Use));
         Around = Around->Caller)
      Switches = Around->Site;
    if (!Around || !Switches)
      return true;
    const SourceManager &SM = Entry.code().context().getSourceManager();
    const auto IsBefore = [&](const Stmt *A, const Stmt *B) {
      return SM.isBeforeInTranslationUnit(A->getBeginLoc(), B->getBeginLoc());
    };
    if (IsBefore(Needs, Switches))
      std::swap(Needs, Switches);
    return ast::anyStmt(
        Around->Function->getBody(),
        [&](const Stmt *S) {
          return isa<ReturnStmt, BreakStmt, ContinueStmt, GotoStmt,
                     CXXThrowExpr>(S) &&
                 IsBefore(Switches, S) && IsBefore(S, Needs);
        },
        ast::Lambdas::Skip);
  }

  /// The innermost activation that switches it off and runs a network after it,
  /// and ends before the training; null where there is none. What a constructor
  /// switches off may be meant for as long as its object lives.
  const Frame *evaluating() const {
    for (const Frame *F = Off.In;
         F && F->Caller && F->Flow && !Use.In->isWithin(F); F = F->Caller) {
      if (isa<CXXConstructorDecl>(F->Function))
        return nullptr;
      if (llvm::any_of(
              Entry.events<ForwardEvent>(), [&](const ForwardEvent &Pass) {
                return Pass.GradMode == mode::Off && Pass.In->isWithin(F) &&
                       reaches(Off.Point, Pass.Point);
              }))
        return F;
    }
    return nullptr;
  }

  /// The block that the call is a statement of; null where something decides
  /// about it there.
  static const Stmt *blockAround(const GradModeChangeEvent &E) {
    const flow::ControlFlow *Flow = E.In->Flow;
    const Stmt *Around = Flow ? Flow->parent(E.Site) : nullptr;
    while (isa_and_nonnull<FullExpr>(Around))
      Around = Flow->parent(Around);
    return dyn_cast_or_null<CompoundStmt>(Around);
  }

  /// And what needs the graph stands elsewhere.
  bool undoneBeside() const {
    const Stmt *Block = Off.By == GradModeBy::Set ? blockAround(Off) : nullptr;
    const Stmt *Needs = Block ? statementIn(Off.In, Use) : nullptr;
    return Block && !(Needs && Off.In->Flow->isInside(Needs, Block)) &&
           llvm::any_of(Entry.events<GradModeChangeEvent>(),
                        [&](const GradModeChangeEvent &Change) {
                          return Change.By == GradModeBy::Set && Change.Site &&
                                 Change.Mode == mode::On &&
                                 Change.In == Off.In &&
                                 blockAround(Change) == Block &&
                                 model::reaches(Entry, Off.Point, Change.Point,
                                                /*Avoid=*/{});
                        });
  }

  /// Grad mode is as Off has set it on the whole path.
  bool reaches(Node From, Node To) const {
    return model::reaches(Entry, From, To, Changes);
  }

  static bool mayBeOn(uint8_t Mode) {
    return Mode & (mode::On | mode::Inherited);
  }

  /// A guard that begins only behind Off restores what Off has set.
  bool restoresOff(const GradModeChangeEvent &Change) const {
    if (Change.By != GradModeBy::GuardEnds || !Change.Guard)
      return false;
    Nodes Begins;
    for (const GradModeChangeEvent &Begin : Entry.events<GradModeChangeEvent>())
      if (Begin.By == GradModeBy::GuardBegins && Begin.Guard == Change.Guard &&
          Begin.In == Change.In)
        Begins.insert(Begin.Point);
    return !Begins.empty() &&
           !model::reaches(Entry, Off.Point, Change.Point, Begins);
  }

  void collect() {
    for (const GradModeChangeEvent &Change :
         Entry.events<GradModeChangeEvent>())
      if (&Change != &Off && mayBeOn(Change.Mode) && !restoresOff(Change)) {
        Changes.insert(Change.Point);
        for (Node N : decidersOf(Entry, Change, Use))
          Changes.insert(N);
      }
    for (const OpaqueEvent &Call : Entry.events<OpaqueEvent>())
      if (maySwitchMode(Entry, Call))
        Changes.insert(Call.Point);
  }

  /// What the graph would begin with is computed with grad mode off, and so is
  /// all that follows.
  const Expr *unrecorded() const {
    if (Use.Root.ManyOrigins)
      return nullptr;
    for (OriginId Id : Use.Root.Origins) {
      const Origin &From = Entry.origin(Id);
      if (!From.isBuilder() || !From.Site ||
          isUnderOwn(From.Site, From.In, Use))
        continue;
      for (Node N : pointsOf(Id, From))
        if (reaches(Off.Point, N) && reaches(N, Use.Point))
          return From.Site;
    }
    return nullptr;
  }

  llvm::SmallVector<Node, 2> pointsOf(OriginId Id, const Origin &From) const {
    llvm::SmallVector<Node, 2> Result;
    for (const ForwardEvent &Pass : Entry.events<ForwardEvent>())
      if (Pass.Origin == Id)
        Result.push_back(Pass.Point);
    if (!Result.empty())
      return Result;
    for (const CallAt &Each : callsOf(Entry))
      if (Each.Call == From.Site && Each.In == From.In)
        Result.push_back(Each.Point);
    return Result;
  }

  /// Grad mode is off on all paths, so that nothing was ever recorded.
  bool isNeverRecorded() const {
    return !mayBeOn(Use.GradMode) && Use.Root.History == history::None &&
           Entry.comesBefore(Off.Point, Use.Point);
  }

  const GradModeChangeEvent *restoring() const {
    for (const GradModeChangeEvent &Change :
         Entry.events<GradModeChangeEvent>())
      if (Change.By == GradModeBy::Set && mayBeOn(Change.Mode) &&
          Off.By == GradModeBy::Set && Change.In == Off.In &&
          reaches(Off.Point, Change.Point))
        return &Change;
    return nullptr;
  }

  const Execution &Entry;
  const GradModeChangeEvent &Off;
  const GraphUseEvent &Use;
  /// Points behind which grad mode may be on, or is what somebody has decided.
  Nodes Changes;
  bool IsUndoneBeside = false;
};

} // namespace

/// It switches grad mode off, and not for the scope it is written in.
static bool isLasting(const Execution &Entry, const GradModeChangeEvent &E) {
  if (!E.Site || (E.Mode & ~(mode::Off | mode::Inference)) ||
      !(E.GradMode & (mode::On | mode::Inherited)) || undoingDestructor(E.In))
    return false;
  if (E.By == GradModeBy::Set)
    return true;
  return E.By == GradModeBy::GuardBegins && E.Guard &&
         lastingGuard(Entry, *E.Guard);
}

static std::optional<GradModeNotRestored>
firstOf(const Execution &Entry, const GradModeChangeEvent &Off) {
  for (const GraphUseEvent &Use : Entry.events<GraphUseEvent>()) {
    if (Use.Is == Event::Inspect || !(Use.GradMode & mode::Off) ||
        (Use.Root.History & history::Leaf))
      continue;
    auto Found = UseQuery(Entry, Off, Use).run();
    if (!Found)
      continue;
    if (Off.Guard)
      Found->Guard = lastingGuard(Entry, *Off.Guard);
    return Found;
  }
  return std::nullopt;
}

std::vector<GradModeNotRestored> gradModesNotRestored(Program &Program) {
  std::vector<GradModeNotRestored> Result;
  for (const auto &Entry : Program.executions())
    for (const GradModeChangeEvent &Off : Entry->events<GradModeChangeEvent>())
      if (isLasting(*Entry, Off))
        if (auto Found = firstOf(*Entry, Off))
          Result.push_back(*Found);
  return Result;
}

} // namespace torchtidy::model

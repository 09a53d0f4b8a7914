#include "model/execution/Execution.h"
#include "ast/Expressions.h"
#include "ast/Names.h"
#include "flow/Solver.h"
#include "model/domains/aliases/Transfer.h"
#include "model/interpreter/Interpreter.h"
#include "model/machine/Outside.h"
#include "torch/Modules.h"
#include "torch/Std.h"
#include "torch/Types.h"
#include "clang/AST/StmtCXX.h"
#include "clang/Basic/SourceManager.h"
#include "llvm/ADT/StringExtras.h"

using namespace clang;

namespace torchtidy::model {

using flow::Digraph;
using flow::Loop;

/// What the solver's visits cost: the values that a state holds are copied, and
/// some of them are read and written. More than all that is left when the
/// states take too much memory.
namespace {

class Meter {
public:
  Meter(const Tables &Names, unsigned Nodes) : Names(Names), Kept(Nodes) {}

  unsigned long operator()(const State &Before, Digraph::Node N) {
    const unsigned Size = Before.Places.size();
    Held += Size - Kept[N];
    Kept[N] = Size;
    if (Held > Execution::MaxHeld)
      return ~0ul;
    const unsigned long Price = 1 + Size + (Names.Work - Counted);
    Counted = Names.Work;
    Total += Price;
    return Price;
  }
  unsigned long total() const { return Total; }

private:
  const Tables &Names;
  /// By node, how many values its state held when it was last visited.
  std::vector<unsigned> Kept;
  unsigned long Held = 0, Counted = 0, Total = 0;
};

} // namespace

Execution::Execution(Code &User, const FunctionDecl *Root, bool IsThread,
                     unsigned Depth)
    : User(User), Graph(User, Root, IsThread, Depth) {
  Interpreter Meaning(Graph, User);
  auto Transfer = [&](Digraph::Node N, const State &Before) {
    return Meaning.transfer(Graph.segment(N), Before);
  };
  auto Join = [&](State &Into, const State &From, Digraph::Node) {
    return Meaning.join(Into, From);
  };
  Meter Price(Meaning.names(), Graph.graph().size());
  flow::Solution<State> Solved = flow::solve(
      Graph.graph(), Graph.entry(), Meaning.initialState(), Transfer, Join,
      flow::Direction::Forward, MaxWork, std::ref(Price));
  Complete = Solved.Complete;
  Work = Price.total();
  if (!Complete)
    return;
  record(Meaning, Solved.Before);
  const Tables &Names = Meaning.names();
  Places = Names.Places;
  Origins = Names.Origins;
  Allocations = Names.Allocations;
  Lent = Names.Loans;
  Saves = Names.Saves;
  Overwrites = Names.Overwrites;
}

/// Once more over the solved states, now taking down what happens.
void Execution::record(Interpreter &Meaning,
                       const std::vector<std::optional<State>> &Before) {
  bool HasEnd = false;
  const unsigned Size = Graph.graph().size();
  std::vector<Digraph::Node> Starts(Size), Ends(Size);
  for (Digraph::Node N = 0; N < Size; ++N) {
    auto Add = [&](int EventIndex, bool IsEnd) {
      PointInfo.push_back({N, EventIndex, IsEnd});
      return Points.addNode();
    };
    Starts[N] = Ends[N] = Add(-1, false);
    const Segment &Current = Graph.segment(N);
    if (Current.Of == Segment::Enter)
      Begins.try_emplace(Current.In, Starts[N]);
    // A condition that is decided the other way leads nowhere.
    if (!Before[N] || !Before[N]->GradMode) {
      Ends[N] = Add(-1, true);
      continue;
    }
    auto Append = [&](Digraph::Node Next) {
      Points.addEdge(Ends[N], Next);
      Ends[N] = Next;
    };
    auto Take = [&](EventPtr E) {
      Append(Add(Events.size(), false));
      E->Point = Ends[N];
      if (E->Is == Event::Forward)
        ForwardSites.insert({E->In, E->Site});
      ByKind[E->Is].push_back(E.get());
      Events.push_back(std::move(E));
    };
    const Machine::Recorder Record = Take;
    State After = Meaning.transfer(Current, *Before[N], &Record);
    if (!After.GradMode) {
      Ends[N] = Add(-1, true);
      continue;
    }
    Append(Add(-1, true));
    if (!Graph.graph().successors(N).empty())
      continue;
    if (HasEnd)
      Meaning.join(AtEnd, After);
    else
      AtEnd = std::move(After);
    HasEnd = true;
  }
  for (Digraph::Node N = 0; N < Size; ++N)
    for (Digraph::Node Next : Graph.graph().successors(N))
      Points.addEdge(Ends[N], Starts[Next]);
  First = Starts[Graph.entry()];
  LoopNest.emplace(Points, First);
}

Value Execution::heldAtEnd(PlaceId P) const {
  Value Result;
  for (const auto &[Held, V] : AtEnd.Places)
    if (Places.isWithin(Held, P))
      Result.join(V);
  return Result;
}

PlaceSet Execution::holdersAtEnd(AllocationId Memory) const {
  return aliases::holders(Places, AtEnd, Memory);
}

bool Execution::beginsIn(const Frame *F, const Loop &L) const {
  for (; F; F = F->Caller) {
    auto It = Begins.find(F);
    if (It != Begins.end() && L.contains(It->second))
      return true;
  }
  return false;
}

bool Execution::isFromOutside(PlaceId P) const {
  return model::isFromOutside(Places, Graph, P);
}

std::optional<bool> Execution::outlives(PlaceId P, const Loop &L) const {
  PlaceId RootPlace = Places.rootOf(P);
  switch (Places.rootKind(RootPlace)) {
  case Root::This:
  case Root::Global:
    return true;
  case Root::Outer:
  case Root::Background:
    return std::nullopt;
  case Root::Local:
  case Root::Object:
  case Root::Receiver:
    break;
  }
  const Frame *Owner = Graph.frames()[Places.frame(RootPlace)].get();
  if (Owner->Caller && Owner->Site && beginsIn(Owner, L))
    return false;
  bool Created = false;
  for (const CreateEvent &Create : events<CreateEvent>())
    if (llvm::is_contained(Create.Objects, RootPlace)) {
      Created = true;
      if (L.contains(Create.Point))
        return false;
    }
  if (Created || isFromOutside(RootPlace))
    return true;
  if (Places.rootKind(RootPlace) == Root::Local) {
    // References have no life of their own that would be an event.
    const VarDecl *V = Places.variable(RootPlace);
    const Stmt *Statement = loopStatement(L);
    return !(Statement &&
             Statement->getSourceRange().fullyContains(V->getSourceRange()));
  }
  return std::nullopt;
}

/// The variable or member that E names.
static const ValueDecl *namedBy(const Expr *E) {
  E = ast::strip(E);
  if (const auto *Ref = dyn_cast<DeclRefExpr>(E))
    return Ref->getDecl();
  const auto *Member = dyn_cast<MemberExpr>(E);
  return Member ? Member->getMemberDecl() : nullptr;
}

/// E is what Maker makes: itself, or a smart pointer over it.
static bool isMadeBy(const Expr *E, const Expr *Maker) {
  return E && ast::stripCopies(E) == ast::strip(Maker);
}

/// What S, the nearest statement around Maker that binds something, binds to
/// its result.
static const ValueDecl *boundBy(const Stmt *S, const Expr *Maker) {
  if (const auto *Declaration = dyn_cast<DeclStmt>(S))
    for (const Decl *D : Declaration->decls())
      if (const auto *V = dyn_cast<VarDecl>(D);
          V && isMadeBy(V->getInit(), Maker))
        return V;
  if (const auto *Assign = dyn_cast<BinaryOperator>(S);
      Assign && Assign->isAssignmentOp() && isMadeBy(Assign->getRHS(), Maker))
    return namedBy(Assign->getLHS());
  const auto *Call = dyn_cast<CallExpr>(S);
  const Expr *Object = Call ? ast::objectOf(Call) : nullptr;
  if (!Object)
    return nullptr;
  const auto Arguments = ast::argumentsOf(Call);
  const FunctionDecl *Callee = Call->getDirectCallee();
  const bool Binds =
      Callee &&
      (Callee->getOverloadedOperator() == OO_Equal ||
       (torch::meaning(Callee) == torch::StdMeaning::Reset &&
        torch::kindOf(Object->getType()) == torch::TypeKind::Pointer));
  return Binds && Arguments.size() == 1 && isMadeBy(Arguments[0], Maker)
             ? namedBy(Object)
             : nullptr;
}

const ValueDecl *Execution::ownerOf(PlaceId P) const {
  const auto *Maker =
      Places.isRoot(P) && Places.rootKind(P) == Root::Object
          ? llvm::dyn_cast_if_present<const Expr *>(Places.key(P))
          : nullptr;
  const auto *Call = dyn_cast_or_null<CallExpr>(Maker);
  const bool IsOnHeap = isa_and_nonnull<CXXNewExpr>(Maker) ||
                        (Call && torch::makesObject(Call->getDirectCallee()));
  if (!IsOnHeap)
    return nullptr;
  const Frame *In = Graph.frames()[Places.frame(P)].get();
  // The initializers of a constructor have no parents in its control flow.
  if (const auto *Constructor = dyn_cast<CXXConstructorDecl>(In->Function))
    for (const CXXCtorInitializer *Init : Constructor->inits()) {
      const Expr *From = Init->getInit();
      if (const auto *Default = dyn_cast_or_null<CXXDefaultInitExpr>(From))
        From = Default->getExpr();
      if (Init->isAnyMemberInitializer() && isMadeBy(From, Maker))
        return Init->getAnyMember();
    }
  for (const Stmt *S = In->Flow ? In->Flow->parent(Maker) : nullptr; S;
       S = In->Flow->parent(S)) {
    if (const ValueDecl *Owner = boundBy(S, Maker))
      return Owner;
    if (!isa<Expr>(S))
      break;
  }
  return nullptr;
}

bool Execution::mayAlias(PlaceId A, PlaceId B) const {
  // The second of a network's parts may be any of its members.
  if (Places.overlap(Places.toldApart(A), Places.toldApart(B)))
    return true;
  PlaceId RootA = Places.rootOf(A), RootB = Places.rootOf(B);
  // Two members of one object are two objects.
  if (RootA == RootB)
    return false;
  // Two parameters are taken to be two objects. What is a member here may be a
  // parameter elsewhere.
  const bool AreParameters = Places.rootKind(RootA) == Root::Local &&
                             Places.rootKind(RootB) == Root::Local;
  return !AreParameters && isFromOutside(A) && isFromOutside(B);
}

bool Execution::mayAlias(const PlaceSet &A, const PlaceSet &B) const {
  for (PlaceId P : A)
    for (PlaceId Q : B)
      if (mayAlias(P, Q))
        return true;
  return false;
}

bool Execution::comesBefore(Digraph::Node A, Digraph::Node B) const {
  if (!Order)
    Order.emplace(Points, First);
  return Order->dominates(A, B);
}

static bool isLoopStatement(const Stmt *S) {
  return isa_and_nonnull<ForStmt, WhileStmt, DoStmt, CXXForRangeStmt>(S);
}

const Stmt *Execution::loopStatement(const Loop &L) const {
  const Stmt *Best = nullptr;
  const Frame *BestFrame = nullptr;
  const Frame *Repeated = nullptr;
  for (unsigned N : L.Body.set_bits()) {
    const Segment &S = segment(N);
    if (S.Of == Segment::Enter && S.In->Site &&
        (!Repeated || S.In->Depth < Repeated->Depth))
      Repeated = S.In;
    if (S.Of != Segment::Elements || !point(N).IsEnd)
      continue;
    const Stmt *Terminator = S.Block->getTerminatorStmt();
    if (!isLoopStatement(Terminator))
      continue;
    const bool IsBetter =
        !Best || S.In->Depth < BestFrame->Depth ||
        (S.In == BestFrame && S.In->Flow->isInside(Best, Terminator));
    if (IsBetter) {
      Best = Terminator;
      BestFrame = S.In;
    }
  }
  // A function that an algorithm repeats has no loop statement around it.
  if (Repeated && (!BestFrame || Repeated->Depth <= BestFrame->Depth) &&
      segment(L.Header).Of == Segment::Enter)
    return Repeated->Site;
  return Best;
}

llvm::SmallVector<const Loop *, 4>
Execution::loopsAround(Digraph::Node N) const {
  llvm::SmallVector<const Loop *, 4> Result = LoopNest->around(N);
  std::reverse(Result.begin(), Result.end());
  return Result;
}

bool Execution::isInForward(const Frame *F) const {
  for (; F; F = F->Caller) {
    if (F->Site && F->Caller && ForwardSites.count({F->Caller, F->Site}))
      return true;
    const auto *Method = dyn_cast<CXXMethodDecl>(F->Function);
    // Clang leaves a base class out that it does not know.
    if (Method && torch::isForward(Method) &&
        (torch::kindOf(Method->getParent()) == torch::TypeKind::Module ||
         Method->getASTContext().getDiagnostics().hasErrorOccurred()))
      return true;
  }
  return false;
}

bool Execution::isScratchOfForward(PlaceId P) const {
  const PlaceId RootPlace = Places.rootOf(P);
  const Root Kind = Places.rootKind(RootPlace);
  const bool IsOfFrame =
      Kind == Root::Local || Kind == Root::Object || Kind == Root::Receiver;
  return IsOfFrame &&
         isInForward(Graph.frames()[Places.frame(RootPlace)].get());
}

} // namespace torchtidy::model

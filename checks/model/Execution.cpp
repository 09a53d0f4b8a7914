#include "model/Execution.h"
#include "flow/Solver.h"
#include "torch/Types.h"
#include "clang/AST/StmtCXX.h"

using namespace clang;

namespace torchtidy::model {

using flow::Digraph;
using flow::Loop;

Execution::Execution(Code &Program, const FunctionDecl *Root, bool IsThread)
    : Program(Program), Graph(Program, Root, IsThread) {
  Interpreter Meaning(Graph, Program);
  auto Transfer = [&](Digraph::Node N, const State &Before) {
    return Meaning.transfer(Graph.segment(N), Before, nullptr);
  };
  auto Join = [&](State &Into, const State &From, Digraph::Node) {
    return Meaning.join(Into, From);
  };
  flow::Solution<State> Solved =
      flow::solve(Graph.graph(), Graph.entry(), Meaning.initialState(),
                  Transfer, Join, flow::Direction::Forward, MaxWork,
                  [](const State &Before) { return 1 + Before.Places.size(); });
  Complete = Solved.Complete;

  // Once more over the solved states, now taking down what happens.
  bool HasEnd = false;
  std::vector<Digraph::Node> First(Graph.graph().size()),
      Last(Graph.graph().size());
  for (Digraph::Node N = 0; N < Graph.graph().size(); ++N) {
    auto Add = [&](int EventIndex, bool IsEnd) {
      PointInfo.push_back({N, EventIndex, IsEnd});
      return Points.addNode();
    };
    First[N] = Last[N] = Add(-1, false);
    const Segment &Current = Graph.segment(N);
    if (Current.Of == Segment::Enter)
      Begins.try_emplace(Current.In, First[N]);
    if (!Solved.Before[N])
      continue;
    auto Append = [&](Digraph::Node Next) {
      Points.addEdge(Last[N], Next);
      Last[N] = Next;
    };
    auto Take = [&](Event E) {
      Append(Add(Events.size(), false));
      E.Point = Last[N];
      if (E.Kind == EventKind::Forward)
        ForwardSites.insert({E.In, E.Site});
      Events.push_back(std::move(E));
    };
    const Interpreter::Recorder Record = Take;
    State After = Meaning.transfer(Current, *Solved.Before[N], &Record);
    Append(Add(-1, true));
    if (Graph.graph().successors(N).empty()) {
      if (HasEnd)
        Meaning.join(AtEnd, After);
      else
        AtEnd = std::move(After);
      HasEnd = true;
    }
  }
  for (Digraph::Node N = 0; N < Graph.graph().size(); ++N)
    for (Digraph::Node Next : Graph.graph().successors(N))
      Points.addEdge(Last[N], First[Next]);
  this->First = First[Graph.entry()];
  Loops.emplace(Points, this->First);
  Places = Meaning.places();
  Origins = Meaning.origins();
  GivenUp = Meaning.givenUp();
  Lent.assign(Meaning.loans().begin(), Meaning.loans().end());
  DefaultTypeChanges = Meaning.changesDefaultType();
}

Value Execution::heldAtEnd(PlaceId P) const {
  Value Result;
  for (const auto &[Held, V] : AtEnd.Places)
    if (Places.isWithin(Held, P))
      Result.join(V);
  return Result;
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
  PlaceId RootPlace = Places.rootOf(P);
  switch (Places.rootKind(RootPlace)) {
  case Root::This:
  case Root::Global:
  case Root::Outer:
    return true;
  case Root::Object:
    return false;
  case Root::Local:
    return isa<ParmVarDecl>(
               static_cast<const VarDecl *>(Places.key(RootPlace))) &&
           !Graph.frames()[Places.frame(RootPlace)]->Site;
  }
  return true;
}

std::optional<bool> Execution::outlives(PlaceId P, const Loop &L) const {
  PlaceId RootPlace = Places.rootOf(P);
  switch (Places.rootKind(RootPlace)) {
  case Root::This:
  case Root::Global:
    return true;
  case Root::Outer:
    return std::nullopt;
  case Root::Local:
  case Root::Object:
    break;
  }
  const Frame *Owner = Graph.frames()[Places.frame(RootPlace)].get();
  if (Owner->Caller && Owner->Site && beginsIn(Owner, L))
    return false;
  bool Created = false;
  for (const Event &E : Events)
    if (E.Kind == EventKind::Create &&
        llvm::is_contained(E.Places, RootPlace)) {
      Created = true;
      if (L.contains(E.Point))
        return false;
    }
  if (Created || isFromOutside(RootPlace))
    return true;
  if (Places.rootKind(RootPlace) == Root::Local) {
    // References have no life of their own that would be an event.
    const auto *V = static_cast<const VarDecl *>(Places.key(RootPlace));
    const Stmt *Statement = loopStatement(L);
    return !(Statement &&
             Statement->getSourceRange().fullyContains(V->getSourceRange()));
  }
  return std::nullopt;
}

bool Execution::mayAlias(PlaceId A, PlaceId B) const {
  if (Places.overlap(A, B))
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
  llvm::SmallVector<const Loop *, 4> Result = Loops->around(N);
  std::reverse(Result.begin(), Result.end());
  return Result;
}

bool Execution::isInForward(const Frame *F) const {
  for (; F; F = F->Caller) {
    if (F->Site && F->Caller && ForwardSites.count({F->Caller, F->Site}))
      return true;
    const auto *Method = dyn_cast<CXXMethodDecl>(F->Function);
    if (Method && Method->getIdentifier() && Method->getName() == "forward" &&
        torch::kindOf(Method->getParent()) == torch::TypeKind::Module)
      return true;
  }
  return false;
}

bool Execution::isScratchOfForward(PlaceId P) const {
  const PlaceId RootPlace = Places.rootOf(P);
  const Root Kind = Places.rootKind(RootPlace);
  return (Kind == Root::Local || Kind == Root::Object) &&
         isInForward(Graph.frames()[Places.frame(RootPlace)].get());
}

static std::string describe(const PlaceTable &Places, const PlaceSet &Set) {
  std::string Result;
  for (PlaceId P : Set) {
    std::string Name = Places.name(P);
    Result += (Result.empty() ? "" : ", ") + std::to_string(P) +
              (Name.empty() ? "" : ":" + Name);
  }
  return "{" + Result + "}";
}

void Execution::print(llvm::raw_ostream &Out) const {
  static const char *const Names[] = {
      "forward",     "backward", "grad",     "step",     "zero-grad",
      "mode-change", "load",     "create",   "store",    "release",
      "escape",      "allocate", "transfer", "write",    "combine",
      "inspect",     "discard",  "train",    "register", "replace",
      "borrow",      "end",      "touch",    "hold",     "fill"};
  const SourceManager &SM = Program.context().getSourceManager();
  Out << "execution of " << root().Function->getNameAsString() << ", "
      << Graph.graph().size() << " segments, " << Graph.frames().size()
      << " frames, " << Places.size() << " places"
      << (Complete ? "" : ", incomplete") << '\n';
  for (const Event &E : Events) {
    Out << "  " << E.Point << ' ' << Names[static_cast<unsigned>(E.Kind)]
        << " frame " << E.In->Id;
    if (E.Site)
      Out << " line " << SM.getExpansionLineNumber(E.Site->getBeginLoc());
    Out << " places " << describe(Places, E.Places) << " history "
        << unsigned(E.Result.History) << " refs "
        << describe(Places, E.Result.Refs) << " origins";
    for (OriginId Id : E.Result.Origins)
      Out << ' ' << Id;
    Out << (E.Result.ManyOrigins ? " many" : "");
    if (!E.Input.DecidedBy.empty()) {
      Out << " decided by";
      for (OriginId Id : E.Input.DecidedBy)
        Out << ' ' << Id;
    }
    Out << " origin " << E.Origin << " grad-mode " << unsigned(E.GradMode)
        << " loops " << Loops->around(E.Point).size() << '\n';
  }
}

} // namespace torchtidy::model

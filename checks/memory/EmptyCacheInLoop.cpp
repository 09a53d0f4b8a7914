#include "memory/EmptyCacheInLoop.h"
#include "ast/Expressions.h"
#include "ast/Walk.h"
#include "queries/loops/Loops.h"
#include "queries/loops/TripCount.h"
#include "queries/paths/Calls.h"
#include "torch/Api.h"
#include "torch/Devices.h"
#include "torch/Measurement.h"
#include "torch/Modules.h"
#include "torch/Types.h"
#include "clang/Analysis/CFG.h"
#include "llvm/ADT/DenseSet.h"

using namespace clang;

namespace torchtidy::model {

using flow::Loop;

/// A loop of fewer iterations goes through phases, or tries again.
static constexpr uint64_t FewRounds = 16;

/// Comes out the same in every iteration: torch::cuda::is_available(),
/// device.is_cuda(), device.type() == torch::kCUDA, a variable that is declared
/// with one of them.
static bool asksForDevice(const Expr *Condition) {
  const Expr *E = Condition ? ast::strip(Condition) : nullptr;
  if (!E)
    return false;
  if (const auto *Not = dyn_cast<UnaryOperator>(E))
    return Not->getOpcode() == UO_LNot && asksForDevice(Not->getSubExpr());
  if (const auto *Binary = dyn_cast<BinaryOperator>(E))
    return Binary->isLogicalOp()
               ? asksForDevice(Binary->getLHS()) &&
                     asksForDevice(Binary->getRHS())
               : torch::maySayDevice(ast::strip(Binary->getLHS())->getType());
  if (const auto *Call = dyn_cast<CallExpr>(E)) {
    const auto *Operator = dyn_cast<CXXOperatorCallExpr>(Call);
    return Operator && Operator->isComparisonOp()
               ? torch::maySayDevice(Operator->getArg(0)->getType())
               : torch::asksForDevice(Call->getDirectCallee());
  }
  const auto *Ref = dyn_cast<DeclRefExpr>(E);
  const auto *V = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
  return V && V->getInit() && asksForDevice(V->getInit());
}

static const FunctionDecl *callee(const Stmt *S) {
  const auto *Call = dyn_cast_or_null<CallExpr>(S);
  return Call ? Call->getDirectCallee() : nullptr;
}

/// The function does nothing but empty caches and wait for the device.
static bool onlyEmpties(const FunctionDecl *F) {
  bool Result = F && F->getBody();
  const auto Visit = [&](const Stmt *S, llvm::ArrayRef<const Stmt *>) {
    const auto *E = dyn_cast<Expr>(S);
    const FunctionDecl *Callee = callee(S);
    if (Callee && (torch::emptiesCache(Callee) || torch::isMeasurement(Callee)))
      return ast::Next::Past;
    if (E && E->getType()->isBooleanType() && asksForDevice(E))
      return ast::Next::Past;
    const auto *Unary = dyn_cast<UnaryOperator>(S);
    const auto *Binary = dyn_cast<BinaryOperator>(S);
    if (isa<CallExpr, CXXConstructExpr, CXXNewExpr>(S) ||
        (Unary && Unary->isIncrementDecrementOp()) ||
        (Binary && Binary->isAssignmentOp())) {
      Result = false;
      return ast::Next::Stop;
    }
    return ast::Next::Children;
  };
  if (Result)
    ast::walk(F->getBody(), Visit, ast::Lambdas::Enter);
  return Result;
}

namespace {

class EmptiedCacheQuery {
public:
  EmptiedCacheQuery(const Execution &Entry, const std::vector<CallAt> &Calls)
      : Entry(Entry), Calls(Calls) {}

  std::optional<EmptiedCache> run(const CallAt &Empties) {
    const auto Around = Entry.loopsAround(Empties.Point);
    if (Around.empty())
      return std::nullopt;
    L = Around.back();
    if (isOuterLoop(Entry, *L) || !worksItself() || changesModels() ||
        measuresMemory() ||
        mostTrips(Entry, *L).value_or(FewRounds) < FewRounds ||
        !isUnconditional(Entry, Empties.Call, Empties.In, *L, asksForDevice) ||
        isPassedBy(Empties))
      return std::nullopt;
    EmptiedCache Result;
    Result.Entry = &Entry;
    Result.Empties = Result.Call = Empties.Call;
    Result.In = Empties.In;
    Result.Around = L;
    while (Entry.beginsIn(Result.In, *L) && Result.In->Caller &&
           onlyEmpties(Result.In->Function)) {
      const auto *Site = dyn_cast_or_null<CallExpr>(Result.In->Site);
      if (!Site)
        break;
      Result.Call = Site;
      Result.In = Result.In->Caller;
    }
    return Result;
  }

private:
  /// In L, and in no loop inside of it.
  bool isDirectlyIn(flow::Digraph::Node N) const {
    return L->contains(N) && Entry.loopsAround(N).back() == L;
  }

  static bool isWork(const Event &E) {
    return isa<ForwardEvent, BackwardEvent, StepEvent, TransferEvent,
               AllocateEvent>(E);
  }

  /// The iteration computes with tensors. Where no network runs in it, a
  /// function that cannot be seen may be the one that does all the work.
  bool worksItself() const {
    bool Computes = false;
    for (const Event &E : Entry.events())
      if (isWork(E) && isDirectlyIn(E.Point)) {
        if (isa<ForwardEvent, BackwardEvent>(E))
          return true;
        Computes = true;
      }
    for (const CallAt &C : Calls)
      if (isDirectlyIn(C.Point)) {
        if (isUnseen(C.Call))
          return false;
        Computes |= torch::classify(C.Call).Kind == torch::Api::Operation;
      }
    return Computes;
  }

  /// A function of the user's that another file defines, and that is given
  /// what it takes to do the work: a network, or an object that may have one.
  static bool isUnseen(const CallExpr *Call) {
    const FunctionDecl *Callee = Call->getDirectCallee();
    if (Callee && (Callee->isDefined() || torch::isLibTorch(Callee) ||
                   torch::isStd(Callee) || Callee->getBuiltinID() ||
                   torch::classify(Call).Kind != torch::Api::Foreign))
      return false;
    const auto MayCompute = [](const Expr *E) {
      const CXXRecordDecl *Class = torch::recordOf(E->getType());
      return torch::isModule(E->getType()) ||
             (Class && !torch::isLibTorch(Class) && !torch::isStd(Class) &&
              torch::mayHoldTensor(E->getType()));
    };
    const Expr *Object = ast::objectOf(Call);
    return (Object && MayCompute(Object)) ||
           llvm::any_of(ast::argumentsOf(Call), MayCompute);
  }

  /// Each iteration is a phase with a model of its own, whose memory the next
  /// one has no use for.
  bool changesModels() const {
    for (const CreateEvent &Create : Entry.events<CreateEvent>())
      if (L->contains(Create.Point) && makesModule(Create))
        return true;
    for (const LoadEvent &Load : Entry.events<LoadEvent>())
      if (L->contains(Load.Point))
        return true;
    for (const CallAt &C : Calls) {
      const Expr *Object =
          L->contains(C.Point) ? ast::objectOf(C.Call) : nullptr;
      if (Object && torch::isModule(Object->getType()) &&
          torch::movesParameters(C.Call->getDirectCallee()))
        return true;
    }
    return llvm::any_of(
        Entry.events<ForwardEvent>(), [&](const ForwardEvent &Forward) {
          return isDirectlyIn(Forward.Point) &&
                 !Entry.isInForward(Forward.In) && !isOneModule(Forward);
        });
  }

  /// The same in each iteration: no element of a list, nothing that begins with
  /// the iteration.
  bool isOneModule(const ForwardEvent &Forward) const {
    return !Forward.Modules.empty() &&
           llvm::all_of(Forward.Modules, [&](PlaceId P) {
             return !Entry.places().isSummary(P) &&
                    Entry.outlives(P, *L).value_or(true);
           });
  }

  bool makesModule(const CreateEvent &Create) const {
    const auto IsModule = [](QualType Type) {
      return !Type.isNull() && torch::isModule(Type);
    };
    if (Create.Site && IsModule(Create.Site->getType()))
      return true;
    return llvm::any_of(Create.Objects, [&](PlaceId P) {
      const VarDecl *V = Entry.places().variable(P);
      return V && IsModule(V->getType()) && !V->getType()->isReferenceType() &&
             !V->getType()->isPointerType();
    });
  }

  bool measuresMemory() const {
    return llvm::any_of(Calls, [&](const CallAt &C) {
      return L->contains(C.Point) &&
             torch::asksForMemory(C.Call->getDirectCallee());
    });
  }

  /// An iteration may compute and go on without the call: by continue.
  bool isPassedBy(const CallAt &Empties) const {
    llvm::DenseSet<flow::Digraph::Node> Gates;
    for (const CallAt &C : Calls)
      if (C.Call == Empties.Call && C.In == Empties.In)
        Gates.insert(C.Point);
    addDeviceBranches(Empties, Gates);
    llvm::DenseSet<flow::Digraph::Node> Work;
    for (const Event &E : Entry.events())
      if (isWork(E) && isDirectlyIn(E.Point))
        Work.insert(E.Point);
    return flow::mayReachVia(
               Entry.points(), L->Header,
               [&](flow::Digraph::Node N) { return Work.count(N) != 0; },
               [&](flow::Digraph::Node N) { return N == L->Header; },
               [&](flow::Digraph::Node N) {
                 return !L->contains(N) || Gates.count(N) != 0;
               })
        .has_value();
  }

  /// Points where a branch for the sake of the device decides about the call.
  void addDeviceBranches(const CallAt &Empties,
                         llvm::DenseSet<flow::Digraph::Node> &Gates) const {
    llvm::DenseSet<std::pair<const Frame *, const Stmt *>> Branches;
    const Stmt *S = Empties.Call;
    for (const Frame *F = Empties.In; F && F->Flow && S;
         S = F->Site, F = F->Caller)
      for (S = F->Flow->parent(S); S; S = F->Flow->parent(S))
        if (const auto *If = dyn_cast<IfStmt>(S);
            If && asksForDevice(If->getCond())) {
          Branches.insert({F, If});
          ast::forEachStmt(
              If->getCond(),
              [&](const Stmt *Part) { Branches.insert({F, Part}); },
              ast::Lambdas::Skip);
        }
    for (flow::Digraph::Node N = 0; N < Entry.points().size(); ++N) {
      const Segment &In = Entry.segment(N);
      if (In.Block && Branches.count({In.In, In.Block->getTerminatorStmt()}))
        Gates.insert(N);
    }
  }

  const Execution &Entry;
  const std::vector<CallAt> &Calls;
  const Loop *L = nullptr;
};

} // namespace

std::vector<EmptiedCache> emptiedCaches(Program &Program) {
  std::vector<EmptiedCache> Result;
  for (const Execution *Entry : Program.executionsThatCost()) {
    const std::vector<CallAt> Calls = callsOf(*Entry);
    EmptiedCacheQuery Query(*Entry, Calls);
    for (const CallAt &C : Calls)
      if (torch::emptiesCache(C.Call->getDirectCallee()))
        if (auto Found = Query.run(C))
          Result.push_back(*Found);
  }
  return Result;
}

} // namespace torchtidy::model

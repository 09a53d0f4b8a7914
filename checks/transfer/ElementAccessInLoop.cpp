#include "transfer/ElementAccessInLoop.h"
#include "ast/Expressions.h"
#include "ast/Locations.h"
#include "ast/Walk.h"
#include "queries/devices/DeviceUse.h"
#include "queries/loops/LoopCounters.h"
#include "queries/loops/LoopInvariance.h"
#include "queries/loops/Loops.h"
#include "queries/loops/Once.h"
#include "queries/loops/TripCount.h"
#include "queries/memory/Numbers.h"
#include "queries/memory/Sizes.h"
#include "queries/paths/Calls.h"
#include "torch/Api.h"
#include "torch/Elements.h"
#include "torch/Members.h"
#include "torch/Types.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/StmtCXX.h"
#include <map>
#include <set>

using namespace clang;

namespace torchtidy::model {

using flow::Loop;

/// So few accesses each time cost less than whatever is around them.
static constexpr uint64_t FewAccesses = 64;
/// So many take a tenth of a second, once: some two microseconds each, see
/// docs/checks/torch-element-access-in-loop.md.
static constexpr uint64_t ManyAccesses = 65536;

namespace {

struct Access {
  CallAt At;
  ElementAccessInLoop::Kind How;
  ElementPath Path;
  /// Of what is written, where that is an element of a tensor itself.
  ElementPath From;
  /// The loops that go on from element to element, innermost first.
  llvm::SmallVector<const Loop *, 4> Loops;
};

/// t[i][j] = u[i]: a part of a tensor gets what another tensor has.
const CXXOperatorCallExpr *tensorAssignment(const CallExpr *Call) {
  const auto *Assign = dyn_cast<CXXOperatorCallExpr>(Call);
  return Assign && Assign->getOperator() == OO_Equal &&
                 torch::isTensor(Assign->getArg(0)->getType()) &&
                 torch::isTensor(Assign->getArg(1)->getType()) &&
                 isa<CallExpr>(ast::strip(Assign->getArg(0)))
             ? Assign
             : nullptr;
}

class AccessQuery {
public:
  AccessQuery(const Execution &Entry, bool MayUseDevice)
      : Entry(Entry), MayUseDevice(MayUseDevice), Same(Entry), Changes(Entry),
        Counters(Entry), Calls(callsOf(Entry)) {}

  void run(std::vector<ElementAccessInLoop> &Result) {
    for (const CallAt &At : Calls)
      if (std::optional<Access> Found = accessAt(At))
        All.push_back(std::move(*Found));
    for (const Access &Each : All)
      for (const ElementPath *Path : {&Each.Path, &Each.From})
        OfAccesses.insert(Path->Calls.begin(), Path->Calls.end());
    std::vector<Access> Worth;
    llvm::copy_if(All, std::back_inserter(Worth),
                  [&](const Access &Each) { return isWorthwhile(Each); });
    for (const Access &Each : Worth)
      report(Each, Worth, Result);
  }

private:
  std::optional<Access> accessAt(const CallAt &At) {
    const auto Around = Entry.loopsAround(At.Point);
    if (Around.empty())
      return std::nullopt;
    Access Result{At, ElementAccessInLoop::Reads, {}, {}, {}};
    const torch::Operation *Op = torch::classify(At.Call).Op;
    const Expr *Part = nullptr;
    const CXXOperatorCallExpr *Assign = nullptr;
    if (Op && torch::readsNumber(*Op)) {
      Part = ast::objectOf(At.Call);
    } else if (const torch::NumberWrite Write = torch::numberWrite(At.Call)) {
      Result.How = ElementAccessInLoop::Writes;
      Part = Write.Part;
      // A variable is bound anew, or written as a whole.
      if (!Write.Indices && !isa<CallExpr>(ast::strip(Part)))
        return std::nullopt;
      if (Write.Indices && !torch::areNumbers(Write.Indices))
        return std::nullopt;
    } else if (Assign = tensorAssignment(At.Call); Assign) {
      Result.How = ElementAccessInLoop::Writes;
      Part = Assign->getArg(0);
    }
    if (!Part)
      return std::nullopt;
    Result.Path = elementPath(Entry, At.In, Part, Changes, *Around.front());
    if (Result.How == ElementAccessInLoop::Writes)
      addIndices(At, Result.Path);
    else if (Result.Path.IsComputed)
      Result.How = ElementAccessInLoop::ReadsResult;
    if (Result.Path.Indices.empty() ||
        (Result.How == ElementAccessInLoop::Writes &&
         (Result.Path.HasRange || Result.Path.IsComputed)))
      return std::nullopt;
    if (Assign) {
      if (!isElement(Result))
        return std::nullopt;
      ElementPath From = elementPath(Entry, At.In, Assign->getArg(1), Changes,
                                     *Around.front());
      // What is computed there is work of its own.
      if (!From.IsComputed)
        Result.From = std::move(From);
    }
    for (const Loop *L : llvm::reverse(Around))
      if (goesOn(Result.Path, *L))
        Result.Loops.push_back(L);
    return Result.Loops.empty() ? std::nullopt : std::optional(Result);
  }

  /// It has as many indices as the tensor has dimensions, and neither is part
  /// of a graph, which numbers would not be.
  bool isElement(const Access &A) const {
    const AllocateEvent *Made = madeBy(A.Path.Tensor);
    const WriteEvent *Write = eventOf<WriteEvent>(A);
    return Made && Write && Write->Before.History == history::None &&
           Write->Written.History == history::None &&
           knownRank(*Made) == countPositions(A.Path);
  }

  static unsigned countPositions(const ElementPath &Path) {
    return llvm::count_if(Path.Calls, [](const CallExpr *Call) {
      return torch::choosesPosition(*torch::classify(Call).Op);
    });
  }

  static void addIndices(const CallAt &At, ElementPath &Path) {
    const torch::NumberWrite Write = torch::numberWrite(At.Call);
    if (!Write.Indices)
      return;
    Path.Indices.push_back({At.In, Write.Indices});
    if (!Path.Tensor.E)
      Path.Tensor = {At.In, Write.Part};
  }

  /// Another element of the same tensor in each iteration of L.
  bool goesOn(const ElementPath &Path, const Loop &L) {
    return llvm::any_of(Path.Indices,
                        [&](const Written &Index) {
                          return Counters.follows(Index.E, Index.In, L);
                        }) &&
           Same.isInvariant(Path.Tensor.E, Path.Tensor.In, L) && !isLearning(L);
  }

  /// One element for each run of a network is no matter.
  bool isLearning(const Loop &L) const {
    const auto Contains = [&](const Event &E) { return L.contains(E.Point); };
    return runsNetwork(Entry, L) ||
           llvm::any_of(Entry.events<StepEvent>(), Contains);
  }

  bool isWorthwhile(const Access &A) {
    return !hasFew(A) && !isOccasional(A) && !isRow(A) &&
           !doesOtherThings(*A.Loops.front()) && !isBetweenTrainings(A) &&
           !isOneOfMuch(A);
  }

  /// The only number that a loop reads or writes, which nothing repeats, and
  /// beside which each step computes something: a list that is made once.
  bool isOneOfMuch(const Access &A) const {
    const Loop &L = *A.Loops.front();
    if (A.How == ElementAccessInLoop::ReadsResult ||
        Entry.loopsAround(A.At.Point).size() > 1 ||
        mostTrips(Entry, L).has_value() ||
        llvm::any_of(All, [&](const Access &Other) {
          return &Other != &A && L.contains(Other.At.Point);
        }))
      return false;
    return llvm::any_of(Calls, [&](const CallAt &At) {
      return L.contains(At.Point) && isComputation(At) && !leadsTo(At, A);
    });
  }

  /// One number for each object of a container, in a loop that nothing repeats:
  /// nothing says that they are many, and there are seldom hundreds. Who reads
  /// a whole tensor asks the tensor how long it is.
  bool isForObjects(const Access &A) const {
    return A.How != ElementAccessInLoop::ReadsResult && A.Loops.size() == 1 &&
           Entry.loopsAround(A.At.Point).size() == 1 &&
           runsForObjects(Entry, *A.Loops.front()) && !isOnDevice(A);
  }

  /// The loop makes text of what it reads: for a person, seldom hundreds.
  bool isForText(const Access &A) const {
    const Loop &L = *A.Loops.front();
    return A.How == ElementAccessInLoop::Reads && !isOnDevice(A) &&
           llvm::any_of(Calls, [&](const CallAt &At) {
             return L.contains(At.Point) && torch::makesText(At.Call);
           });
  }

  /// A single loop that nothing is seen to repeat: some thousand numbers take
  /// some milliseconds, once. Of a nest of loops the same where main is seen to
  /// run it once: a field is filled before the work begins.
  bool isOnce(const Access &A) const {
    const bool IsNest = A.Loops.size() > 1;
    if (Entry.loopsAround(A.At.Point).size() > A.Loops.size() ||
        isCalledRepeatedly(*A.At.In) ||
        (IsNest ? !Entry.root().Function->isMain() : isOnDevice(A)))
      return false;
    const AllocateEvent *Made = madeBy(A.Path.Tensor);
    const uint64_t Elements =
        Made ? knownElements(Entry, *Made).value_or(0) : 0;
    uint64_t Trips = 1;
    for (const Loop *L : A.Loops)
      Trips *= std::min(mostTrips(Entry, *L).value_or(1), ManyAccesses);
    return std::max(Elements, Trips) < ManyAccesses;
  }

  bool mayBeFew(const Access &A) const {
    return isOnce(A) || isForObjects(A) || isForText(A) || isBesidePass(A);
  }

  /// One loop of unknown length, and no device: of those in public repositories
  /// most were not worth a change.
  bool isCheap(const Access &A) const {
    if (A.How == ElementAccessInLoop::ReadsResult || A.Loops.size() > 1 ||
        mostTrips(Entry, *A.Loops.front()) || (MayUseDevice && !isOnHost(A)))
      return false;
    const AllocateEvent *Made = madeBy(A.Path.Tensor);
    return !Made || !knownElements(Entry, *Made);
  }

  /// A kernel is started for each number, or waited for: a few hundred count.
  bool isOnDevice(const Access &A) const {
    const WaitEvent *Wait = eventOf<WaitEvent>(A);
    const WriteEvent *Write = eventOf<WriteEvent>(A);
    return (Wait && Wait->Of.OnDevice.get() == Device::CUDA) ||
           (Write && Write->Before.OnDevice.get() == Device::CUDA);
  }

  /// To read what is known to lie there is no wait.
  bool isOnHost(const Access &A) const {
    if (A.How != ElementAccessInLoop::Writes)
      return !eventOf<WaitEvent>(A);
    const WriteEvent *Write = eventOf<WriteEvent>(A);
    return Write && Write->Before.OnDevice.get() == Device::CPU;
  }

  template <class E> const E *eventOf(const Access &A) const {
    for (const E &Each : Entry.events<E>())
      if (Each.Site == A.At.Call && Each.In == A.At.In)
        return &Each;
    return nullptr;
  }

  /// One number for each sample of a batch, beside the pass of a network in the
  /// same iteration, and on the CPU: a microsecond each, where a sample takes
  /// the network a hundred. On a device each is a wait.
  bool isBesidePass(const Access &A) const {
    const Loop *Beside = loopAround(A);
    return Beside && runsNetwork(Entry, *Beside) &&
           (!MayUseDevice || isOnHost(A));
  }

  /// Around the only loop that goes on from element to element; null where
  /// there is none, or a nest of these.
  const Loop *loopAround(const Access &A) const {
    const Loop *Result = nullptr;
    for (const Loop *L : Entry.loopsAround(A.At.Point)) {
      if (L == A.Loops.front())
        return A.Loops.size() == 1 ? Result : nullptr;
      Result = L;
    }
    return nullptr;
  }

  /// The helper that reads the element is called there.
  static bool leadsTo(const CallAt &At, const Access &A) {
    for (const Frame *F = A.At.In; F; F = F->Caller)
      if (F->Site == At.Call)
        return true;
    return false;
  }

  /// Not what asks LibTorch or a container, or says where something lies.
  static bool isComputation(const CallAt &At) {
    const FunctionDecl *Callee = At.Call->getDirectCallee();
    if (!Callee || At.Call->isGLValue() || torch::isLibTorch(Callee))
      return false;
    // An iterator that goes on.
    if (Callee->isOverloadedOperator() &&
        Callee->getOverloadedOperator() != OO_Call)
      return false;
    return !torch::isStd(Callee) || (!isa<CXXMethodDecl>(Callee) &&
                                     At.Call->getType()->isArithmeticType());
  }

  /// One loop over elements for each that trains, beside it: not over all
  /// voxels of a volume.
  bool isBetweenTrainings(const Access &A) const {
    const Loop *Beside = loopAround(A);
    return Beside && trainsInside(Entry, *Beside);
  }

  bool hasFew(const Access &A) const {
    uint64_t Trips = 1;
    bool IsKnown = true;
    for (const Loop *L : A.Loops) {
      const std::optional<uint64_t> Most = mostTrips(Entry, *L);
      IsKnown &= Most.has_value();
      Trips = std::min(Trips * std::min(Most.value_or(1), FewAccesses),
                       FewAccesses);
    }
    if (IsKnown && Trips < FewAccesses)
      return true;
    if (isPicked(A.Path.Tensor))
      return true;
    const AllocateEvent *Made = madeBy(A.Path.Tensor);
    const auto Elements =
        Made ? knownElements(Entry, *Made) : std::optional<uint64_t>();
    return Elements && *Elements < FewAccesses;
  }

  /// Of topk: that many are few, unless more is known.
  bool isPicked(Written Tensor) const {
    const CallExpr *Made = madeByOperation(Tensor.E);
    const Expr *Number = Made ? torch::howManyPicked(Made) : nullptr;
    return Number && knownNumber(Entry, Number, Tensor.In).value_or(0) <
                         static_cast<int64_t>(FewAccesses);
  }

  /// The factory whose result the variable is declared with.
  const AllocateEvent *madeBy(Written Tensor) const {
    const auto *Ref = dyn_cast<DeclRefExpr>(ast::strip(Tensor.E));
    const auto *V = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
    if (!V || !V->getInit())
      return nullptr;
    const Expr *Init = ast::stripCopies(V->getInit());
    for (const AllocateEvent &Allocate : Entry.events<AllocateEvent>())
      if (Allocate.Site == Init)
        return &Allocate;
    return nullptr;
  }

  /// t[i] = 1 of a tensor with more dimensions than indices.
  bool isRow(const Access &A) const {
    if (A.How != ElementAccessInLoop::Writes)
      return false;
    const AllocateEvent *Made = madeBy(A.Path.Tensor);
    const auto Rank = Made ? knownRank(*Made) : std::optional<unsigned>();
    return Rank && !torch::numberWrite(A.At.Call).Indices &&
           countPositions(A.Path) < *Rank;
  }

  /// Under "if (step % 100 == 0)", in this function.
  bool isOccasional(const Access &A) const {
    const flow::ControlFlow *Flow = A.At.In->Flow;
    if (!Flow)
      return false;
    for (const Stmt *S = Flow->parent(A.At.Call); S; S = Flow->parent(S)) {
      const auto *If = dyn_cast<IfStmt>(S);
      const bool Picks = If && !Flow->isInside(A.At.Call, If->getCond()) &&
                         model::isOccasional(If->getCond());
      if (Picks)
        return true;
    }
    return false;
  }

  /// It prints, or at least as many other operations run in it
  /// as accesses.
  bool doesOtherThings(const Loop &L) const {
    std::set<const CallExpr *> Others, Accesses;
    std::set<const ValueDecl *> Tensors;
    for (const Access &A : All)
      if (L.contains(A.At.Point)) {
        Accesses.insert(A.At.Call);
        if (const ValueDecl *Tensor = named(A.Path.Tensor.E))
          Tensors.insert(Tensor);
      }
    for (const CallAt &At : Calls) {
      if (!L.contains(At.Point))
        continue;
      if (torch::printsText(At.Call))
        return true;
      if (!Accesses.count(At.Call) && !OfAccesses.count(At.Call) &&
          isWork(At.Call) && !choosesOf(At.Call, Tensors))
        Others.insert(At.Call);
    }
    return Others.size() >= Accesses.size();
  }

  /// t[i + 1][0], an operand of what is done to elements of t.
  static bool choosesOf(const CallExpr *Call,
                        const std::set<const ValueDecl *> &Tensors) {
    const Expr *Of = Call;
    while (const auto *Each = dyn_cast<CallExpr>(ast::strip(Of))) {
      const torch::Operation *Op = torch::classify(Each).Op;
      Of = Op && torch::choosesPosition(*Op) ? ast::objectOf(Each) : nullptr;
      if (!Of)
        return false;
    }
    return Tensors.count(named(Of));
  }

  /// An operation on tensors, or a pointer to a whole one.
  static bool isWork(const CallExpr *Call) {
    const FunctionDecl *Callee = Call->getDirectCallee();
    if (!Callee || !torch::isLibTorch(Callee))
      return false;
    const torch::Operation *Op = torch::classify(Call).Op;
    return (Op && !torch::saysProperty(Callee)) ||
           torch::givesReadAccess(Callee);
  }

  static const ValueDecl *named(const Expr *E) {
    E = ast::strip(E);
    if (const auto *Ref = dyn_cast<DeclRefExpr>(E))
      return Ref->getDecl();
    const auto *Member = dyn_cast<MemberExpr>(E);
    return Member ? Member->getMemberDecl() : nullptr;
  }

  /// The outermost loop around it that goes on from element to element of any
  /// tensor: boxes[i] in the outer loop, boxes[j] in the inner one.
  static const Loop *nestOf(const Access &A, llvm::ArrayRef<Access> All) {
    const Loop *Nest = A.Loops.back();
    for (const Access &Other : All)
      if (Other.How == A.How && Other.Loops.back()->contains(Nest->Header))
        Nest = Other.Loops.back();
    return Nest;
  }

  /// One finding for each kind of access in a nest of loops: who mends one of
  /// them mends all.
  void report(const Access &A, llvm::ArrayRef<Access> Worth,
              std::vector<ElementAccessInLoop> &Result) {
    const Loop *Nest = nestOf(A, Worth);
    auto [It, IsNew] = Reported.insert({{A.How, Nest}, Result.size()});
    if (IsNew) {
      ElementAccessInLoop Found;
      Found.Entry = &Entry;
      Found.How = A.How;
      Found.IsStrictOnly = mayBeFew(A);
      Found.IsMinor = isCheap(A);
      place(Found, A);
      Result.push_back(std::move(Found));
      return;
    }
    ElementAccessInLoop &Known = Result[It->second];
    Known.IsStrictOnly &= mayBeFew(A);
    Known.IsMinor &= isCheap(A);
    if (ast::beginLoc(Known.Site) < ast::beginLoc(A.At.Call)) {
      Known.AsWell.push_back(A.At.Call);
      return;
    }
    Known.AsWell.push_back(Known.Site);
    place(Known, A);
  }

  void place(ElementAccessInLoop &Found, const Access &A) const {
    Found.In = A.At.In;
    Found.IsOnHost = isOnHost(A);
    Found.Site = A.At.Call;
    Found.Tensor = A.Path.Tensor;
    Found.Around = A.Loops.front();
  }

  const Execution &Entry;
  const bool MayUseDevice;
  Invariance Same;
  LoopChanges Changes;
  LoopCounters Counters;
  const std::vector<CallAt> Calls;
  std::vector<Access> All;
  std::set<const CallExpr *> OfAccesses;
  /// The finding of a kind and the outermost of the loops.
  std::map<std::pair<ElementAccessInLoop::Kind, const Loop *>, size_t> Reported;
};

} // namespace

std::vector<ElementAccessInLoop> findElementAccessInLoop(Program &Program) {
  std::vector<ElementAccessInLoop> Result;
  const bool MayUseDevice = mayUseDevice(Program);
  for (const Execution *Entry : Program.executionsThatCost())
    AccessQuery(*Entry, MayUseDevice).run(Result);
  return Result;
}

} // namespace torchtidy::model

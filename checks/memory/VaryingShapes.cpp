#include "memory/VaryingShapes.h"
#include "ast/Expressions.h"
#include "queries/devices/DeviceUse.h"
#include "queries/devices/Transfers.h"
#include "queries/loops/LoopGrowth.h"
#include "queries/loops/Loops.h"
#include "queries/loops/TripCount.h"
#include "queries/memory/Sizes.h"
#include "queries/paths/Uses.h"
#include "torch/Api.h"
#include "torch/Elements.h"
#include "torch/Std.h"
#include "torch/Types.h"
#include "clang/AST/StmtCXX.h"

using namespace clang;

namespace torchtidy::model {

using flow::Loop;

/// So few sizes are soon all there.
static constexpr uint64_t FewSizes = 16;
/// Memory for fewer floats than 10 MiB the allocator of CUDA takes from blocks
/// of 2 and 20 MiB, which serve many sizes (c10/core/AllocatorConfig.h:
/// kMinLargeAlloc).
static constexpr int64_t SharesBlocks = (int64_t(10) << 20) / 4;

namespace {

class GrowthQuery {
public:
  explicit GrowthQuery(const Execution &Entry)
      : Entry(Entry), Sizes(Entry), Changes(Entry) {}

  std::vector<GrowingTensor> run() {
    for (const AllocateEvent &Allocate : Entry.events<AllocateEvent>())
      if (!Allocate.Result.isOnCpu() && !isKept(Allocate))
        add(Allocate.Site, Allocate.In, Allocate.Point);
    for (const TransferEvent &Transfer : Entry.events<TransferEvent>())
      if (mayLeaveCpu(Transfer) && Transfer.Input.isOnCpu() &&
          !isShared(Transfer.Memory))
        add(Transfer.Site, Transfer.In, Transfer.Point);
    for (const CallAt &At : callsOf(Entry)) {
      const torch::Operation *Op = torch::classify(At.Call).Op;
      const Expr *Object = ast::objectOf(At.Call);
      if (Op && Object && torch::copiesElements(*Op) && !isOnHost(Object))
        add(At.Call, At.In, At.Point);
    }
    return std::move(Result);
  }

private:
  void add(const Expr *Site, const Frame *In, flow::Digraph::Node Point) {
    const auto *Makes = dyn_cast_or_null<CallExpr>(Site);
    const auto Around = Entry.loopsAround(Point);
    if (!Makes || Around.empty())
      return;
    const Loop &L = *Around.back();
    IsPrefix = false;
    const auto Elements = elementsOf(Makes, In, L, 0);
    if (!Elements || !Elements->Grows || isSmall(*Elements) ||
        isOuterLoop(Entry, L) ||
        mostTrips(Entry, L).value_or(FewSizes) < FewSizes ||
        !isUnconditional(Entry, Makes, In, L) || goesIntoList(In, Makes))
      return;
    Result.push_back({&Entry, Makes, In, &L, IsPrefix});
  }

  static bool isSmall(const Growth &Elements) {
    return Elements.Most.value_or(SharesBlocks) < SharesBlocks ||
           Elements.Step.value_or(SmallElements) < int64_t(SmallElements);
  }

  /// How many elements the tensor has that E makes, or shows a part of.
  std::optional<Growth> elementsOf(const Expr *E, const Frame *F, const Loop &L,
                                   unsigned Depth) {
    if (Depth > 8)
      return std::nullopt;
    E = ast::stripCopies(E);
    if (const auto *Ref = dyn_cast<DeclRefExpr>(E)) {
      const auto *V = dyn_cast<VarDecl>(Ref->getDecl());
      return V && isOfIteration(V, L)
                 ? elementsOf(V->getInit(), F, L, Depth + 1)
                 : std::nullopt;
    }
    const auto *Call = dyn_cast<CallExpr>(E);
    const torch::Operation *Op = Call ? torch::classify(Call).Op : nullptr;
    if (!Op)
      return std::nullopt;
    if (const auto Written = writtenSizes(Call, F))
      return productOf(*Written, L);
    for (const Expr *Length : torch::firstPositions(Call))
      if (const auto Size = Sizes.of(Length, F, L); Size && Size->Grows) {
        IsPrefix = true;
        return Growth{true, std::nullopt, std::nullopt};
      }
    const Expr *Object = ast::objectOf(Call);
    return Object && torch::keepsElements(*Op)
               ? elementsOf(Object, F, L, Depth + 1)
               : std::nullopt;
  }

  std::optional<Growth> productOf(llvm::ArrayRef<WrittenSize> Written,
                                  const Loop &L) {
    std::optional<Growth> Product = Growth{false, 0, 1};
    for (const WrittenSize &Size : Written) {
      const auto Next = Sizes.of(Size.Number, Size.In, L);
      Product = Product && Next ? multiply(*Product, *Next) : std::nullopt;
    }
    return Product;
  }

  /// Declared in the loop, with what it is all the time.
  bool isOfIteration(const VarDecl *V, const Loop &L) {
    const Stmt *Statement = Entry.loopStatement(L);
    return V->getInit() && Statement && !isa<ParmVarDecl>(V) &&
           Statement->getSourceRange().fullyContains(V->getSourceRange()) &&
           !Changes.isChanged(V, L);
  }

  /// With the tensors of other iterations: no block could be used again.
  bool isKept(const AllocateEvent &Allocate) const {
    return isShared(Allocate.Memory) ||
           llvm::any_of(Allocate.Holders,
                        [&](PlaceId P) { return Entry.places().isSummary(P); });
  }

  bool isShared(AllocationId Memory) const {
    for (const EscapeEvent &Escape : Entry.events<EscapeEvent>())
      if (Escape.Given.uses(Memory))
        return true;
    return llvm::any_of(Entry.events<FillEvent>(), [&](const FillEvent &Fill) {
      return Fill.Shared.uses(Memory);
    });
  }

  /// list.push_back(x.slice(0, 0, i).clone()), at once or by a variable.
  static bool goesIntoList(const Frame *In, const Expr *Makes) {
    const flow::ControlFlow &Flow = *In->Flow;
    if (isAppended(Flow, Makes))
      return true;
    const VarDecl *V = declaredWith(Flow, Makes);
    return V && llvm::any_of(mentionsOf(Flow, V), [&](const Expr *Mention) {
             return isAppended(Flow, Mention);
           });
  }

  static bool isAppended(const flow::ControlFlow &Flow, const Stmt *S) {
    for (S = Flow.parent(S); isa_and_nonnull<Expr>(S); S = Flow.parent(S)) {
      const auto *Call = dyn_cast<CallExpr>(S);
      const torch::Operation *Op = Call ? torch::classify(Call).Op : nullptr;
      if (Call && !Op)
        return torch::keepsArgument(Call->getDirectCallee());
      if (Op && !torch::keepsElements(*Op))
        return false;
    }
    return false;
  }

  /// What is known to be there says so; of others it is not known.
  bool isOnHost(const Expr *E) const {
    for (unsigned Hop = 0; E && Hop < 8; ++Hop) {
      E = ast::stripCopies(E);
      if (const Value *Made = madeBy(E))
        return Made->isOnCpu();
      if (const auto *Call = dyn_cast<CallExpr>(E)) {
        E = ast::objectOf(Call);
        continue;
      }
      const auto *Ref = dyn_cast<DeclRefExpr>(E);
      const auto *V = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
      E = V ? V->getInit() : nullptr;
    }
    return false;
  }

  const Value *madeBy(const Expr *Site) const {
    for (const AllocateEvent &Allocate : Entry.events<AllocateEvent>())
      if (Allocate.Site == Site)
        return &Allocate.Result;
    for (const TransferEvent &Transfer : Entry.events<TransferEvent>())
      if (Transfer.Site == Site)
        return &Transfer.Result;
    return nullptr;
  }

  const Execution &Entry;
  LoopGrowth Sizes;
  LoopChanges Changes;
  bool IsPrefix = false;
  std::vector<GrowingTensor> Result;
};

} // namespace

std::vector<GrowingTensor> growingTensors(Program &Program) {
  std::vector<GrowingTensor> Result;
  if (!mayUseDevice(Program))
    return Result;
  for (const Execution *Entry : Program.executionsThatCost())
    llvm::append_range(Result, GrowthQuery(*Entry).run());
  return Result;
}

} // namespace torchtidy::model

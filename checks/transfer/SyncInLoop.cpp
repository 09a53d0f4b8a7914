#include "transfer/SyncInLoop.h"
#include "queries/devices/DeviceUse.h"
#include "queries/devices/NumberFate.h"
#include "queries/devices/Transfers.h"
#include "queries/loops/TripCount.h"
#include "torch/Api.h"
#include "torch/Elements.h"
#include "torch/Waiting.h"
#include "clang/AST/ASTContext.h"
#include "clang/Basic/SourceManager.h"
#include "llvm/ADT/DenseSet.h"

using namespace clang;

namespace torchtidy::model {

using flow::Loop;

/// Shorter loops are over before a device runs out of work.
static constexpr uint64_t FewWaits = 16;

namespace {

class SyncQuery {
public:
  explicit SyncQuery(const Execution &Entry) : Entry(Entry) {}

  void run(std::vector<SyncInLoop> &Result) {
    llvm::DenseSet<const Loop *> Asked;
    for (const BackwardEvent &Backward : Entry.events<BackwardEvent>()) {
      const auto Around = Entry.loopsAround(Backward.Point);
      if (!Around.empty() && Asked.insert(Around.back()).second)
        look(*Around.back(), Result);
    }
  }

private:
  bool isDirectlyIn(flow::Digraph::Node N, const Loop &L) const {
    return L.contains(N) && Entry.loopsAround(N).back() == &L;
  }

  void look(const Loop &L, std::vector<SyncInLoop> &Result) {
    if (isOuter(L) || mostTrips(Entry, L).value_or(FewWaits) < FewWaits)
      return;
    SyncInLoop Found;
    Found.Entry = &Entry;
    Found.Around = &L;
    NumberFate Fate(Entry, &L);
    for (const WaitEvent &Wait : Entry.events<WaitEvent>()) {
      const std::optional<SyncInLoop::Kind> How = kindOf(Wait);
      const bool IsInner = How && !isDirectlyIn(Wait.Point, L);
      if (!How || !L.contains(Wait.Point) || isPassedBy(Wait, L))
        continue;
      const bool IsNumber =
          *How == SyncInLoop::Number || *How == SyncInLoop::Copy;
      // Then the loop has to wait anyway, if not here then in a loop inside.
      if (IsNumber && !Fate.isOnlyRecorded(Wait.Site, Wait.In))
        return;
      if (!IsInner &&
          llvm::none_of(Found.Waits, [&](const SyncInLoop::Place &Known) {
            return Known.Wait->Site == Wait.Site;
          }))
        Found.Waits.push_back({&Wait, *How});
    }
    if (Found.Waits.empty() || !worksOnDevice(L))
      return;
    const SourceManager &SM = Entry.code().context().getSourceManager();
    llvm::stable_sort(Found.Waits, [&](const SyncInLoop::Place &A,
                                       const SyncInLoop::Place &B) {
      return SM.isBeforeInTranslationUnit(A.Wait->Site->getExprLoc(),
                                          B.Wait->Site->getExprLoc());
    });
    Result.push_back(std::move(Found));
  }

  /// The program says of something in the loop that it may be on a device. That
  /// a device is named elsewhere says nothing of a loop whose tensors come from
  /// somewhere.
  bool worksOnDevice(const Loop &L) const {
    return llvm::any_of(Entry.events(), [&](const Event &E) {
      if (!L.contains(E.Point))
        return false;
      if (const auto *Forward = E.getAs<ForwardEvent>())
        return Forward->Result.mayBeElsewhere() ||
               Forward->Input.mayBeElsewhere();
      if (const auto *Backward = E.getAs<BackwardEvent>())
        return Backward->Root.mayBeElsewhere();
      if (const auto *Transfer = E.getAs<TransferEvent>())
        return mayLeaveCpu(*Transfer);
      if (const auto *Wait = E.getAs<WaitEvent>())
        return Wait->Of.mayBeElsewhere();
      return isa<ComputeEvent>(E);
    });
  }

  /// Another training loop is inside.
  bool isOuter(const Loop &L) const {
    return llvm::any_of(
        Entry.events<BackwardEvent>(), [&](const BackwardEvent &Backward) {
          return L.contains(Backward.Point) && !isDirectlyIn(Backward.Point, L);
        });
  }

  std::optional<SyncInLoop::Kind> kindOf(const WaitEvent &Wait) const {
    const auto *Call = dyn_cast<CallExpr>(Wait.Site);
    switch (torch::waitOf(Call)) {
    case torch::Wait::Number:
      return SyncInLoop::Number;
    case torch::Wait::Copy:
      return isToHost(Wait, Call) ? std::optional(SyncInLoop::Copy)
                                  : std::nullopt;
    case torch::Wait::Text:
      return torch::printsText(Call) ? std::optional(SyncInLoop::Text)
                                     : std::nullopt;
    // A forward() that selects is made so.
    case torch::Wait::Shape:
      return Entry.isInForward(Wait.In) ? std::nullopt
                                        : std::optional(SyncInLoop::Shape);
    default:
      return std::nullopt;
    }
  }

  /// A new tensor on the host: cpu(), to(torch::kCPU).
  bool isToHost(const WaitEvent &Wait, const CallExpr *Call) const {
    const torch::Operation *Op = torch::classify(Call).Op;
    return Op && torch::isTransfer(*Op) && Wait.Result.isOnCpu();
  }

  /// Where L comes to the wait: at the wait itself, or, of one in a loop inside
  /// of L, at that loop, which may have no iterations.
  flow::Digraph::Node gateOf(const WaitEvent &Wait, const Loop &L) const {
    const auto Around = Entry.loopsAround(Wait.Point);
    const auto *At = llvm::find(Around, &L);
    return At == Around.end() || At + 1 == Around.end() ? Wait.Point
                                                        : At[1]->Header;
  }

  /// An iteration may train without it.
  bool isPassedBy(const WaitEvent &Wait, const Loop &L) const {
    llvm::DenseSet<flow::Digraph::Node> Gates, Training;
    for (const WaitEvent &Same : Entry.events<WaitEvent>())
      if (Same.Site == Wait.Site)
        Gates.insert(gateOf(Same, L));
    for (const BackwardEvent &Backward : Entry.events<BackwardEvent>())
      if (L.contains(Backward.Point))
        Training.insert(Backward.Point);
    return flow::mayReachVia(
               Entry.points(), L.Header,
               [&](flow::Digraph::Node N) { return Training.count(N) != 0; },
               [&](flow::Digraph::Node N) { return N == L.Header; },
               [&](flow::Digraph::Node N) {
                 return !L.contains(N) || Gates.count(N) != 0;
               })
        .has_value();
  }

  const Execution &Entry;
};

} // namespace

std::vector<SyncInLoop> findSyncInLoop(Program &Program) {
  std::vector<SyncInLoop> Result;
  if (mayUseDevice(Program))
    for (const Execution *Entry : Program.executionsThatCost())
      SyncQuery(*Entry).run(Result);
  return Result;
}

} // namespace torchtidy::model

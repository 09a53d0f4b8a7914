#include "transfer/TimingWithoutSync.h"
#include "ast/Expressions.h"
#include "queries/devices/DeviceUse.h"
#include "queries/devices/NumberFate.h"
#include "queries/devices/Transfers.h"
#include "queries/devices/UnseenWaits.h"
#include "torch/Api.h"
#include "torch/Types.h"
#include "torch/Waiting.h"
#include "clang/AST/ASTContext.h"
#include "clang/Basic/SourceManager.h"
#include "llvm/ADT/BitVector.h"

using namespace clang;

namespace torchtidy::model {

using Node = flow::Digraph::Node;

namespace {

class TimingQuery {
public:
  TimingQuery(const Execution &Entry, UnseenWaits &Unseen)
      : Entry(Entry), Unseen(Unseen) {}

  void run(std::vector<TimingWithoutSync> &Result) {
    for (const ClockDifference &Time : clockDifferences(Entry)) {
      const Event *Last = unfinished(Time);
      if (Last && NumberFate(Entry).isOnlyRecorded(Time.Difference, Time.In))
        Result.push_back({&Entry, Time, Last});
    }
  }

private:
  /// The last work between the readings, where nobody may have waited for any;
  /// null otherwise.
  const Event *unfinished(const ClockDifference &Time) {
    findWork();
    llvm::BitVector Ends(Entry.points().size());
    Ends.set(Time.To->Point);
    for (const OpaqueEvent *Start : Time.Starts)
      Ends.set(Start->Point);
    const llvm::BitVector Between = reach({Time.From->Point}, Ends);
    std::vector<Node> Given;
    const Event *Last = nullptr;
    for (const Event *Each : Work)
      if (Between.test(Each->Point) &&
          reach({Each->Point}, Ends).test(Time.To->Point)) {
        Given.push_back(Each->Point);
        if (!Last || isBehind(*Each, *Last))
          Last = Each;
      }
    if (!Last)
      return nullptr;
    const llvm::BitVector After = reach(Given, Ends);
    const bool MayWait = llvm::any_of(Waits, [&](Node N) {
      return After.test(N) &&
             (N == Time.To->Point || reach({N}, Ends).test(Time.To->Point));
    });
    return MayWait ? nullptr : Last;
  }

  bool isBehind(const Event &A, const Event &B) const {
    return Entry.code().context().getSourceManager().isBeforeInTranslationUnit(
        B.Site->getExprLoc(), A.Site->getExprLoc());
  }

  /// What lies behind From, up to Ends and with them.
  llvm::BitVector reach(llvm::ArrayRef<Node> From,
                        const llvm::BitVector &Ends) const {
    llvm::BitVector Result(Entry.points().size());
    std::vector<Node> Open(From.begin(), From.end());
    while (!Open.empty()) {
      const Node N = Open.back();
      Open.pop_back();
      for (Node Next : Entry.points().successors(N))
        if (!Result.test(Next)) {
          Result.set(Next);
          if (!Ends.test(Next))
            Open.push_back(Next);
        }
    }
    return Result;
  }

  void findWork() {
    if (IsFound)
      return;
    IsFound = true;
    for (const Event &E : Entry.events()) {
      if (isWork(E))
        Work.push_back(&E);
      if (mayWait(E))
        Waits.push_back(E.Point);
    }
  }

  bool isWork(const Event &E) const {
    if (const auto *Forward = E.getAs<ForwardEvent>())
      return (Forward->Result.mayBeElsewhere() ||
              Forward->Input.mayBeElsewhere()) &&
             !isUnseen(*Forward);
    if (const auto *Backward = E.getAs<BackwardEvent>())
      return Backward->Root.mayBeElsewhere();
    if (const auto *Transfer = E.getAs<TransferEvent>())
      return Transfer->IsNonBlocking && Transfer->Input.mayBeElsewhere();
    return isa<ComputeEvent>(E);
  }

  bool mayWait(const Event &E) {
    if (const auto *Wait = E.getAs<WaitEvent>())
      return mayWaitFor(*Wait);
    if (const auto *Forward = E.getAs<ForwardEvent>())
      return isUnseen(*Forward);
    return isa<OpaqueEvent>(E) && Unseen.mayWait(E.Site);
  }

  /// Not where a tensor is only converted.
  bool mayWaitFor(const WaitEvent &Wait) const {
    if (torch::waitOf(cast<CallExpr>(Wait.Site)) != torch::Wait::Copy)
      return true;
    for (const TransferEvent &Each : Entry.events<TransferEvent>())
      if (Each.Site == Wait.Site && Each.In == Wait.In)
        return Each.MovesDevice && !isThereAlready(Each);
    return true;
  }

  /// The module of another file, and what it does.
  bool isUnseen(const ForwardEvent &Forward) const {
    if (!Entry.graph().expansions(Forward.In, Forward.Site).empty())
      return false;
    const auto *Call = dyn_cast<CallExpr>(Forward.Site);
    const Expr *Object = Call ? ast::objectOf(Call) : nullptr;
    if (!Object ||
        torch::kindOf(Object->getType()) == torch::TypeKind::ScriptModule)
      return !Object;
    const CXXRecordDecl *Class = torch::moduleClass(Object->getType());
    return !Class || !torch::isLibTorch(Class);
  }

  const Execution &Entry;
  UnseenWaits &Unseen;
  std::vector<const Event *> Work;
  std::vector<Node> Waits;
  bool IsFound = false;
};

} // namespace

std::vector<TimingWithoutSync> findTimingWithoutSync(Program &Program) {
  std::vector<TimingWithoutSync> Result;
  if (!mayUseDevice(Program))
    return Result;
  UnseenWaits Unseen(Program.context());
  for (const Execution *Entry : Program.executionsThatCost())
    TimingQuery(*Entry, Unseen).run(Result);
  return Result;
}

} // namespace torchtidy::model

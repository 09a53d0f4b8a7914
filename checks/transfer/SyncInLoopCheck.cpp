// Finds training loops in which the host waits for the device in every
// iteration, only to record a number.
#include "transfer/SyncInLoopCheck.h"
#include "report/Report.h"
#include "transfer/SyncInLoop.h"

namespace torchtidy::checks {

using namespace clang;
using namespace model;

static FindingKind kindOf(SyncInLoop::Kind How) {
  switch (How) {
  case SyncInLoop::Number:
    return FindingKind::SyncReadsNumber;
  case SyncInLoop::Copy:
    return FindingKind::SyncCopiesToHost;
  case SyncInLoop::Text:
    return FindingKind::SyncPrints;
  case SyncInLoop::Shape:
    return FindingKind::SyncAsksSize;
  }
  llvm_unreachable("not a kind of wait");
}

/// What the host waits for, and what to do.
static std::string describeWait(const Program &Program,
                                const SyncInLoop::Place &Wait) {
  const std::string Name = "'" + calleeText(Program, Wait.Wait->Site) + "'";
  const std::string Waits =
      " makes the host wait for the device in every iteration, and the device "
      "then has nothing queued; ";
  switch (Wait.How) {
  case SyncInLoop::Number:
    return Name + Waits +
           "add it up on the device, in a tensor that is detached, and read "
           "that "
           "once in many iterations";
  case SyncInLoop::Copy:
    return Name + Waits +
           "keep the tensor on the device, and copy it once in many iterations";
  case SyncInLoop::Text:
    return "printing a tensor" + Waits + "print once in many iterations";
  case SyncInLoop::Shape:
    return Name + Waits +
           "the size of its result depends on the data, so prefer a mask that "
           "keeps the shape, as in torch::where";
  }
  llvm_unreachable("not a kind of wait");
}

static Finding describe(const Program &Program, const SyncInLoop &Found) {
  const SyncInLoop::Place &First = Found.Waits.front();
  const Expr *Site = First.Wait->Site;
  Finding Result;
  Result.Location = Site->getExprLoc();
  Result.Range = Site->getSourceRange();
  Result.Kind = kindOf(First.How);
  Result.Message = describeWait(Program, First);
  for (const SyncInLoop::Place &Wait : llvm::drop_begin(Found.Waits))
    addNote(Result, {Wait.Wait->Site->getExprLoc(), "it waits here as well",
                     NoteRole::AsWell});
  addLoop(Result, *Found.Entry, First.Wait->In, Found.Around);
  Result.IterationSite = Site->getBeginLoc();
  return Result;
}

std::vector<Finding> SyncInLoopCheck::analyze(Program &Program) {
  return findingsOf(Program, findSyncInLoop, describe);
}

} // namespace torchtidy::checks

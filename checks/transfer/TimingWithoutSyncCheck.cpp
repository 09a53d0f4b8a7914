// Finds times that are taken of work for a device without waiting for its end.
#include "transfer/TimingWithoutSyncCheck.h"
#include "report/Report.h"
#include "transfer/TimingWithoutSync.h"

namespace torchtidy::checks {

using namespace clang;
using namespace model;

static Finding describe(const Program & /*Program*/,
                        const TimingWithoutSync &Found) {
  const OpaqueEvent &From = *Found.Time.From, &To = *Found.Time.To;
  Finding Result;
  Result.Location = To.Site->getExprLoc();
  Result.Range = To.Site->getSourceRange();
  Result.Kind = FindingKind::TimingWithoutSync;
  Result.Message =
      "the clock is read when the work has been given to the device, and not "
      "when it is done: on CUDA the time is that of enqueueing it; wait "
      "before, "
      "with 'torch::cuda::synchronize()' if 'torch::cuda::is_available()'";
  addNote(Result, {Found.Work->Site->getExprLoc(),
                   "the host does not wait for this", NoteRole::Enqueued});
  addNote(Result, {From.Site->getExprLoc(), "the time is counted from here",
                   NoteRole::Clock});
  const auto Around = Found.Entry->loopsAround(To.Point);
  if (!Around.empty())
    addLoop(Result, *Found.Entry, To.In, Around.back());
  Result.IterationSite = Found.Work->Site->getBeginLoc();
  return Result;
}

std::vector<Finding> TimingWithoutSyncCheck::analyze(Program &Program) {
  return findingsOf(Program, findTimingWithoutSync, describe);
}

} // namespace torchtidy::checks

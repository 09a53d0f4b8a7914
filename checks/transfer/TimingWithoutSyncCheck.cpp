// Finds times that are taken of work for a device without waiting for its end.
#include "transfer/TimingWithoutSyncCheck.h"
#include "report/Report.h"
#include "transfer/TimingWithoutSync.h"

namespace torchtidy::checks {

using namespace clang;
using namespace model;

/// The timer in whose destructor the clock is read; null for other readings.
static const VarDecl *endedTimer(const Frame *F) {
  while (F && !F->Destroyed)
    F = F->Caller;
  return F ? F->Destroyed : nullptr;
}

static Finding describe(const Program & /*Program*/,
                        const TimingWithoutSync &Found) {
  const OpaqueEvent &From = *Found.Time.From, &To = *Found.Time.To;
  Finding Result;
  Result.Location = To.Site->getExprLoc();
  Result.Range = To.Site->getSourceRange();
  Result.Kind = FindingKind::TimingWithoutSync;
  const VarDecl *Timer = endedTimer(To.In);
  // The end of a scope is no place to point at, and the destructor serves
  // scopes that wait as well.
  if (Timer) {
    Result.Location = Timer->getLocation();
    Result.Range = Timer->getSourceRange();
  }
  Result.Message =
      (Timer ? "where the scope of '" + Timer->getNameAsString() +
                   "' ends, the clock is read"
             : std::string("the clock is read")) +
      " when the work has been given to the device, and not when it is done: "
      "on CUDA the time is that of enqueueing it; wait before, with "
      "'torch::cuda::synchronize()' if 'torch::cuda::is_available()'";
  addNote(Result, {Found.Work->Site->getExprLoc(),
                   "the host does not wait for this", NoteRole::Enqueued});
  addNote(Result, {From.Site->getExprLoc(), "the time is counted from here",
                   NoteRole::Clock});
  if (Timer)
    addNote(Result,
            {To.Site->getExprLoc(), "the clock is read here", NoteRole::Clock});
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

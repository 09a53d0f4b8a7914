#include "Iterations.h"

#include "Sites.h"
#include "Timeline.h"

namespace torchtidy::confirm::probe {
namespace {

/// Of the iteration that goes on. Whoever finds it in use leaves it: of several
/// threads that train at once, one is told of.
struct Open {
  uint64_t Begin, BackwardBegin, BackwardEnd, StepBegin;
  int64_t BytesBefore, BytesAtBackward, BytesAfterBackward;
} Now;
SpinLock Lock;
std::atomic<int64_t> Peak;
/// When the last one ended, and how long it was.
std::atomic<uint64_t> LastEnd, LastLength;
/// Of all places that iterations were counted by.
std::atomic<uint64_t> Done;
/// Another place counts from when on it has been there so often, and twice as
/// often as the one that counts.
constexpr uint64_t FewestHits = 16;
/// What ends at the first step began nobody knows where.
constexpr uint64_t FirstNumber = 2;

int64_t live() {
  return Trace->LiveCpuBytes.load(std::memory_order_relaxed) +
         Trace->LiveCudaBytes.load(std::memory_order_relaxed);
}

trace::Iterations &all() {
  return *reinterpret_cast<trace::Iterations *>(
      reinterpret_cast<char *>(Trace) + trace::IterationsAt);
}

void copy(const trace::Iteration &From, trace::Iteration &To) {
  To.Number.store(0, std::memory_order_release);
  To.Begin = From.Begin;
  To.End = From.End;
  To.BackwardBegin = From.BackwardBegin;
  To.BackwardEnd = From.BackwardEnd;
  To.StepBegin = From.StepBegin;
  To.BytesBefore = From.BytesBefore;
  To.BytesAtBackward = From.BytesAtBackward;
  To.BytesAfterBackward = From.BytesAfterBackward;
  To.BytesAfter = From.BytesAfter;
  To.Peak = From.Peak;
  To.NodesAfter = From.NodesAfter;
  To.Number.store(From.Number.load(std::memory_order_relaxed),
                  std::memory_order_release);
}

void keep(const trace::Iteration &Row) {
  trace::Iterations &To = all();
  copy(Row, To.Last);
  if (!To.Worst.Number.load() || Row.Peak > To.Worst.Peak)
    copy(Row, To.Worst);
  const uint64_t Number = Row.Number.load();
  if ((Number - FirstNumber) % To.Stride)
    return;
  uint32_t Size = To.Size.load();
  if (Size == trace::MaxIterations) {
    // Numbers tell the reader what is there twice meanwhile.
    Size /= 2;
    for (uint32_t I = 0; I < Size; ++I)
      copy(To.Rows[2 * I], To.Rows[I]);
    To.Stride *= 2;
    To.Size.store(Size);
    if ((Number - FirstNumber) % To.Stride)
      return;
  }
  copy(Row, To.Rows[Size]);
  To.Size.store(Size + 1);
}

/// Begins another one.
void begin(uint64_t At) {
  Now = Open();
  Now.Begin = At;
  Now.BytesBefore = live();
  Peak.store(Now.BytesBefore);
}

/// From now on iterations end at this site.
void follow(uint32_t Site, uint64_t At) {
  trace::Iterations &To = all();
  To.Size.store(0);
  To.Number.store(FirstNumber - 1);
  To.Last.Number.store(0);
  To.Worst.Number.store(0);
  To.Stride = 1;
  To.Site.store(Site);
  LastLength.store(0);
  begin(At);
}

void end(uint64_t At) {
  trace::Iteration Row;
  Row.Number.store(all().Number.fetch_add(1) + 1);
  Row.Begin = Now.Begin;
  Row.End = At;
  Row.BackwardBegin = Now.BackwardBegin;
  Row.BackwardEnd = Now.BackwardEnd;
  Row.StepBegin = Now.StepBegin;
  Row.BytesBefore = Now.BytesBefore;
  Row.BytesAtBackward = Now.BytesAtBackward;
  Row.BytesAfterBackward = Now.BytesAfterBackward;
  Row.BytesAfter = live();
  Row.Peak = Peak.load();
  Row.NodesAfter = Trace->NodesAlive.load(std::memory_order_relaxed);
  keep(Row);
  Done.fetch_add(1);
  LastEnd.store(At);
  LastLength.store(At - Row.Begin);
  begin(At);
}

bool isMoreOften(uint32_t Site, uint32_t Counts) {
  const uint64_t Hits = siteAt(Site).Hits.load(std::memory_order_relaxed);
  return Hits >= FewestHits &&
         Hits >= 2 * siteAt(Counts).Hits.load(std::memory_order_relaxed);
}

/// A step ends at that site, or a backward where there are no steps.
void ends(uint32_t Site, bool IsStep) {
  const uint64_t At = timeNow();
  {
    Locked Guard(Lock);
    const uint32_t Counts = all().Site.load();
    const bool CountsSteps =
        Counts && siteAt(Counts).Kind == trace::SiteKind::Step;
    if (Site == Counts)
      end(At);
    else if (!Counts || (IsStep && !CountsSteps) ||
             (IsStep == CountsSteps && isMoreOften(Site, Counts)))
      follow(Site, At);
    if (Site != all().Site.load())
      return;
  }
  lookAfterStep(At);
}

} // namespace

uint64_t iterationsDone() { return Done.load(); }

bool isAmidIterations(uint64_t Time) {
  const uint64_t Length = LastLength.load(std::memory_order_relaxed);
  return Length && Time < LastEnd.load(std::memory_order_relaxed) + 2 * Length;
}

void noticePeakOfIteration(int64_t Live) { raise(Peak, Live); }

void resetIterations() {
  Lock.reset();
  Now = Open();
  Peak.store(0);
  LastEnd.store(0);
  LastLength.store(0);
  Done.store(0);
}

TimedBackward::TimedBackward(uint32_t Site)
    : Site(hasTimeline() ? Site : 0), Begin(0) {
  if (!this->Site)
    return;
  Begin = timeNow();
  Locked Guard(Lock);
  Now.BackwardBegin = Begin;
  Now.BytesAtBackward = live();
}

TimedBackward::~TimedBackward() {
  if (!Site)
    return;
  keepEvent(Site, Begin);
  {
    Locked Guard(Lock);
    Now.BackwardEnd = timeNow();
    Now.BytesAfterBackward = live();
  }
  ends(Site, /*IsStep=*/false);
}

TimedStep::TimedStep(uint32_t Site) : Site(hasTimeline() ? Site : 0), Begin(0) {
  if (!this->Site)
    return;
  Begin = timeNow();
  Locked Guard(Lock);
  Now.StepBegin = Begin;
}

TimedStep::~TimedStep() {
  if (!Site)
    return;
  keepEvent(Site, Begin);
  ends(Site, /*IsStep=*/true);
}

} // namespace torchtidy::confirm::probe

// Moments: what is alive, by site. And events.
//
// Who looks pays for going through all sites: some 10 microseconds for few
// hundred. So moments come ever more seldom as the run goes on, peaks only
// where a 64th more is alive than at the one before, and looking takes at most
// a fiftieth of the time; a tenth where it waits for the disk, which it does
// for the first ones.

#include "Timeline.h"

#include "Allocations.h"
#include "File.h"
#include "Iterations.h"
#include "Sites.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace torchtidy::confirm::probe {
namespace {

using trace::AllMoments;
using trace::MaxMoments;
using trace::MomentKind;

constexpr uint64_t FirstInterval = 1000000;
constexpr uint64_t ShareOfTime = 50, ShareOfWaiting = 10;
constexpr uint64_t LongestOfWaiting = 100000000;
// Rows behind those of regular moments.
constexpr uint32_t CpuPeakRow = MaxMoments, CudaPeakRow = MaxMoments + 2,
                   FailureRow = MaxMoments + 4;

std::atomic<uint64_t> NextDue;
std::atomic<uint64_t> Interval;
/// The least that was alive at operations since a moment was due.
std::atomic<int64_t> Low;
std::atomic<int64_t> NextCpuPeak, NextCudaPeak;
/// A row of two is the older one of its kind of peak.
uint32_t CpuPeaks, CudaPeaks;
std::atomic<uint32_t> IsLooking;

template <typename T> T now(const std::atomic<T> &Counter) {
  return Counter.load(std::memory_order_relaxed);
}

template <typename T> T *sectionAt(uint64_t Offset) {
  return reinterpret_cast<T *>(reinterpret_cast<char *>(Trace) + Offset);
}
trace::Moment &momentAt(uint32_t Row) {
  return sectionAt<trace::Moment>(trace::MomentsAt)[Row];
}

uint64_t longest(uint64_t A, uint64_t B) { return A > B ? A : B; }

/// -1 where that is not known.
int64_t residentBytes() {
  if (isTraceSealed())
    return -1;
  const int File = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (File < 0)
    return -1;
  char Text[128];
  const ssize_t Got = read(File, Text, sizeof(Text) - 1);
  close(File);
  if (Got <= 0)
    return -1;
  Text[Got] = 0;
  const char *Second = std::strchr(Text, ' ');
  return Second ? std::strtoll(Second, nullptr, 10) * sysconf(_SC_PAGESIZE)
                : -1;
}

void fill(uint32_t Row, MomentKind Kind, uint64_t Now) {
  trace::Moment &To = momentAt(Row);
  To.State.store(1);
  To.Kind = Kind;
  To.Nanoseconds = Now;
  To.Iterations = iterationsDone();
  To.CpuBytes = now(Trace->LiveCpuBytes);
  To.CudaBytes = now(Trace->LiveCudaBytes);
  To.CudaReserved = now(Trace->PeakCudaReserved);
  To.Nodes = now(Trace->NodesAlive);
  To.ResidentBytes = residentBytes();
  const uint32_t Places = reserveHeld(Row, now(Trace->SiteCount) + 1);
  auto *Held =
      sectionAt<trace::HeldBySite>(trace::HeldAt + Row * trace::HeldRow);
  for (uint32_t I = 1; I < Places; ++I) {
    const trace::Site &Site = siteAt(I);
    Held[I] = {now(Site.LiveBytes), now(Site.CudaLiveBytes),
               now(Site.NodesAlive)};
  }
  To.SiteCount = Places ? Places - 1 : 0;
  To.State.store(2, std::memory_order_release);
}

/// Half of them go, so that those that stay are as far from each other as they
/// can be: the first ones, which pay for their place in the file, are rarer.
void thinOut() {
  uint32_t Order[MaxMoments];
  for (uint32_t I = 0; I < MaxMoments; ++I) {
    uint32_t At = I;
    for (; At && momentAt(Order[At - 1]).Nanoseconds > momentAt(I).Nanoseconds;
         --At)
      Order[At] = Order[At - 1];
    Order[At] = I;
  }
  const uint64_t First = momentAt(Order[0]).Nanoseconds;
  const uint64_t Apart =
      (momentAt(Order[MaxMoments - 1]).Nanoseconds - First) / (MaxMoments / 2);
  uint64_t Kept = First;
  for (uint32_t I = 1; I < MaxMoments; ++I) {
    trace::Moment &Each = momentAt(Order[I]);
    if (Each.Nanoseconds - Kept < Apart || (!Apart && I & 1))
      Each.State.store(0);
    else
      Kept = Each.Nanoseconds;
  }
  // Between two that are taken lies up to one and a half of it.
  const uint64_t Twice = now(Interval) * 2, Wide = Apart * 2 / 3;
  Interval.store(longest(Twice, Wide));
}

uint32_t freeRow() {
  for (;;) {
    for (uint32_t I = 0; I < MaxMoments; ++I)
      if (momentAt(I).State.load() != 2)
        return I;
    thinOut();
  }
}

uint64_t threadNanoseconds() {
  timespec Time = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &Time);
  return static_cast<uint64_t>(Time.tv_sec) * 1000000000 +
         static_cast<uint64_t>(Time.tv_nsec);
}

void look(MomentKind Kind) {
  const uint64_t Begin = timeNow(), WorkBegin = threadNanoseconds();
  fill(freeRow(), Kind, Begin);
  const uint64_t End = timeNow();
  uint64_t Waiting = (End - Begin) * ShareOfWaiting;
  // One that a busy disk held up says nothing of the next one.
  if (Waiting > LongestOfWaiting)
    Waiting = LongestOfWaiting;
  const uint64_t Work = (threadNanoseconds() - WorkBegin) * ShareOfTime;
  NextDue.store(End + longest(now(Interval), longest(Work, Waiting)));
  Low.store(INT64_MAX);
}

/// One thread looks, and others go on.
class Looking {
public:
  Looking() : IsMine(!IsLooking.exchange(1, std::memory_order_acquire)) {}
  ~Looking() {
    if (IsMine)
      IsLooking.store(0, std::memory_order_release);
  }
  explicit operator bool() const { return IsMine; }
  Looking(const Looking &) = delete;
  Looking &operator=(const Looking &) = delete;

private:
  bool IsMine;
};

int64_t above(int64_t Bytes) { return Bytes + Bytes / 64 + 4096; }

void lookAtPeak(std::atomic<int64_t> &Next, int64_t Live, MomentKind Kind,
                uint32_t Row, uint32_t &Times) {
  const Looking Mine;
  if (!Mine || Live < now(Next))
    return;
  fill(Row + (Times++ & 1), Kind, timeNow());
  Next.store(above(Live));
}

uint32_t threadNumber() {
  static TORCH_CONFIRM_TLS uint32_t Known;
  static TORCH_CONFIRM_TLS uint32_t KnownOf;
  if (KnownOf != Trace->ProcessId) {
    KnownOf = Trace->ProcessId;
    Known = static_cast<uint32_t>(syscall(SYS_gettid));
  }
  return Known;
}

} // namespace

uint64_t timeNow() { return nanoseconds() - startNanoseconds(); }

void startTimeline() {
  const char *Wish = getenv("TORCH_CONFIRM_TIMELINE");
  if (!Wish || !*Wish || std::strcmp(Wish, "0") == 0 || !reserveTimeline())
    return;
  resetTimeline();
  Trace->HasTimeline = 1;
}

void resetTimeline() {
  NextDue.store(0);
  Interval.store(FirstInterval);
  Low.store(INT64_MAX);
  NextCpuPeak.store(1);
  NextCudaPeak.store(1);
  CpuPeaks = CudaPeaks = 0;
  IsLooking.store(0);
  resetIterations();
}

void lookAtOperation(uint64_t Now) {
  const uint64_t Due = now(NextDue);
  if (Now < Due || isAmidIterations(Now))
    return;
  const int64_t Live = now(Trace->LiveCpuBytes) + now(Trace->LiveCudaBytes);
  // Half an interval shows how little is alive between two pieces of work; then
  // the first such moment is taken, or the one when time is over.
  const uint64_t Half = now(Interval) / 2;
  int64_t Least = now(Low);
  if (Live < Least)
    Low.store(Least = Live);
  if (Now < Due + Half ||
      (Live > Least + Least / 64 + 4096 && Now < Due + 3 * Half))
    return;
  const Looking Mine;
  if (Mine && Now >= now(NextDue))
    look(MomentKind::Regular);
}

void lookAfterStep(uint64_t Now) {
  if (Now < now(NextDue))
    return;
  const Looking Mine;
  if (Mine)
    look(MomentKind::AfterStep);
}

void lookAtPeaks() {
  const int64_t Cpu = now(Trace->LiveCpuBytes),
                Cuda = now(Trace->LiveCudaBytes);
  noticePeakOfIteration(Cpu + Cuda);
  if (Cpu >= now(NextCpuPeak))
    lookAtPeak(NextCpuPeak, Cpu, MomentKind::CpuPeak, CpuPeakRow, CpuPeaks);
  if (Cuda >= now(NextCudaPeak))
    lookAtPeak(NextCudaPeak, Cuda, MomentKind::CudaPeak, CudaPeakRow,
               CudaPeaks);
}

void lookAtFailure() {
  const Looking Mine;
  if (Mine)
    fill(FailureRow, MomentKind::Failure, timeNow());
}

void keepEvent(uint32_t Site, uint64_t Begin) {
  if (!Site)
    return;
  const uint64_t End = timeNow();
  bump(siteAt(Site).Nanoseconds, End - Begin);
  const uint64_t Number =
      Trace->EventCount.fetch_add(1, std::memory_order_relaxed);
  const uint64_t Row =
      Number < trace::FirstEvents
          ? Number
          : trace::FirstEvents +
                (Number - trace::FirstEvents) % trace::LastEvents;
  trace::Event &To = sectionAt<trace::Event>(trace::EventsAt)[Row];
  To.Site.store(0, std::memory_order_relaxed);
  To.Thread = threadNumber();
  To.Begin = Begin;
  To.End = End;
  To.Site.store(Site, std::memory_order_release);
}

void runsUnrecorded(uint32_t Site) {
  if (hasTimeline() && Site)
    bump(siteAt(Site).HitsWithoutGrad);
}

} // namespace torchtidy::confirm::probe

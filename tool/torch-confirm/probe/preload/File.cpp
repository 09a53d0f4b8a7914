#include "File.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>

#include <fcntl.h>
#include <limits.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

namespace torchtidy::confirm::probe {
namespace {

char FilePath[PATH_MAX];
uint64_t Start;

/// Series are reserved in groups; this many are.
uint32_t ReservedSeries;
constexpr uint32_t SeriesGroup = 64;
/// When the last ones are.
constexpr uint32_t SeriesInSandbox = 1024;
std::atomic<bool> IsSealed;

/// Places of a row of the held section that are reserved.
uint32_t ReservedHeld[trace::AllMoments];
constexpr uint32_t HeldGroup = 512;
constexpr uint32_t HeldInSandbox = 1024;

/// A program that looks at it after a call is to find its own.
class KeepsErrno {
public:
  ~KeepsErrno() { errno = Before; }

private:
  int Before = errno;
};

/// Whether the file has these bytes on disk.
bool allocate(int File, uint64_t From, uint64_t To) {
  int Failed;
  do
    Failed = fallocate(File, 0, static_cast<off_t>(From),
                       static_cast<off_t>(To - From));
  while (Failed && errno == EINTR);
  // Where it cannot be known, hope.
  return !Failed || errno == EOPNOTSUPP || errno == ENOSYS;
}

/// To make a file longer than the program may would end it.
bool maySize() {
  rlimit Most;
  return getrlimit(RLIMIT_FSIZE, &Most) == 0 &&
         (Most.rlim_cur == RLIM_INFINITY || Most.rlim_cur >= trace::FileSize);
}

bool reserveBetween(uint64_t From, uint64_t To) {
  const KeepsErrno Guard;
  const int File = open(FilePath, O_RDWR | O_CLOEXEC);
  if (File < 0)
    return false;
  const bool Done = allocate(File, From, To);
  close(File);
  return Done;
}

bool reserveUpTo(uint32_t Series) {
  const uint64_t From =
      trace::SeriesAt + ReservedSeries * sizeof(trace::Series);
  const uint64_t To = trace::SeriesAt + Series * sizeof(trace::Series);
  const bool Done =
      reserveBetween(From, To < trace::IterationsAt ? To : trace::IterationsAt);
  if (Done)
    ReservedSeries = Series;
  return Done;
}

/// Takes the file at FilePath. \returns its descriptor, or -1 when it is
/// another's or cannot be used.
int take() {
  if (!maySize())
    return -1;
  const int File = open(FilePath, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (File < 0)
    return -1;
  // Two processes may start at once. Nobody waits for another: the one that is
  // late takes a name of its own.
  struct stat Status;
  if (flock(File, LOCK_EX | LOCK_NB) == 0 && fstat(File, &Status) == 0 &&
      S_ISREG(Status.st_mode) && Status.st_size == 0 &&
      ftruncate(File, static_cast<off_t>(trace::FileSize)) == 0) {
    // A mapping keeps the lock.
    flock(File, LOCK_UN);
    if (allocate(File, 0, trace::SeriesAt))
      return File;
    // A reader is told that there is nothing rather than half of something.
    (void)!ftruncate(File, 0);
  }
  close(File);
  return -1;
}

} // namespace

uint64_t startNanoseconds() { return Start; }

void *mapTraceAgain() {
  const int File = open(FilePath, O_RDONLY | O_CLOEXEC);
  if (File < 0)
    return nullptr;
  void *Memory = mmap(nullptr, trace::FileSize, PROT_READ, MAP_SHARED, File, 0);
  close(File);
  return Memory == MAP_FAILED ? nullptr : Memory;
}

void unmapTrace(void *Mapping) { munmap(Mapping, trace::FileSize); }

bool openTrace(const char *Path) {
  // The program may change its folder before a child is forked.
  char Folder[PATH_MAX];
  const bool IsRelative = Path[0] != '/';
  if (IsRelative && !getcwd(Folder, sizeof(Folder)))
    return false;
  const int Length = IsRelative
                         ? snprintf(FilePath, PATH_MAX, "%s/%s", Folder, Path)
                         : snprintf(FilePath, PATH_MAX, "%s", Path);
  // A process id goes behind it.
  if (Length < 0 || Length >= PATH_MAX - 16)
    return false;

  int File = take();
  // A process may become another program again and again.
  for (int Program = 0; File < 0 && Program < 100; ++Program) {
    const int Process = static_cast<int>(getpid());
    if (Program == 0)
      snprintf(FilePath + Length, 16, ".%d", Process);
    else
      snprintf(FilePath + Length, 16, ".%d%07d", Program, Process);
    File = take();
    if (File < 0 && access(FilePath, F_OK) != 0)
      break;
  }
  if (File < 0)
    return false;
  void *Memory = mmap(Trace, trace::FileSize, PROT_READ | PROT_WRITE,
                      MAP_SHARED | (Trace ? MAP_FIXED : 0), File, 0);
  close(File);
  if (Memory == MAP_FAILED)
    return false;
  Trace = static_cast<trace::Header *>(Memory);
  ReservedSeries = 0;
  std::memset(ReservedHeld, 0, sizeof(ReservedHeld));
  Start = nanoseconds();

  std::memcpy(Trace->Magic, trace::Magic, sizeof(trace::Magic));
  Trace->Version = trace::Version;
  Trace->HeaderSize = sizeof(trace::Header);
  Trace->FileSize = trace::FileSize;
  Trace->ModulesAt = trace::ModulesAt;
  Trace->SitesAt = trace::SitesAt;
  Trace->SeriesAt = trace::SeriesAt;
  Trace->ValuesAt = trace::ValuesAt;
  Trace->ThrownAt = trace::ThrownAt;
  Trace->TextAt = trace::TextAt;
  Trace->IterationsAt = trace::IterationsAt;
  Trace->MomentsAt = trace::MomentsAt;
  Trace->NetworkAt = trace::NetworkAt;
  Trace->EventsAt = trace::EventsAt;
  Trace->HeldAt = trace::HeldAt;
  Trace->ProcessId = static_cast<uint32_t>(getpid());
  Trace->StartedAt = time(nullptr);
  // Offset 0 is the empty text.
  Trace->TextUsed.store(1);
  return true;
}

bool reserveSeries(uint32_t Series) {
  return Series < ReservedSeries ||
         (!IsSealed.load(std::memory_order_relaxed) &&
          reserveUpTo(Series / SeriesGroup * SeriesGroup + SeriesGroup));
}

bool reserveTimeline() {
  return reserveBetween(trace::IterationsAt, trace::HeldAt);
}

uint32_t reserveHeld(uint32_t Row, uint32_t Sites) {
  uint32_t &Reserved = ReservedHeld[Row];
  if (Sites <= Reserved || IsSealed.load(std::memory_order_relaxed))
    return Sites < Reserved ? Sites : Reserved;
  uint32_t Wanted = Sites / HeldGroup * HeldGroup + HeldGroup;
  if (Wanted > trace::MaxSites)
    Wanted = trace::MaxSites;
  const uint64_t At = trace::HeldAt + Row * trace::HeldRow;
  if (!reserveBetween(At + Reserved * sizeof(trace::HeldBySite),
                      At + Wanted * sizeof(trace::HeldBySite)))
    return Reserved;
  Reserved = Wanted;
  return Sites;
}

void sealTrace() {
  if (!IsSealed.load(std::memory_order_relaxed)) {
    reserveUpTo(ReservedSeries + SeriesInSandbox);
    for (uint32_t Row = 0; Trace->HasTimeline && Row < trace::AllMoments; ++Row)
      reserveHeld(Row, HeldInSandbox);
  }
  IsSealed.store(true, std::memory_order_relaxed);
}

bool isTraceSealed() { return IsSealed.load(std::memory_order_relaxed); }

} // namespace torchtidy::confirm::probe

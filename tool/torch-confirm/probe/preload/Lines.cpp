#include "Lines.h"

#include "../../trace/Lines.h"
#include "Code.h"
#include "Modules.h"
#include "Traps.h"
#include "Trial.h"

#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

// Of the loader's; another C library may have none.
#pragma weak _r_debug

namespace torchtidy::confirm::probe {
namespace {

using trace::LinesProblem;

constexpr uint8_t Return = 0xc3;

trace::LinesHeader *File;
/// Of each module in this process: where it is loaded, and 1 more; 0 where it
/// is not.
std::atomic<uintptr_t> Bases[trace::MaxLineModules];
/// Where the loader says that it has loaded something. It stays here when the
/// breakpoint goes, for a thread that is just about to hit it.
std::atomic<uintptr_t> LoaderAt;

trace::LinesModule &moduleAt(uint32_t I) {
  return reinterpret_cast<trace::LinesModule *>(reinterpret_cast<char *>(File) +
                                                trace::LinesModulesAt)[I];
}
trace::LinesAddress &addressAt(uint32_t I) {
  return reinterpret_cast<trace::LinesAddress *>(
      reinterpret_cast<char *>(File) + trace::LinesAddressesAt)[I];
}

void say(LinesProblem What) {
  File->Problems[static_cast<uint32_t>(What)].fetch_add(1);
}

bool mapFile(const char *Path) {
  const int Opened = open(Path, O_RDWR | O_CLOEXEC);
  if (Opened < 0)
    return false;
  struct stat Status;
  void *Memory = MAP_FAILED;
  if (fstat(Opened, &Status) == 0 &&
      static_cast<uint64_t>(Status.st_size) >= trace::linesFileSize(0))
    Memory = mmap(nullptr, static_cast<size_t>(Status.st_size),
                  PROT_READ | PROT_WRITE, MAP_SHARED, Opened, 0);
  close(Opened);
  if (Memory == MAP_FAILED)
    return false;
  File = static_cast<trace::LinesHeader *>(Memory);
  if (std::memcmp(File->Magic, trace::LinesMagic, sizeof(trace::LinesMagic)) ==
          0 &&
      File->Version == trace::LinesVersion &&
      File->ModuleCount <= trace::MaxLineModules &&
      static_cast<uint64_t>(Status.st_size) ==
          trace::linesFileSize(File->AddressCount))
    return true;
  munmap(Memory, static_cast<size_t>(Status.st_size));
  File = nullptr;
  return false;
}

/// The number behind a word of /proc/self/status.
long statusOf(const char *Word) {
  char Text[4096];
  const int Opened = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
  const ssize_t Got = Opened < 0 ? -1 : read(Opened, Text, sizeof(Text) - 1);
  if (Opened >= 0)
    close(Opened);
  Text[Got > 0 ? Got : 0] = 0;
  const char *At = std::strstr(Text, Word);
  return At ? std::strtol(At + std::strlen(Word), nullptr, 10) : -1;
}

/// The number of a loaded file among the modules; the count where it is none.
uint32_t numberOf(const dl_phdr_info &Info, const char *Path) {
  trace::Module Own = {};
  takeBuildId(Info, Own);
  struct stat Status = {};
  const bool IsThere = stat(Path, &Status) == 0;
  for (uint32_t I = 0; I < File->ModuleCount; ++I) {
    const trace::LinesModule &Each = moduleAt(I);
    if (Each.BuildIdSize != Own.BuildIdSize)
      continue;
    if (Each.BuildIdSize
            ? std::memcmp(Each.BuildId, Own.BuildId, Own.BuildIdSize) == 0
            : IsThere && Each.Device == Status.st_dev &&
                  Each.Inode == Status.st_ino &&
                  Each.Size == static_cast<uint64_t>(Status.st_size))
      return I;
  }
  return File->ModuleCount;
}

bool isCode(const dl_phdr_info &Info, uintptr_t At, uint32_t Size) {
  for (int I = 0; I < Info.dlpi_phnum; ++I) {
    const ElfW(Phdr) &Header = Info.dlpi_phdr[I];
    const uintptr_t Begin = Info.dlpi_addr + Header.p_vaddr;
    if (Header.p_type == PT_LOAD && (Header.p_flags & PF_X) && At >= Begin &&
        At + Size <= Begin + Header.p_filesz)
      return true;
  }
  return false;
}

void plant(const dl_phdr_info &Info, const trace::LinesModule &Module) {
  // In order of addresses: what was written stays behind what is compared.
  for (uint32_t I = Module.First; I < Module.First + Module.Count; ++I) {
    trace::LinesAddress &Each = addressAt(I);
    if (Each.State.load() & trace::LineIsHit)
      continue;
    const uintptr_t At = Info.dlpi_addr + Each.Address;
    const bool Done = isCode(Info, At, Each.CodeSize) &&
                      std::memcmp(reinterpret_cast<const void *>(At), Each.Code,
                                  Each.CodeSize) == 0 &&
                      writeCode(At, Breakpoint);
    Each.State.fetch_or(Done ? trace::LineIsPlanted : trace::LineIsLost);
  }
}

void keepOther(const char *Path) {
  const uint32_t Count = File->OtherCount.load();
  constexpr size_t Size = sizeof(File->Others[0]);
  for (uint32_t I = 0; I < Count && I < trace::MaxOtherModules; ++I)
    if (std::strncmp(File->Others[I], Path, Size - 1) == 0)
      return;
  const uint32_t I = File->OtherCount.fetch_add(1);
  if (I < trace::MaxOtherModules)
    std::memcpy(File->Others[I], Path, strnlen(Path, Size - 1));
}

struct Scan {
  bool IsFirst = true;
  /// Look only.
  bool IsDry;
  bool HasAny = false;
  uint64_t Seen = 0;
};

int take(dl_phdr_info *Info, size_t, void *Context) {
  Scan &Now = *static_cast<Scan *>(Context);
  const bool IsProgram = Now.IsFirst;
  Now.IsFirst = false;
  char Program[PATH_MAX];
  const char *Path = Info->dlpi_name ? Info->dlpi_name : "";
  if (IsProgram) {
    const ssize_t Size = readlink("/proc/self/exe", Program, PATH_MAX - 1);
    Program[Size > 0 ? Size : 0] = 0;
    Path = Program;
  }
  if (!IsProgram && !isOfUser(Path))
    return 0;
  const uint32_t I = numberOf(*Info, Path);
  if (I == File->ModuleCount) {
    if (!Now.IsDry)
      keepOther(Path);
    return 0;
  }
  Now.HasAny = true;
  Now.Seen |= uint64_t(1) << I;
  if (Now.IsDry || Bases[I].load() == Info->dlpi_addr + 1)
    return 0;
  // Before the first breakpoint: another thread may hit it at once.
  Bases[I].store(Info->dlpi_addr + 1);
  moduleAt(I).Loads.fetch_add(1);
  plant(*Info, moduleAt(I));
  return 0;
}

void lookAtModules() {
  Scan Now;
  Now.IsDry = false;
  dl_iterate_phdr(take, &Now);
  for (uint32_t I = 0; I < File->ModuleCount; ++I)
    if (!(Now.Seen >> I & 1))
      Bases[I].store(0);
}

#if defined(__x86_64__)
/// A debugger's way to learn of libraries: the loader calls an empty function
/// before and after it loads some.
bool watchLoader() {
  if (&_r_debug == nullptr || !_r_debug.r_brk)
    return false;
  uintptr_t At = _r_debug.r_brk;
  constexpr uint8_t Branch[] = {0xf3, 0x0f, 0x1e, 0xfa};
  if (std::memcmp(reinterpret_cast<const void *>(At), Branch, sizeof(Branch)) ==
      0)
    At += sizeof(Branch);
  if (*reinterpret_cast<const uint8_t *>(At) != Return)
    return false;
  LoaderAt.store(At);
  return writeCode(At, Breakpoint);
}
#endif

/// \returns what keeps breakpoints from this process.
LinesProblem begin() {
#if defined(__x86_64__)
  if (statusOf("TracerPid:") > 0)
    return LinesProblem::Traced;
  sigset_t Blocked;
  if (sigprocmask(SIG_BLOCK, nullptr, &Blocked) == 0 &&
      sigismember(&Blocked, SIGTRAP) && statusOf("Threads:") != 1)
    return LinesProblem::Blocked;
  if (isUnderValgrind() || !takeTraps() || !tryBreakpoint())
    return LinesProblem::Trial;
  lookAtModules();
  if (!watchLoader())
    say(LinesProblem::Loader);
  return LinesProblem::None;
#else
  return LinesProblem::Processor;
#endif
}

} // namespace

void watchLines() {
  const char *Path = getenv(trace::LinesVariable);
  bool IsConcerned = Path && *Path && mapFile(Path);
  if (IsConcerned) {
    Scan Now;
    Now.IsDry = true;
    dl_iterate_phdr(take, &Now);
    // Not a shell, or make.
    IsConcerned = Now.HasAny || isLoaded("libc10.so");
  }
  if (!IsConcerned)
    return giveTrapsBack();
  File->Processes.fetch_add(1);
  const LinesProblem Problem = begin();
  if (Problem == LinesProblem::None)
    return;
  giveTrapsBack();
  say(Problem);
}

uintptr_t lineTrap(uintptr_t At) {
#if defined(__x86_64__)
  if (const uintptr_t Next = trialTrap(At))
    return Next;
  if (At == LoaderAt.load()) {
    lookAtModules();
    // To an instruction that does what the one at the breakpoint does.
    return returnInstruction();
  }
#endif
  for (uint32_t I = 0; File && I < File->ModuleCount; ++I) {
    const uintptr_t Base = Bases[I].load();
    if (!Base)
      continue;
    uint32_t First = moduleAt(I).First, End = First + moduleAt(I).Count;
    while (First < End) {
      const uint32_t Middle = First + (End - First) / 2;
      trace::LinesAddress &Each = addressAt(Middle);
      const uintptr_t There = Base - 1 + Each.Address;
      if (There == At) {
        Each.State.fetch_or(trace::LineIsHit);
        // Of threads that come at once, each writes the same.
        return writeCode(At, Each.Code[0]) ? At : 0;
      }
      if (There < At)
        First = Middle + 1;
      else
        End = Middle;
    }
  }
  return 0;
}

void leaveLines() {
  for (uint32_t I = 0; File && I < File->ModuleCount; ++I) {
    const uintptr_t Base = Bases[I].load();
    const trace::LinesModule &Module = moduleAt(I);
    for (uint32_t J = Module.First; Base && J < Module.First + Module.Count;
         ++J) {
      trace::LinesAddress &Each = addressAt(J);
      const uint32_t State = Each.State.load();
      const uintptr_t At = Base - 1 + Each.Address;
      if ((State & trace::LineIsPlanted) && !(State & trace::LineIsHit)) {
        Each.State.fetch_or(trace::LineIsLost);
        if (*reinterpret_cast<const uint8_t *>(At) == Breakpoint)
          writeCode(At, Each.Code[0]);
      }
    }
  }
  if (const uintptr_t At = LoaderAt.load())
    writeCode(At, Return);
  if (File)
    say(LinesProblem::Taken);
}

} // namespace torchtidy::confirm::probe

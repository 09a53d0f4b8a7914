#include "Modules.h"

#include "Sites.h"

#include <cstdlib>
#include <cstring>
#include <initializer_list>

#include <limits.h>
#include <unistd.h>

namespace torchtidy::confirm::probe {
namespace {

struct Range {
  uintptr_t Begin, End;
  bool IsUser;
};
// Only ever appended to, so that it is read without a lock.
Range Ranges[trace::MaxModules];
std::atomic<uint32_t> RangeCount;
std::atomic<uint64_t> LoadsSeen;
SpinLock ModulesLock;

bool beginsWith(const char *Text, const char *With) {
  return std::strncmp(Text, With, std::strlen(With)) == 0;
}

const char *fileName(const char *Path) {
  const char *Slash = std::strrchr(Path, '/');
  return Slash ? Slash + 1 : Path;
}

/// Whether a path begins with one of those in the variable, "a:b".
bool isNamedIn(const char *Variable, const char *Path) {
  const char *List = getenv(Variable);
  while (List && *List) {
    const char *End = std::strchr(List, ':');
    const size_t Size =
        End ? static_cast<size_t>(End - List) : std::strlen(List);
    if (Size && std::strncmp(Path, List, Size) == 0)
      return true;
    List = End ? End + 1 : nullptr;
  }
  return false;
}

/// Whether a shared library is somebody else's code.
bool isForeign(const char *Path) {
  if (isNamedIn("TORCH_CONFIRM_USER_LIBRARIES", Path))
    return false;
  for (const char *Folder : {"/lib/", "/lib32/", "/lib64/", "/usr/lib/",
                             "/usr/lib32/", "/usr/lib64/", "/opt/intel/"})
    if (beginsWith(Path, Folder))
      return true;
  const char *Name = fileName(Path);
  for (const char *Prefix :
       {"ld-linux", "linux-vdso", "libtorch", "libc10", "libcaffe2", "libshm.",
        "libgomp", "libiomp", "libomp.", "libmkl", "libcu", "libnv", "libnccl",
        "libstdc++", "libgcc_s", "libc++", "libunwind", "libpython", "libtbb"})
    if (beginsWith(Name, Prefix))
      return true;
  return std::strstr(Path, "/nvidia/") || std::strstr(Path, "/cuda");
}

bool isKnown(uintptr_t Begin, uintptr_t End) {
  const uint32_t Count = RangeCount.load(std::memory_order_relaxed);
  for (uint32_t I = 0; I < Count; ++I)
    if (Ranges[I].Begin == Begin && Ranges[I].End == End)
      return true;
  return false;
}

int take(dl_phdr_info *Info, size_t, void *Context) {
  bool &IsFirst = *static_cast<bool *>(Context);
  const bool IsProgram = IsFirst;
  IsFirst = false;
  uintptr_t Begin = UINTPTR_MAX, End = 0;
  for (int I = 0; I < Info->dlpi_phnum; ++I) {
    const ElfW(Phdr) &Header = Info->dlpi_phdr[I];
    if (Header.p_type != PT_LOAD || !(Header.p_flags & PF_X))
      continue;
    const uintptr_t From = Info->dlpi_addr + Header.p_vaddr;
    Begin = From < Begin ? From : Begin;
    End = From + Header.p_memsz > End ? From + Header.p_memsz : End;
  }
  const uint32_t Count = RangeCount.load(std::memory_order_relaxed);
  if (End == 0 || Count == trace::MaxModules || isKnown(Begin, End))
    return 0;

  char Program[PATH_MAX] = "";
  const char *Path = Info->dlpi_name ? Info->dlpi_name : "";
  if (IsProgram) {
    const ssize_t Size = readlink("/proc/self/exe", Program, PATH_MAX - 1);
    Program[Size > 0 ? Size : 0] = 0;
    Path = Program;
  }
  // Skip the probe's own frames.
  const uintptr_t Own = reinterpret_cast<uintptr_t>(&take);
  const bool IsOwn = (Own >= Begin && Own < End) ||
                     beginsWith(fileName(Path), "libtorch-confirm");
  const bool IsUser = IsProgram || (!IsOwn && *Path && !isForeign(Path));

  trace::Module &Module = reinterpret_cast<trace::Module *>(
      reinterpret_cast<char *>(Trace) + trace::ModulesAt)[Count];
  std::memset(&Module, 0, sizeof(Module));
  Module.Path = keepText(Path);
  Module.IsUser = IsUser;
  Module.LoadBase = Info->dlpi_addr;
  Module.Begin = Begin;
  Module.End = End;
  takeBuildId(*Info, Module);
  Ranges[Count] = {Begin, End, IsUser};
  RangeCount.store(Count + 1, std::memory_order_release);
  Trace->ModuleCount.store(Count + 1, std::memory_order_release);
  return 0;
}

int countLoads(dl_phdr_info *Info, size_t, void *Context) {
  *static_cast<uint64_t *>(Context) = Info->dlpi_adds;
  return 1;
}

const Range *find(uintptr_t Address) {
  const uint32_t Count = RangeCount.load(std::memory_order_acquire);
  // From behind: where one was unloaded and another took its place, the later
  // one counts.
  for (uint32_t I = Count; I-- > 0;)
    if (Address - Ranges[I].Begin < Ranges[I].End - Ranges[I].Begin)
      return &Ranges[I];
  return nullptr;
}

struct Wanted {
  const char *Name;
  char *Path;
  size_t Size;
};

int matches(dl_phdr_info *Info, size_t, void *Context) {
  Wanted &Want = *static_cast<Wanted *>(Context);
  if (!Info->dlpi_name || !beginsWith(fileName(Info->dlpi_name), Want.Name))
    return 0;
  if (Want.Size) {
    std::strncpy(Want.Path, Info->dlpi_name, Want.Size - 1);
    Want.Path[Want.Size - 1] = 0;
  }
  return 1;
}

} // namespace

bool isOfUser(const char *Path) { return *Path && !isForeign(Path); }

void takeBuildId(const dl_phdr_info &Info, trace::Module &Module) {
  for (int I = 0; I < Info.dlpi_phnum; ++I) {
    const ElfW(Phdr) &Header = Info.dlpi_phdr[I];
    if (Header.p_type != PT_NOTE)
      continue;
    const char *At =
        reinterpret_cast<const char *>(Info.dlpi_addr + Header.p_vaddr);
    const char *End = At + Header.p_memsz;
    while (At + sizeof(ElfW(Nhdr)) <= End) {
      ElfW(Nhdr) Note;
      std::memcpy(&Note, At, sizeof(Note));
      const char *Name = At + sizeof(Note);
      const char *Data = Name + (Note.n_namesz + 3) / 4 * 4;
      if (Data + Note.n_descsz > End)
        break;
      if (Note.n_type == NT_GNU_BUILD_ID && Note.n_namesz == 4 &&
          std::memcmp(Name, "GNU", 4) == 0 &&
          Note.n_descsz <= sizeof(Module.BuildId)) {
        Module.BuildIdSize = Note.n_descsz;
        std::memcpy(Module.BuildId, Data, Note.n_descsz);
        return;
      }
      At = Data + (Note.n_descsz + 3) / 4 * 4;
    }
  }
}

void findModules() {
  Locked Lock(ModulesLock);
  uint64_t Loads = 0;
  dl_iterate_phdr(countLoads, &Loads);
  bool IsFirst = true;
  dl_iterate_phdr(take, &IsFirst);
  LoadsSeen.store(Loads, std::memory_order_relaxed);
}

bool isUserCode(uintptr_t Address) {
  const Range *Found = find(Address);
  if (!Found) {
    uint64_t Loads = 0;
    dl_iterate_phdr(countLoads, &Loads);
    if (Loads == LoadsSeen.load(std::memory_order_relaxed))
      return false;
    findModules();
    Found = find(Address);
  }
  return Found && Found->IsUser;
}

bool isLoaded(const char *Name) {
  Wanted Want{Name, nullptr, 0};
  return dl_iterate_phdr(matches, &Want) != 0;
}

bool pathOf(const char *Name, char *Path, size_t Size) {
  Wanted Want{Name, Path, Size};
  return dl_iterate_phdr(matches, &Want) != 0;
}

} // namespace torchtidy::confirm::probe

#include "Hooks.h"

#include <cstring>
#include <initializer_list>

#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

namespace torchtidy::confirm::probe {

Returned::Returned() {}
Returned::Returned(const Returned &) {}
Returned::~Returned() {}

void *findNext(std::atomic<void *> &Known, const char *Symbol) {
  void *Next = dlsym(RTLD_NEXT, Symbol);
  // A library that was opened for itself is not in the search order.
  for (const char *Library :
       {"libc10.so", "libtorch_cpu.so", "libc10_cuda.so", "libtorch_cuda.so"}) {
    if (Next)
      break;
    if (void *Handle = dlopen(Library, RTLD_LAZY | RTLD_NOLOAD))
      Next = dlsym(Handle, Symbol);
  }
  Known.store(Next, std::memory_order_release);
  return Next;
}

namespace {

#if defined(__x86_64__)
constexpr unsigned ByPointer = R_X86_64_64, ByTable = R_X86_64_GLOB_DAT,
                   ByCall = R_X86_64_JUMP_SLOT;
#elif defined(__aarch64__)
constexpr unsigned ByPointer = R_AARCH64_ABS64, ByTable = R_AARCH64_GLOB_DAT,
                   ByCall = R_AARCH64_JUMP_SLOT;
#else
#error "the probe knows x86-64 and aarch64"
#endif

/// The dynamic section of a library.
struct Library {
  const ElfW(Sym) *Symbols = nullptr;
  const char *Names = nullptr;
  const uint32_t *GnuHash = nullptr;
  const uint32_t *Hash = nullptr;
  const ElfW(Rela) *Calls = nullptr, *Others = nullptr;
  size_t CallCount = 0, OtherCount = 0, RelativeCount = 0;
};

struct Wanted {
  const char *Name;
  Library Found;
  bool IsFound;
};

int take(dl_phdr_info *Info, size_t, void *Context) {
  Wanted &Want = *static_cast<Wanted *>(Context);
  const char *Path = Info->dlpi_name ? Info->dlpi_name : "";
  const char *Slash = std::strrchr(Path, '/');
  const char *Name = Slash ? Slash + 1 : Path;
  if (std::strncmp(Name, Want.Name, std::strlen(Want.Name)) != 0)
    return 0;
  const ElfW(Dyn) *Entry = nullptr;
  for (int I = 0; I < Info->dlpi_phnum; ++I)
    if (Info->dlpi_phdr[I].p_type == PT_DYNAMIC)
      Entry = reinterpret_cast<const ElfW(Dyn) *>(Info->dlpi_addr +
                                                  Info->dlpi_phdr[I].p_vaddr);
  Library &To = Want.Found;
  for (; Entry && Entry->d_tag != DT_NULL; ++Entry) {
    // glibc has turned the addresses into those of the process.
    const uintptr_t Value = Entry->d_un.d_ptr;
    switch (Entry->d_tag) {
    case DT_SYMTAB:
      To.Symbols = reinterpret_cast<const ElfW(Sym) *>(Value);
      break;
    case DT_STRTAB:
      To.Names = reinterpret_cast<const char *>(Value);
      break;
    case DT_GNU_HASH:
      To.GnuHash = reinterpret_cast<const uint32_t *>(Value);
      break;
    case DT_HASH:
      To.Hash = reinterpret_cast<const uint32_t *>(Value);
      break;
    case DT_JMPREL:
      To.Calls = reinterpret_cast<const ElfW(Rela) *>(Value);
      break;
    case DT_PLTRELSZ:
      To.CallCount = Value / sizeof(ElfW(Rela));
      break;
    case DT_RELA:
      To.Others = reinterpret_cast<const ElfW(Rela) *>(Value);
      break;
    case DT_RELASZ:
      To.OtherCount = Value / sizeof(ElfW(Rela));
      break;
    case DT_RELACOUNT:
      To.RelativeCount = Value;
      break;
    default:
      break;
    }
  }
  Want.IsFound = To.Symbols && To.Names;
  return 1;
}

bool isNamed(const Library &In, uint32_t Symbol, const char *Name) {
  return std::strcmp(In.Names + In.Symbols[Symbol].st_name, Name) == 0;
}

/// The index of a symbol, defined or not; 0 where there is none.
uint32_t indexOf(const Library &In, const char *Name) {
  if (!In.GnuHash) {
    const uint32_t Count = In.Hash ? In.Hash[1] : 0;
    for (uint32_t I = 1; I < Count; ++I)
      if (isNamed(In, I, Name))
        return I;
    return 0;
  }
  const uint32_t BucketCount = In.GnuHash[0], First = In.GnuHash[1],
                 BloomSize = In.GnuHash[2];
  const auto *Bloom = reinterpret_cast<const ElfW(Addr) *>(In.GnuHash + 4);
  const auto *Buckets = reinterpret_cast<const uint32_t *>(Bloom + BloomSize);
  const uint32_t *Chain = Buckets + BucketCount;
  // Symbols that are only used are not in the hash table; they come first.
  for (uint32_t I = 1; I < First; ++I)
    if (isNamed(In, I, Name))
      return I;
  uint32_t Hash = 5381;
  for (const char *At = Name; *At; ++At)
    Hash = Hash * 33 + static_cast<unsigned char>(*At);
  uint32_t I = BucketCount ? Buckets[Hash % BucketCount] : 0;
  for (; I >= First && I; ++I) {
    const uint32_t Here = Chain[I - First];
    if ((Here | 1) == (Hash | 1) && isNamed(In, I, Name))
      return I;
    if (Here & 1)
      break;
  }
  return 0;
}

bool isRelocated(const ElfW(Rela) * From, size_t Count, uint32_t Symbol) {
  for (size_t I = 0; I < Count; ++I) {
    const auto Info = From[I].r_info;
    if (ELF64_R_SYM(Info) != Symbol)
      continue;
    const unsigned Type = ELF64_R_TYPE(Info);
    if (Type == ByCall || Type == ByTable || Type == ByPointer)
      return true;
  }
  return false;
}

/// Whether an address is in the probe.
bool isOwn(void *Address) {
  Dl_info Info, Own;
  return Address && dladdr(Address, &Info) &&
         dladdr(reinterpret_cast<void *>(&findNext), &Own) &&
         Info.dli_fbase == Own.dli_fbase;
}

} // namespace

Binding bindingOf(const char *Name, const char *Symbol) {
  Wanted Want{Name, {}, false};
  dl_iterate_phdr(take, &Want);
  if (!Want.IsFound)
    return Binding::NoLibrary;
  const Library &In = Want.Found;
  const uint32_t Index = indexOf(In, Symbol);
  if (!Index)
    return Binding::NotBySymbol;
  const size_t Relative =
      In.RelativeCount < In.OtherCount ? In.RelativeCount : In.OtherCount;
  if (!isRelocated(In.Calls, In.Calls ? In.CallCount : 0, Index) &&
      !isRelocated(In.Others ? In.Others + Relative : nullptr,
                   In.Others ? In.OtherCount - Relative : 0, Index))
    return Binding::NotBySymbol;
  return isOwn(dlsym(RTLD_DEFAULT, Symbol)) ? Binding::Hooked
                                            : Binding::Elsewhere;
}

void *replaceVirtual(const char *Table, uint32_t At, void *Function) {
  void **Slots = static_cast<void **>(dlsym(RTLD_DEFAULT, Table));
  if (!Slots)
    return nullptr;
  // Before the functions: the offset to the top, and the type.
  void **Slot = Slots + 2 + At;
  void *Before = *Slot;
  const uintptr_t PageSize = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const uintptr_t Page =
      reinterpret_cast<uintptr_t>(Slot) / PageSize * PageSize;
  // Constant once it is relocated.
  if (mprotect(reinterpret_cast<void *>(Page), PageSize,
               PROT_READ | PROT_WRITE) != 0)
    return nullptr;
  *Slot = Function;
  mprotect(reinterpret_cast<void *>(Page), PageSize, PROT_READ);
  return Before;
}

} // namespace torchtidy::confirm::probe

#include "Experiment.h"

#include "../../trace/StackHash.h"
#include "Sites.h"

#include <cstdio>
#include <cstdlib>

#include <fcntl.h>
#include <unistd.h>

namespace torchtidy::confirm::probe {
namespace {

constexpr uint32_t MostStacks = 4096;
uint64_t *Stacks;
uint32_t StackCount;

/// Of each site: not looked at yet, or what was found.
enum State : uint8_t { Unknown, No, Yes };
std::atomic<uint8_t> *States;

const trace::Module *moduleOf(uintptr_t Address) {
  const auto *Modules = reinterpret_cast<const trace::Module *>(
      reinterpret_cast<const char *>(Trace) + trace::ModulesAt);
  const uint32_t Count = Trace->ModuleCount.load(std::memory_order_acquire);
  for (uint32_t I = 0; I < Count; ++I)
    if (Modules[I].Begin <= Address && Address < Modules[I].End)
      return &Modules[I];
  return nullptr;
}

bool isMeant(uint32_t At) {
  const trace::Site &Site = siteAt(At);
  // Other stacks may end in the same frames.
  if (Site.IsShortened || !Site.FrameCount)
    return false;
  trace::StackHash Hash;
  for (uint32_t I = 0; I < Site.FrameCount; ++I) {
    const trace::Module *Module = moduleOf(Site.Frames[I]);
    if (!Module)
      return false;
    Hash.add(textAt(Module->Path), Site.Frames[I] - Module->LoadBase);
  }
  for (uint32_t I = 0; I < StackCount; ++I)
    if (Stacks[I] == Hash.value())
      return true;
  return false;
}

} // namespace

void prepareExperiment() {
  const char *Path = getenv("TORCH_CONFIRM_NO_GRAD");
  if (!Path || !*Path)
    return;
  // 16 digits and the end of the line.
  constexpr size_t LineSize = 17;
  const int File = open(Path, O_RDONLY | O_CLOEXEC);
  Stacks = static_cast<uint64_t *>(reserve(MostStacks * sizeof(*Stacks)));
  States = static_cast<std::atomic<uint8_t> *>(
      reserve(trace::MaxSites * sizeof(*States)));
  char Line[LineSize];
  while (File >= 0 && Stacks && States && StackCount < MostStacks &&
         read(File, Line, LineSize) == static_cast<ssize_t>(LineSize)) {
    Line[LineSize - 1] = 0;
    Stacks[StackCount++] = std::strtoull(Line, nullptr, 16);
  }
  if (File >= 0)
    close(File);
}

bool runsWithoutGrad(uint32_t Site) {
  if (__builtin_expect(!StackCount, 1))
    return false;
  uint8_t Known = States[Site].load(std::memory_order_relaxed);
  if (Known == Unknown) {
    Known = isMeant(Site) ? Yes : No;
    States[Site].store(Known, std::memory_order_relaxed);
  }
  return Known == Yes;
}

} // namespace torchtidy::confirm::probe

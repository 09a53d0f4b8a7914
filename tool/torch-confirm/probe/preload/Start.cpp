// The start: whether to record in this process, what can be measured in it, and
// what happens at a fork.
//
// Environment:
//   TORCH_CONFIRM_TRACE=<file>  where to write. Without it a preloaded probe
//   does
//                               nothing, and one that the program is linked
//                               with writes torch-confirm.<process id>.trace.
//   TORCH_CONFIRM_OFF=1         do nothing.
//   TORCH_CONFIRM_HEAP=1        also sample malloc's bytes in use, at each hit.
//   TORCH_CONFIRM_TIMELINE=1    also keep what is alive over time, iterations
//                               and times of operations; see Timeline.h.
//   TORCH_CONFIRM_NO_GRAD=<file>
//                               an experiment: operations of the stacks that it
//                               lists run with grad mode off.
//   TORCH_CONFIRM_DETERMINISTIC=1
//                               ask LibTorch for deterministic algorithms
//                               (torch/Observer.cpp).
//   TORCH_CONFIRM_UNWIND=memo|libunwind|unwind
//                               how stacks are captured; see Stacks.cpp.
//   TORCH_CONFIRM_USER_LIBRARIES=<prefix>:<prefix>
//                               libraries whose paths begin so are the user's,
//                               wherever they lie.
//   TORCH_CONFIRM_LINES=<file>  torch-confirm's file of flagged lines; see
//                               Lines.h.

#include "Allocations.h"
#include "Backward.h"
#include "Copies.h"
#include "Exceptions.h"
#include "Experiment.h"
#include "File.h"
#include "Gradients.h"
#include "Lines.h"
#include "Members.h"
#include "Modules.h"
#include "Nodes.h"
#include "Operations.h"
#include "Runtime.h"
#include "Sites.h"
#include "Stacks.h"
#include "Timeline.h"
#include "Traps.h"
#include "Wrapped.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

namespace torchtidy::confirm::probe {
namespace {

using trace::Quantity;

char TracePath[PATH_MAX];
SpinLock StartLock;
/// Of the child of a fork that has not begun to record.
bool IsForked;
uint32_t ParentId;
int64_t CpuAtFork, CudaAtFork, NodesAtFork;

const ProbeSide Probe = {operationBegins,
                         operationEnds,
                         countShape,
                         keepShape,
                         isOfOneElement,
                         runsInMode,
                         takesScale,
                         operandsAre,
                         wasGiven,
                         unclearedStep,
                         leafTrained,
                         leafStepped,
                         gradientEnds,
                         flowsInto,
                         writes,
                         views,
                         copiesAgain,
                         stretchesNot,
                         runsUnderAutocast,
                         givenHalf,
                         savedWasWritten,
                         leafWasWritten,
                         optimizerMadeAgain,
                         runsWithoutGrad,
                         isWatchingStorages,
                         usesStorage,
                         castTaken,
                         memberReplaced,
                         moduleMadeAt,
                         memberCalled,
                         parameterListed,
                         bytesOfBlock,
                         runsUnrecorded,
                         networkBegins,
                         networkStarts,
                         networkTensor,
                         networkEnds,
                         networkStepped};

/// Where the environment and the way the probe came into the process say to
/// write; false for nowhere.
bool choosePath() {
  const char *Off = getenv("TORCH_CONFIRM_OFF");
  if (Off && *Off && std::strcmp(Off, "0") != 0)
    return false;
  const char *Path = getenv("TORCH_CONFIRM_TRACE");
  if (Path && *Path)
    return snprintf(TracePath, PATH_MAX, "%s", Path) < PATH_MAX;
  // A child of a probed program inherits the preloading.
  Dl_info Own;
  const char *Preloaded = getenv("LD_PRELOAD");
  if (!dladdr(reinterpret_cast<void *>(&choosePath), &Own) || !Own.dli_fname)
    return false;
  const char *Slash = std::strrchr(Own.dli_fname, '/');
  if (Preloaded && std::strstr(Preloaded, Slash ? Slash + 1 : Own.dli_fname))
    return false;
  return snprintf(TracePath, PATH_MAX, "torch-confirm.%d.trace",
                  static_cast<int>(getpid())) < PATH_MAX;
}

void say(Quantity Of, bool IsAvailable, const char *Reason) {
  trace::Capability &To = Trace->Capabilities[static_cast<uint32_t>(Of)];
  To.Reason.store(keepText(Reason));
  To.Available.store(IsAvailable);
}

void say(Quantity Of, Binding By, const char *Library, const char *What) {
  char Reason[256] = "";
  switch (By) {
  case Binding::Hooked:
    break;
  case Binding::NoLibrary:
    snprintf(Reason, sizeof(Reason), "%s is not loaded", Library);
    break;
  case Binding::NotBySymbol:
    snprintf(Reason, sizeof(Reason),
             "%s does not call %s by its symbol: it is of another version, or "
             "bound symbolically",
             Library, What);
    break;
  case Binding::Elsewhere:
    snprintf(Reason, sizeof(Reason),
             "another library defines %s before the probe does", What);
    break;
  }
  say(Of, By == Binding::Hooked, Reason);
}

/// The other half of the probe lies beside this one. \returns what is wrong, or
/// null; the text is kept.
const char *openTorchSide() {
  static char Wrong[PATH_MAX + 128];
  Dl_info Own;
  char Path[PATH_MAX];
  if (!dladdr(reinterpret_cast<void *>(&openTorchSide), &Own))
    return "the probe's own folder is not known";
  const char *Slash = std::strrchr(Own.dli_fname, '/');
  const int Folder = Slash ? static_cast<int>(Slash + 1 - Own.dli_fname) : 0;
  if (snprintf(Path, PATH_MAX, "%.*slibtorch-confirm-torch.so", Folder,
               Own.dli_fname) >= PATH_MAX)
    return "the path of the probe is too long";
  // Bound at once: what is missing in this LibTorch is said, not met later.
  void *Library = dlopen(Path, RTLD_NOW | RTLD_LOCAL);
  if (!Library) {
    const char *Error = dlerror();
    snprintf(Wrong, sizeof(Wrong), "the probe does not fit this LibTorch: %s",
             Error ? Error : Path);
    return Wrong;
  }
  auto Get = reinterpret_cast<GetTorchSide>(
      dlsym(Library, "torch_confirm_torch_side"));
  const TorchSide *Side = Get ? Get(BridgeVersion) : nullptr;
  if (!Side)
    return "the two halves of the probe are of different versions";
  char Loaded[PATH_MAX];
  struct stat Status;
  if (Side->LibrarySize && pathOf("libtorch_cpu.so", Loaded, PATH_MAX) &&
      stat(Loaded, &Status) == 0 &&
      static_cast<uint64_t>(Status.st_size) != Side->LibrarySize) {
    snprintf(Wrong, sizeof(Wrong),
             "the probe was compiled for another LibTorch, %s, than %s",
             Side->Version, Loaded);
    return Wrong;
  }
  Torch = Side;
  return nullptr;
}

void findArguments() {
  char Words[16384];
  const int File = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
  if (File < 0)
    return;
  const ssize_t Got = read(File, Words, sizeof(Words) - 1);
  close(File);
  if (Got <= 0)
    return;
  Words[Got] = 0;
  for (ssize_t At = 0; At < Got;
       At += static_cast<ssize_t>(std::strlen(Words + At)) + 1) {
    const TextOffset Text = appendText(Words + At);
    if (!Text)
      return;
    if (!Trace->ArgumentCount)
      Trace->Arguments = Text;
    ++Trace->ArgumentCount;
  }
}

void findCapabilities(const char *Wrong) {
  const Binding CpuMemory = cpuMemoryBinding();
  say(Quantity::CpuMemory, CpuMemory, "libc10.so",
      "c10::ProfiledCPUMemoryReporter::New and Delete");
  say(Quantity::CudaMemory, cudaMemoryBinding(), "libc10_cuda.so",
      "c10::reportMemoryUsageToProfiler");
  say(Quantity::CudaRuntime, runtimeBinding(), "libtorch_cuda.so",
      "the CUDA runtime");
  say(Quantity::Exceptions, bindingOf("libtorch_cpu.so", "__cxa_throw"),
      "libtorch_cpu.so", "__cxa_throw");
  say(Quantity::Heap, Trace->SamplesHeap != 0,
      Trace->SamplesHeap ? "" : "TORCH_CONFIRM_HEAP=1 was not set");
  if (Wrong) {
    for (Quantity Of :
         {Quantity::Operations, Quantity::GraphNodes, Quantity::Gradients,
          Quantity::Copies, Quantity::Synchronisations, Quantity::WrappedMemory,
          Quantity::Members, Quantity::Casts})
      say(Of, false, Wrong);
    return;
  }
  say(Quantity::Operations, true, "");
  say(Quantity::Synchronisations, true, "");
  say(Quantity::GraphNodes, nodesBinding(), "libtorch_cpu.so",
      "at::sequence_number::get_and_increment and torch::autograd::deleteNode");
  say(Quantity::Gradients, gradientsBinding(), "libtorch_cpu.so",
      "torch::autograd::AccumulateGrad::apply and the optimizers' step");
  say(Quantity::Copies, copiesBinding(), "libtorch_cpu.so",
      "at::_ops::copy_::call");
  const Binding Frees = freeBinding();
  say(Quantity::WrappedMemory, Frees, "libstdc++.so", "free()");
  say(Quantity::Members, membersBinding(), "libtorch_cpu.so",
      "torch::nn::Module::train and parameters");
  say(Quantity::Casts, castsBinding(), "libtorch_cpu.so",
      "at::autocast::cached_cast");
}

void lockAll() {
  StartLock.lock();
  lockAllocations();
  lockNodes();
  lockBackwards();
  lockMembers();
  lockWrapped();
}

void unlockAll() {
  unlockWrapped();
  unlockMembers();
  unlockBackwards();
  unlockNodes();
  unlockAllocations();
  StartLock.unlock();
}

/// The child shares the parent's file until it has one of its own.
void inChild() {
  if (Current.load() == Phase::On) {
    CpuAtFork = Trace->LiveCpuBytes.load();
    CudaAtFork = Trace->LiveCudaBytes.load();
    NodesAtFork = Trace->NodesAlive.load();
    ParentId = Trace->ProcessId;
    IsForked = true;
    Current.store(Phase::Waiting);
  }
  resetSiteLocks();
  resetOperationLocks();
  resetExceptionLocks();
  resetNodeLocks();
  unlockAll();
  if (Torch)
    Torch->forked();
}

/// Fills the parts of the header that do not change.
void describe() {
  findModules();
  findArguments();
  char Folder[PATH_MAX];
  if (getcwd(Folder, sizeof(Folder)))
    Trace->WorkingFolder = keepText(Folder);
  const char *Heap = getenv("TORCH_CONFIRM_HEAP");
  Trace->SamplesHeap = Heap && *Heap && std::strcmp(Heap, "0") != 0;
}

bool startFirst() {
  if (!isLoaded("libc10.so") || !isLoaded("libtorch_cpu.so"))
    return false;
  if (!prepareSites() || !prepareOperations() || !openTrace(TracePath)) {
    Current.store(Phase::Off);
    return false;
  }
  describe();
  Trace->Unwinder = keepText(prepareStacks());
  startTimeline();
  prepareExperiment();
  say(Quantity::CallStacks, true, "");
  const char *Wrong = openTorchSide();
  if (!Wrong) {
    Trace->LibTorch = keepText(Torch->Version);
    const AddsObserver Own;
    Wrong = Torch->observe(&Probe);
  }
  findCapabilities(Wrong);
  if (!Wrong)
    replaceDisposers();
  pthread_atfork(lockAll, unlockAll, inChild);
  Trace->IsComplete.store(1);
  Current.store(Phase::On, std::memory_order_release);
  return true;
}

/// Copies what the child's tables refer to: names and sites, without counts.
void inherit(const trace::Header &Parent) {
  trace::Header &To = *Trace;
  To.TextUsed.store(Parent.TextUsed.load());
  std::memcpy(reinterpret_cast<char *>(&To) + trace::TextAt,
              reinterpret_cast<const char *>(&Parent) + trace::TextAt,
              To.TextUsed.load());
  const uint32_t Sites = Parent.SiteCount.load();
  const auto *From = reinterpret_cast<const trace::Site *>(
      reinterpret_cast<const char *>(&Parent) + trace::SitesAt);
  To.SiteCount.store(Sites);
  for (uint32_t I = 1; I <= Sites && I < trace::MaxSites; ++I) {
    if (From[I].State.load() != 2)
      continue;
    trace::Site &Site = siteAt(I);
    Site.Kind = From[I].Kind;
    Site.Operation = From[I].Operation;
    Site.FrameCount = From[I].FrameCount;
    Site.IsShortened = From[I].IsShortened;
    std::memcpy(Site.Frames, From[I].Frames, sizeof(Site.Frames));
    Site.LiveBytes.store(From[I].LiveBytes.load());
    Site.CudaLiveBytes.store(From[I].CudaLiveBytes.load());
    Site.NodesAlive.store(From[I].NodesAlive.load());
    Site.Series.store(trace::None);
    Site.State.store(2);
  }
  const uint32_t Modules = Parent.ModuleCount.load();
  std::memcpy(reinterpret_cast<char *>(&To) + trace::ModulesAt,
              reinterpret_cast<const char *>(&Parent) + trace::ModulesAt,
              Modules * sizeof(trace::Module));
  To.ModuleCount.store(Modules);
  for (uint32_t I = 0; I < trace::QuantityCount; ++I) {
    To.Capabilities[I].Reason.store(Parent.Capabilities[I].Reason.load());
    To.Capabilities[I].Available.store(Parent.Capabilities[I].Available.load());
  }
  To.Arguments = Parent.Arguments;
  To.ArgumentCount = Parent.ArgumentCount;
  To.WorkingFolder = Parent.WorkingFolder;
  To.LibTorch = Parent.LibTorch;
  To.CudaDevice.store(Parent.CudaDevice.load());
  To.Unwinder = Parent.Unwinder;
  To.SamplesHeap = Parent.SamplesHeap;
}

bool startForked() {
  // The parent's file stays readable at another place while it is copied.
  void *Parent = isTraceSealed() ? nullptr : mapTraceAgain();
  if (!Parent || !openTrace(TracePath)) {
    Current.store(Phase::Off);
    return false;
  }
  inherit(*static_cast<const trace::Header *>(Parent));
  unmapTrace(Parent);
  forgetFreed(CpuAtFork, CudaAtFork);
  startTimeline();
  Trace->ForkedFrom = ParentId;
  Trace->LiveCpuBytes.store(CpuAtFork);
  Trace->PeakCpuBytes.store(CpuAtFork);
  Trace->LiveCudaBytes.store(CudaAtFork);
  Trace->PeakCudaBytes.store(CudaAtFork);
  Trace->NodesAlive.store(NodesAtFork);
  Trace->PeakNodes.store(NodesAtFork);
  Trace->IsComplete.store(1);
  IsForked = false;
  Current.store(Phase::On, std::memory_order_release);
  return true;
}

__attribute__((constructor)) void construct() {
  if (!choosePath())
    return giveTrapsBack();
  watchLines();
  Current.store(Phase::Waiting);
  startLate();
}

} // namespace

bool startLate() {
  if (Current.load(std::memory_order_relaxed) != Phase::Waiting || Self.Busy)
    return false;
  Busy Own;
  Locked Lock(StartLock);
  if (Current.load() != Phase::Waiting)
    return Current.load() == Phase::On;
  return IsForked ? startForked() : startFirst();
}

} // namespace torchtidy::confirm::probe

// Calls of the CUDA runtime, counted by name. Their declarations are C's and
// have been the same since CUDA 10 (S: cuda_runtime_api.h), so no header of
// CUDA's is needed. A program that has the runtime linked in statically does
// not come by.

#include "Runtime.h"

#include "Operations.h"
#include "Sites.h"
#include "Stacks.h"

namespace torchtidy::confirm::probe {

/// dim3.
struct Dimensions {
  unsigned X, Y, Z;
};

namespace {

/// cudaErrorUnknown, where there is no CUDA runtime but somebody calls it.
constexpr int Unknown = 999;

void count(const char *Name, std::atomic<trace::RuntimeCall *> &Known) {
  trace::RuntimeCall *Row = Known.load(std::memory_order_acquire);
  if (!Row) {
    isAvailable(trace::Quantity::CudaRuntime);
    static SpinLock RowLock;
    Locked Lock(RowLock);
    const TextOffset Text = keepText(Name);
    for (trace::RuntimeCall &Each : Trace->RuntimeCalls) {
      const TextOffset Has = Each.Name.load();
      if (Has && Has != Text)
        continue;
      Each.Name.store(Text);
      Known.store(Row = &Each, std::memory_order_release);
      break;
    }
    if (!Row)
      return;
  }
  bump(Row->Number);
}

/// The host waits. Operations that are known to wait, and copies, have counted
/// that themselves.
void waits(const char *Name) {
  if (Self.SyncDepth || Self.InCopy)
    return;
  if (Self.Depth) {
    countSynchronisation(Self.Site);
    return;
  }
  const uint32_t Site = siteHere(trace::SiteKind::RuntimeCall, keepText(Name));
  hit(Site);
  countSynchronisation(Site);
}

template <typename Function, typename... Arguments>
int forward(std::atomic<void *> &Known, const char *Name, Arguments... Given) {
  auto *Next = next<Function>(Known, Name);
  return Next ? Next(Given...) : Unknown;
}

} // namespace

#define HOOK_RUNTIME(Name, Waits, Parameters, Types, ...)                      \
  static std::atomic<void *> Next_##Name;                                      \
  extern "C" TORCH_CONFIRM_HOOK int Name Parameters;                           \
  extern "C" int Name Parameters {                                             \
    using Function = int Types;                                                \
    if (isRecording()) {                                                       \
      static std::atomic<trace::RuntimeCall *> Row;                            \
      count(#Name, Row);                                                       \
      if (Waits)                                                               \
        waits(#Name);                                                          \
    }                                                                          \
    return forward<Function>(Next_##Name, #Name, ##__VA_ARGS__);               \
  }

HOOK_RUNTIME(cudaDeviceSynchronize, true, (), ())
HOOK_RUNTIME(cudaStreamSynchronize, true, (void *Stream), (void *), Stream)
HOOK_RUNTIME(cudaEventSynchronize, true, (void *Event), (void *), Event)
HOOK_RUNTIME(cudaMemcpy, true,
             (void *To, const void *From, size_t Size, int Kind),
             (void *, const void *, size_t, int), To, From, Size, Kind)
HOOK_RUNTIME(cudaMemcpyAsync, false,
             (void *To, const void *From, size_t Size, int Kind, void *Stream),
             (void *, const void *, size_t, int, void *), To, From, Size, Kind,
             Stream)
HOOK_RUNTIME(cudaMemcpyPeerAsync, false,
             (void *To, int ToDevice, const void *From, int FromDevice,
              size_t Size, void *Stream),
             (void *, int, const void *, int, size_t, void *), To, ToDevice,
             From, FromDevice, Size, Stream)
HOOK_RUNTIME(cudaMalloc, false, (void **Block, size_t Size), (void **, size_t),
             Block, Size)
HOOK_RUNTIME(cudaFree, false, (void *Block), (void *), Block)
HOOK_RUNTIME(cudaMallocAsync, false, (void **Block, size_t Size, void *Stream),
             (void **, size_t, void *), Block, Size, Stream)
HOOK_RUNTIME(cudaHostAlloc, false, (void **Block, size_t Size, unsigned Flags),
             (void **, size_t, unsigned), Block, Size, Flags)
HOOK_RUNTIME(cudaLaunchKernel, false,
             (const void *Kernel, Dimensions Grid, Dimensions Block,
              void **Arguments, size_t Shared, void *Stream),
             (const void *, Dimensions, Dimensions, void **, size_t, void *),
             Kernel, Grid, Block, Arguments, Shared, Stream)
HOOK_RUNTIME(cudaLaunchKernelExC, false,
             (const void *Configuration, const void *Kernel, void **Arguments),
             (const void *, const void *, void **), Configuration, Kernel,
             Arguments)

Binding runtimeBinding() {
  const Binding ByCuda = bindingOf("libtorch_cuda.so", "cudaMemcpyAsync");
  return ByCuda == Binding::NoLibrary
             ? bindingOf("libc10_cuda.so", "cudaStreamSynchronize")
             : ByCuda;
}

} // namespace torchtidy::confirm::probe

// Copies between devices and element types. Each ends in copy_, whose arguments
// are the two tensors.

#include "Copies.h"

#include "Allocations.h"
#include "Operations.h"
#include "Sites.h"

namespace torchtidy::confirm::probe {
namespace {

std::atomic<void *> NextCopy, NextTo, NextOldTo;

using Copy = void *(void *, const void *, uint64_t);
using To = Returned(const void *, uint64_t, uint64_t, uint64_t, uint64_t,
                    uint64_t, uint64_t, uint64_t);

uint32_t kindOf(const CopyFacts &Facts) {
  for (uint32_t I = 0; I + 1 < trace::CopyKindCount; ++I) {
    const trace::CopyKind &Kind = trace::CopyKinds[I];
    if (static_cast<uint8_t>(Kind.From) == Facts.From &&
        static_cast<uint8_t>(Kind.To) == Facts.To &&
        Kind.Converts == Facts.Converts && Kind.Pinned == Facts.Pinned)
      return I;
  }
  return trace::CopyKindCount - 1;
}

void copied(const CopyFacts &Facts, uint32_t Site, bool IsAsynchronous) {
  bump(Trace->Copies);
  bump(Trace->CopiedBytes, Facts.Bytes);
  if (Site) {
    trace::CopyCounts &Counts = siteAt(Site).Copies[kindOf(Facts)];
    bump(Counts.Number);
    bump(Counts.Bytes, Facts.Bytes);
  }
  // Between host and device the host waits unless it is asked not to, and the
  // memory is pinned (S: aten/src/ATen/native/cuda/Copy.cu).
  const bool CrossesOver =
      (Facts.From == static_cast<uint8_t>(trace::Place::Cpu)) !=
      (Facts.To == static_cast<uint8_t>(trace::Place::Cpu));
  if (CrossesOver && !(IsAsynchronous && Facts.Pinned) && !Self.SyncDepth)
    countSynchronisation(Site);
}

class Copying {
public:
  Copying() { ++Self.InCopy; }
  ~Copying() { --Self.InCopy; }
};

/// A tensor on the CPU that is taken to the CPU: on CUDA this would wait.
/// Inlined into a destructor, its cleanup would call std::terminate, and the
/// probe would need the C++ library.
__attribute__((noinline)) void toCpu(const void *From, uint64_t Dtype,
                                     uint64_t Layout, uint64_t Device) {
  if (!Torch || !isRecording())
    return;
  bool IsIdle;
  {
    Busy Own;
    IsIdle = Torch->isIdleToCpu(From, Dtype, Layout, Device);
  }
  if (IsIdle && !Self.SyncDepth)
    countSynchronisation(Self.Depth ? Self.Site : Self.LastSite);
}

/// Of what a site copies and of what it asks to() for: a copy is told twice.
constexpr uint64_t OfTo = 1ull << 32;

/// The same tensor as the time before.
__attribute__((noinline)) void askedOf(const void *From) {
  if (!Torch || !isRecording() || Self.Depth || !Self.LastSite)
    return;
  Busy Own;
  if (Torch->isSameAsBefore(OfTo | Self.LastSite, From))
    bump(siteAt(Self.LastSite).AskedAgain);
}

/// Tells so when to() has ended, whose own site is known then.
struct TellingTo {
  const void *From;
  uint64_t Dtype, Layout, Device;
  ~TellingTo() {
    toCpu(From, Dtype, Layout, Device);
    askedOf(From);
  }
};

} // namespace

#define COPY "_ZN2at4_ops5copy_4callERNS_6TensorERKS2_b"

TORCH_CONFIRM_HOOK void *hookCopy(void *Into, const void *From,
                                  uint64_t IsAsynchronous) asm(COPY);
void *hookCopy(void *Into, const void *From, uint64_t IsAsynchronous) {
  auto *Next = next<Copy>(NextCopy, COPY);
  if (!isRecording() || !Torch)
    return Next(Into, From, IsAsynchronous);
  CopyFacts Facts;
  {
    Busy Own;
    Facts = Torch->copyFacts(Into, From);
  }
  const bool IsOutermost = !Self.Depth;
  void *Result;
  {
    Copying Guard;
    Result = Next(Into, From, IsAsynchronous);
  }
  // Its own site is known once it has run.
  const uint32_t Site = IsOutermost ? Self.LastSite : Self.Site;
  if (Facts.Counts) {
    copied(Facts, Site, IsAsynchronous & 0xff);
    Busy Own;
    if (Site && Torch->isSameAsBefore(Site, From))
      bump(siteAt(Site).CopiedAgain);
  }
  if (IsOutermost) {
    Busy Own;
    Torch->parameterWritten(Into, Site);
    isWrittenThrough(Into, Torch->memoryOfTensor(Into));
  }
  return Result;
}

#define TO                                                                     \
  "_ZN2at4_ops15to_dtype_layout4callERKNS_6TensorESt8optionalIN3c1010"         \
  "ScalarTypeEES5_INS6_6LayoutEES5_INS6_6DeviceEES5_IbEbbS5_INS6_"             \
  "12MemoryFormatEE"
// Until 2.1, LibTorch had an optional of its own.
#define OLD_TO                                                                 \
  "_ZN2at4_ops15to_dtype_layout4callERKNS_6TensorEN3c108optionalINS5_10"       \
  "ScalarTypeEEENS6_INS5_6LayoutEEENS6_INS5_6DeviceEEENS6_IbEEbbNS6_INS5_"     \
  "12MemoryFormatEEE"

TORCH_CONFIRM_HOOK Returned hookTo(const void *, uint64_t, uint64_t, uint64_t,
                                   uint64_t, uint64_t, uint64_t,
                                   uint64_t) asm(TO);
Returned hookTo(const void *From, uint64_t Dtype, uint64_t Layout,
                uint64_t Device, uint64_t Pin, uint64_t IsAsynchronous,
                uint64_t Copies, uint64_t Format) {
  const TellingTo Tell{From, Dtype, Layout, Device};
  return next<To>(NextTo, TO)(From, Dtype, Layout, Device, Pin, IsAsynchronous,
                              Copies, Format);
}

TORCH_CONFIRM_HOOK Returned hookOldTo(const void *, uint64_t, uint64_t,
                                      uint64_t, uint64_t, uint64_t, uint64_t,
                                      uint64_t) asm(OLD_TO);
Returned hookOldTo(const void *From, uint64_t Dtype, uint64_t Layout,
                   uint64_t Device, uint64_t Pin, uint64_t IsAsynchronous,
                   uint64_t Copies, uint64_t Format) {
  const TellingTo Tell{From, Dtype, Layout, Device};
  return next<To>(NextOldTo, OLD_TO)(From, Dtype, Layout, Device, Pin,
                                     IsAsynchronous, Copies, Format);
}

Binding copiesBinding() { return bindingOf("libtorch_cpu.so", COPY); }

} // namespace torchtidy::confirm::probe

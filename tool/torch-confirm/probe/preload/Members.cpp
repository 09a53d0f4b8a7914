// Modules are asked for their parameters, set to a mode and called; what is
// made of it is in torch/Members.cpp. And the copies that autocast gives of
// weights.

#include "Members.h"

#include "Allocations.h"
#include "KeyTable.h"
#include "Sites.h"
#include "Stacks.h"

namespace torchtidy::confirm::probe {
namespace {

/// From the address of a module to where it was made. One that is made at the
/// place of another takes its row.
KeyTable Made;

void isMade(const void *Module) {
  if (!isRecording() || !Torch)
    return;
  const uint32_t Site = siteHere(trace::SiteKind::Module, keepText("module"));
  hit(Site);
  Made.put({reinterpret_cast<uintptr_t>(Module), 0, Site, 0});
}

void asked(const void *Module) {
  if (!isRecording() || !Torch)
    return;
  Busy Own;
  Torch->moduleAsked(Module);
}

/// A module sets the mode of those below it by the same function.
TORCH_CONFIRM_TLS uint32_t TrainDepth;

std::atomic<void *> NextTrain, NextParameters, NextModule, NextNamed, NextCast;

} // namespace

void memberReplaced(const void *Memory) {
  if (const uint32_t Site = siteOfBlock(Memory))
    bump(siteAt(Site).MembersReplaced);
}

uint32_t moduleMadeAt(const void *Module) {
  KeyTable::Row Row;
  return Made.look(reinterpret_cast<uintptr_t>(Module), Row) ? Row.Site : 0;
}

void memberCalled(uint32_t MadeAt, bool IsInSameMode) {
  bump(IsInSameMode ? siteAt(MadeAt).CallsInEvalMode
                    : siteAt(MadeAt).CallsInOtherMode);
}

void parameterListed(const void *Memory, uint32_t Times) {
  if (const uint32_t Site = siteOfBlock(Memory))
    raise(siteAt(Site).MostListed, Times);
}

void castTaken(uint32_t Step, bool IsStale) {
  bump(IsStale ? siteAt(Step).StaleCasts : siteAt(Step).FreshCasts);
}

void lockMembers() { Made.lock(); }
void unlockMembers() { Made.unlock(); }

#define MODULE "_ZN5torch2nn6ModuleC2Ev"
#define NAMED                                                                  \
  "_ZN5torch2nn6ModuleC2ENSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE"
#define TRAIN "_ZN5torch2nn6Module5trainEb"
#define PARAMETERS "_ZNK5torch2nn6Module10parametersEb"
#define CACHED_CAST                                                            \
  "_ZN2at8autocast11cached_castEN3c1010ScalarTypeERKNS_6TensorENS1_"           \
  "10DeviceTypeE"

TORCH_CONFIRM_HOOK void hookModule(void *Module) asm(MODULE);
void hookModule(void *Module) {
  next<void(void *)>(NextModule, MODULE)(Module);
  isMade(Module);
}

TORCH_CONFIRM_HOOK void hookNamedModule(void *Module, void *Name) asm(NAMED);
void hookNamedModule(void *Module, void *Name) {
  next<void(void *, void *)>(NextNamed, NAMED)(Module, Name);
  isMade(Module);
}

TORCH_CONFIRM_HOOK void hookTrain(void *Module, uint64_t IsOn) asm(TRAIN);
void hookTrain(void *Module, uint64_t IsOn) {
  struct Inside {
    Inside() { ++TrainDepth; }
    ~Inside() { --TrainDepth; }
  };
  {
    const Inside Guard;
    next<void(void *, uint64_t)>(NextTrain, TRAIN)(Module, IsOn);
  }
  if (!TrainDepth)
    asked(Module);
}

/// The result is made where the caller wants it, so All is that very place.
__attribute__((noinline)) static Returned parameters(const void *Module,
                                                     uint64_t Recurse) {
  using Parameters = Returned(const void *, uint64_t);
  Returned All = next<Parameters>(NextParameters, PARAMETERS)(Module, Recurse);
  asked(Module);
  if (Torch && isRecording()) {
    Busy Own;
    Torch->parametersGiven(&All);
  }
  return All;
}

TORCH_CONFIRM_HOOK Returned hookParameters(const void *,
                                           uint64_t) asm(PARAMETERS);
Returned hookParameters(const void *Module, uint64_t Recurse) {
  return parameters(Module, Recurse);
}

__attribute__((noinline)) static Returned cast(uint64_t Type, const void *Of,
                                               uint64_t Device) {
  using Cast = Returned(uint64_t, const void *, uint64_t);
  Returned Copy = next<Cast>(NextCast, CACHED_CAST)(Type, Of, Device);
  if (Torch && isRecording()) {
    Busy Own;
    Torch->castGiven(Of, &Copy);
  }
  return Copy;
}

TORCH_CONFIRM_HOOK Returned hookCast(uint64_t, const void *,
                                     uint64_t) asm(CACHED_CAST);
Returned hookCast(uint64_t Type, const void *Of, uint64_t Device) {
  return cast(Type, Of, Device);
}

#define HOOK_FORWARD(Class, Symbol)                                            \
  static std::atomic<void *> Next##Class;                                      \
  TORCH_CONFIRM_HOOK Returned hook##Class(void *, const void *) asm(Symbol);   \
  Returned hook##Class(void *Module, const void *Input) {                      \
    using Forward = Returned(void *, const void *);                            \
    if (Torch && isRecording()) {                                              \
      Busy Own;                                                                \
      Torch->moduleCalled(Module);                                             \
    }                                                                          \
    return next<Forward>(Next##Class, Symbol)(Module, Input);                  \
  }

// Those that have a mode and no parameters.
HOOK_FORWARD(Dropout, "_ZN5torch2nn11DropoutImpl7forwardEN2at6TensorE")
HOOK_FORWARD(Dropout2d, "_ZN5torch2nn13Dropout2dImpl7forwardEN2at6TensorE")
HOOK_FORWARD(Dropout3d, "_ZN5torch2nn13Dropout3dImpl7forwardEN2at6TensorE")
HOOK_FORWARD(AlphaDropout,
             "_ZN5torch2nn16AlphaDropoutImpl7forwardERKN2at6TensorE")
HOOK_FORWARD(FeatureAlphaDropout,
             "_ZN5torch2nn23FeatureAlphaDropoutImpl7forwardERKN2at6TensorE")

Binding membersBinding() { return bindingOf("libtorch_cpu.so", PARAMETERS); }
Binding castsBinding() { return bindingOf("libtorch_cpu.so", CACHED_CAST); }

} // namespace torchtidy::confirm::probe

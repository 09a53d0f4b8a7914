// What the program's own code calls beside operations: it asks for a gradient,
// sets grad mode, gives a tensor a hook. LibTorch calls the same functions, so
// the address of the caller is looked at.

#include "Handed.h"

#include "Hooks.h"
#include "Modules.h"
#include "Sites.h"
#include "Stacks.h"

namespace torchtidy::confirm::probe {
namespace {

/// By the place of the memory; another gradient with the same one takes it.
struct Gradient {
  std::atomic<uintptr_t> Memory;
  std::atomic<const void *> Leaf;
};
constexpr uint32_t Room = 1024;
Gradient Handed[Room];
std::atomic<uint32_t> HandedNow;

Gradient &placeOf(uintptr_t Memory) {
  return Handed[(Memory >> 6 ^ Memory >> 16) % Room];
}

void hand(const void *Leaf, uintptr_t Memory) {
  Gradient &To = placeOf(Memory);
  To.Leaf.store(Leaf, std::memory_order_relaxed);
  if (!To.Memory.exchange(Memory))
    HandedNow.fetch_add(1);
}

/// \returns whether it was there, and now is not.
bool takeBack(uintptr_t Memory) {
  uintptr_t Expected = Memory;
  if (!Memory || !placeOf(Memory).Memory.compare_exchange_strong(Expected, 0))
    return false;
  HandedNow.fetch_sub(1);
  return true;
}

bool isAskedByUser(const void *Caller) {
  return !Self.Depth && isRecording() && Torch &&
         isUserCode(reinterpret_cast<uintptr_t>(Caller));
}

/// Inlined, what it keeps would be in the way of a call that asks nothing.
__attribute__((noinline)) void isHanded(const void *Leaf,
                                        const void *Gradient) {
  Busy Own;
  if (const void *Memory = Torch->memoryOfTensor(Gradient))
    hand(Leaf, reinterpret_cast<uintptr_t>(Memory));
}

__attribute__((noinline)) void isHooked(const void *Tensor) {
  const uint32_t Site =
      siteHere(trace::SiteKind::Hook, keepText("register_hook"));
  hit(Site);
  Busy Own;
  if (Site && Torch->isHookedAgain(Tensor, Site))
    bump(siteAt(Site).HookedAgain);
}

std::atomic<void *> NextGrad, NextSetMode, NextMode, NextRegister;

} // namespace

bool areGradientsHanded() {
  return HandedNow.load(std::memory_order_relaxed) != 0;
}

void readsGradient(uintptr_t Memory) {
  if (!areGradientsHanded())
    return;
  const void *Leaf = placeOf(Memory).Leaf.load(std::memory_order_relaxed);
  if (!takeBack(Memory))
    return;
  Busy Own;
  Torch->gradientRead(Leaf);
}

void forgetGradient(uintptr_t Memory) {
  if (areGradientsHanded())
    takeBack(Memory);
}

#define GRAD "_ZNK3c1010TensorImpl4gradEv"
#define MODE "_ZN3c108GradMode10is_enabledEv"
#define SET_MODE "_ZN3c108GradMode11set_enabledEb"
#define REGISTER "_ZNK2at10TensorBase14_register_hookESt8functionIFS0_RKS0_EE"

TORCH_CONFIRM_HOOK const void *hookGrad(const void *Leaf) asm(GRAD);
const void *hookGrad(const void *Leaf) {
  using Grad = const void *(const void *);
  const void *Result = next<Grad>(NextGrad, GRAD)(Leaf);
  if (isAskedByUser(__builtin_return_address(0)))
    isHanded(Leaf, Result);
  return Result;
}

// A guard that ends sets the mode as well: to on where it was off.
TORCH_CONFIRM_HOOK void hookSetMode(bool IsOn) asm(SET_MODE);
void hookSetMode(bool IsOn) {
  using Mode = bool();
  using SetMode = void(bool);
  if (isAskedByUser(__builtin_return_address(0)))
    if (auto *IsEnabled = next<Mode>(NextMode, MODE))
      Self.AsksForGrad = IsOn && (Self.AsksForGrad || IsEnabled());
  next<SetMode>(NextSetMode, SET_MODE)(IsOn);
}

TORCH_CONFIRM_HOOK unsigned hookRegister(const void *Tensor,
                                         void *Hook) asm(REGISTER);
unsigned hookRegister(const void *Tensor, void *Hook) {
  using Register = unsigned(const void *, void *);
  if (!Self.Depth && isRecording() && Torch)
    isHooked(Tensor);
  return next<Register>(NextRegister, REGISTER)(Tensor, Hook);
}

} // namespace torchtidy::confirm::probe

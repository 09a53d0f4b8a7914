#include "Trial.h"

#include "Code.h"

#include <atomic>

#if defined(__x86_64__)
// A breakpoint of our own, to see whether they work; and an instruction that
// returns, for the loader's. The first bytes are an endbr64.
extern "C" {
void torch_confirm_trial();
extern const uint8_t torch_confirm_trial_at[];
void torch_confirm_return();
}
asm(".text\n"
    ".p2align 4\n"
    ".hidden torch_confirm_trial\n"
    ".globl torch_confirm_trial\n"
    ".type torch_confirm_trial, @function\n"
    "torch_confirm_trial:\n"
    ".byte 0xf3, 0x0f, 0x1e, 0xfa\n"
    "nop\n"
    ".hidden torch_confirm_trial_at\n"
    ".globl torch_confirm_trial_at\n"
    "torch_confirm_trial_at:\n"
    "nop\n"
    ".hidden torch_confirm_return\n"
    ".globl torch_confirm_return\n"
    "torch_confirm_return:\n"
    "ret\n"
    ".size torch_confirm_trial, . - torch_confirm_trial\n");
#endif

namespace torchtidy::confirm::probe {

#if defined(__x86_64__)
namespace {

constexpr uint8_t Nop = 0x90;
std::atomic<uint32_t> Trials;

} // namespace

/// Valgrind runs a copy of the code, and would come to a breakpoint for ever
/// that is gone. This is its own way to ask; to a processor it means nothing.
bool isUnderValgrind() {
  const uint64_t Question[6] = {0x1001, 0, 0, 0, 0, 0};
  uint64_t Answer = 0;
  asm volatile("rolq $3, %%rdi\n\t"
               "rolq $13, %%rdi\n\t"
               "rolq $61, %%rdi\n\t"
               "rolq $51, %%rdi\n\t"
               "xchgq %%rbx, %%rbx"
               : "+d"(Answer)
               : "a"(Question)
               : "cc", "memory");
  return Answer != 0;
}

/// Whether a breakpoint works: it is hit, goes, and does not come back. Not so
/// where a copy of the code runs, which is made by the first call.
bool tryBreakpoint() {
  const auto At = reinterpret_cast<uintptr_t>(torch_confirm_trial_at);
  torch_confirm_trial();
  if (!writeCode(At, Breakpoint))
    return false;
  torch_confirm_trial();
  torch_confirm_trial();
  return Trials.load() == 1 && *torch_confirm_trial_at == Nop;
}

uintptr_t trialTrap(uintptr_t At) {
  if (At != reinterpret_cast<uintptr_t>(torch_confirm_trial_at))
    return 0;
  // A second time it is gone, and yet it is what runs.
  return Trials.fetch_add(1) || !writeCode(At, Nop) ? At + 1 : At;
}

uintptr_t returnInstruction() {
  return reinterpret_cast<uintptr_t>(&torch_confirm_return);
}
#endif

} // namespace torchtidy::confirm::probe

// What the program calls to lay tensors over memory, to free it, and to ask for
// elements by their address; what is made of it is in Wrapped.cpp.

#include "Wrapped.h"

#include <cerrno>

#include <dlfcn.h>
#include <malloc.h>

namespace torchtidy::confirm::probe {
namespace {

std::atomic<void *> NextMake, NextFree, NextRealloc;

/// Looking for it may free what looking for others has left.
template <typename Function>
Function *real(std::atomic<void *> &Known, const char *Name) {
  void *Next = Known.load(std::memory_order_acquire);
  if (__builtin_expect(!Next, 0)) {
    if (Self.IsFindingFree)
      return nullptr;
    Self.IsFindingFree = true;
    Next = dlsym(RTLD_NEXT, Name);
    Self.IsFindingFree = false;
    Known.store(Next, std::memory_order_release);
  }
  return reinterpret_cast<Function *>(Next);
}

} // namespace

#define MAKE "_ZN2at11TensorMaker11make_tensorEv"

/// The result is made where the caller wants it, so Made is that very place.
__attribute__((noinline)) static Returned make(void *Maker) {
  using Make = Returned(void *);
  Returned Made = next<Make>(NextMake, MAKE)(Maker);
  if (Torch && !Self.Depth && isRecording())
    isWrapped(&Made);
  return Made;
}

TORCH_CONFIRM_HOOK Returned hookMakeTensor(void *Maker) asm(MAKE);
Returned hookMakeTensor(void *Maker) { return make(Maker); }

TORCH_CONFIRM_HOOK void hookFree(void *Block) asm("free");
void hookFree(void *Block) {
  using Free = void(void *);
  auto *Next = real<Free>(NextFree, "free");
  if (__builtin_expect(WrapsOnHeap.load(std::memory_order_relaxed) && Block, 0))
    blockFreed(Block, malloc_usable_size(Block));
  if (__builtin_expect(Next != nullptr, 1))
    Next(Block);
}

TORCH_CONFIRM_HOOK void *hookRealloc(void *Block, size_t Size) asm("realloc");
void *hookRealloc(void *Block, size_t Size) {
  using Realloc = void *(void *, size_t);
  auto *Next = real<Realloc>(NextRealloc, "realloc");
  if (__builtin_expect(!Next, 0)) {
    errno = ENOMEM;
    return nullptr;
  }
  if (__builtin_expect(!WrapsOnHeap.load(std::memory_order_relaxed), 1) ||
      !Block)
    return Next(Block, Size);
  const size_t Before = malloc_usable_size(Block);
  void *Result = Next(Block, Size);
  if (Result && Result != Block)
    blockFreed(Block, Before);
  return Result;
}

// The elements are asked for by accessor() and data_ptr<float>(), of which
// nothing is an operation.
#define HOOK_ELEMENTS(Name, Symbol)                                            \
  static std::atomic<void *> Next##Name;                                       \
  TORCH_CONFIRM_HOOK void *hook##Name(const void *) asm(Symbol);               \
  void *hook##Name(const void *Tensor) {                                       \
    using Elements = void *(const void *);                                     \
    elementsAsked(Tensor);                                                     \
    return next<Elements>(Next##Name, Symbol)(Tensor);                         \
  }
#define HOOK_TYPE(Name, Type)                                                  \
  HOOK_ELEMENTS(Data##Name, "_ZNK2at10TensorBase8data_ptrI" Type "EEPT_v")     \
  HOOK_ELEMENTS(Mutable##Name,                                                 \
                "_ZNK2at10TensorBase16mutable_data_ptrI" Type "EEPT_v")        \
  HOOK_ELEMENTS(Const##Name,                                                   \
                "_ZNK2at10TensorBase14const_data_ptrI" Type "Li0EEEPKT_v")     \
  HOOK_ELEMENTS(OfConst##Name, "_ZNK2at10TensorBase14const_data_ptrIK" Type    \
                               "Li0EEEPKNSt12remove_constIT_E4typeEv")

HOOK_TYPE(Float, "f")
HOOK_TYPE(Double, "d")
HOOK_TYPE(Byte, "h")
HOOK_TYPE(Char, "a")
HOOK_TYPE(Short, "s")
HOOK_TYPE(Int, "i")
HOOK_TYPE(Long, "l")
HOOK_TYPE(Bool, "b")

Binding freeBinding() {
  const Binding ByLibrary = bindingOf("libstdc++.so", "free");
  return ByLibrary == Binding::NoLibrary ? bindingOf("libc10.so", "free")
                                         : ByLibrary;
}

} // namespace torchtidy::confirm::probe

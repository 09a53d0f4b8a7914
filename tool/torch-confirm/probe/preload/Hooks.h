// Functions of LibTorch, the C++ library and the CUDA runtime that the probe
// stands in front of: it defines the same symbol and comes first in the order
// of search, so all calls that go through the dynamic linker reach it.
#ifndef TORCHTIDY_CONFIRM_PROBE_HOOKS_H
#define TORCHTIDY_CONFIRM_PROBE_HOOKS_H

#include "State.h"

namespace torchtidy::confirm::probe {

/// The next definition of a symbol.
void *findNext(std::atomic<void *> &Known, const char *Symbol);

template <typename Function>
Function *next(std::atomic<void *> &Known, const char *Symbol) {
  void *Next = Known.load(std::memory_order_acquire);
  if (__builtin_expect(!Next, 0))
    Next = findNext(Known, Symbol);
  return reinterpret_cast<Function *>(Next);
}

/// What a function that returns an object of LibTorch's in memory is declared
/// to return: never looked at, and made in place by the function behind the
/// hook.
struct Returned {
  void *Words[3];
  Returned();
  Returned(const Returned &);
  ~Returned();
};

/// How a library's calls of a symbol are bound.
enum class Binding {
  /// The library is not in the process.
  NoLibrary,
  /// It calls it by another way, or not at all: a hook would not see it.
  NotBySymbol,
  /// By the dynamic linker, which finds another definition before the probe's.
  Elsewhere,
  /// Its calls reach the hook.
  Hooked,
};

/// Of the library whose file name begins with \p Library.
Binding bindingOf(const char *Library, const char *Symbol);

/// Puts \p Function into the table of virtual functions that the symbol names,
/// at that index. \returns what was there, or null where there is no such
/// table.
void *replaceVirtual(const char *Table, uint32_t At, void *Function);

} // namespace torchtidy::confirm::probe

#endif

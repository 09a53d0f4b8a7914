// Which exceptions say that there was no memory: known to the probe, which
// looks at what is alive then, and to the report, which tells the one.
#ifndef TORCHTIDY_CONFIRM_TRACE_OUTOFMEMORY_H
#define TORCHTIDY_CONFIRM_TRACE_OUTOFMEMORY_H

#include <cstring>

namespace torchtidy::confirm::trace {

/// \param Type as the compiler names it, or demangled.
inline bool isOutOfMemory(const char *Type, const char *Message) {
  // LibTorch's allocators use several words, and c10::Error for those of the
  // CPU.
  return std::strstr(Type, "bad_alloc") ||
         std::strstr(Type, "OutOfMemoryError") ||
         std::strstr(Message, "allocate memory") ||
         std::strstr(Message, "not enough memory") ||
         std::strstr(Message, "out of memory");
}

} // namespace torchtidy::confirm::trace

#endif

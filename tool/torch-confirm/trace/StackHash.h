// Names a stack of the user's frames so that another process can recognise it:
// by the files that the frames are in and the places in these. The probe
// computes it too, without the C++ library.
#ifndef TORCHTIDY_CONFIRM_TRACE_STACKHASH_H
#define TORCHTIDY_CONFIRM_TRACE_STACKHASH_H

#include <cstdint>

namespace torchtidy::confirm::trace {

class StackHash {
public:
  /// The next frame, from the innermost on. Offset: its address in the file.
  void add(const char *Path, uint64_t Offset) {
    for (const char *At = Path; *At; ++At)
      mix(static_cast<unsigned char>(*At));
    mix(Offset);
  }
  uint64_t value() const { return Value; }

private:
  void mix(uint64_t Word) {
    Value = (Value ^ Word) * 0x9E3779B97F4A7C15ull;
    Value ^= Value >> 29;
  }

  uint64_t Value = 1;
};

} // namespace torchtidy::confirm::trace

#endif

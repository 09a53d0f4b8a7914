// Loops that the program itself announces (torch_confirm.h).
#ifndef TORCHTIDY_CONFIRM_PROBE_MARKS_H
#define TORCHTIDY_CONFIRM_PROBE_MARKS_H

#include "State.h"

namespace torchtidy::confirm::probe {

extern std::atomic<uint32_t> OpenMarks;
void noticePeaksOfMarks();

/// To be called when memory was taken.
inline void noticePeaks() {
  if (__builtin_expect(OpenMarks.load(std::memory_order_relaxed) != 0, 0))
    noticePeaksOfMarks();
}

} // namespace torchtidy::confirm::probe

#endif

// Writes bytes into code of the process.
#ifndef TORCHTIDY_CONFIRM_PROBE_CODE_H
#define TORCHTIDY_CONFIRM_PROBE_CODE_H

#include <cstdint>

namespace torchtidy::confirm::probe {

/// Writes one byte. For signal handlers, too: by system calls that are no
/// points of cancellation. \returns whether it worked.
///
/// The kernel writes (/proc/self/mem), so the page is never writable, and
/// other threads run on in it. Where it refuses, or the program has no file
/// descriptor left, the page is made writable for the moment.
bool writeCode(uintptr_t At, uint8_t Byte);

} // namespace torchtidy::confirm::probe

#endif

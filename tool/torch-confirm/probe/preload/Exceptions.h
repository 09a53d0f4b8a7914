#ifndef TORCHTIDY_CONFIRM_PROBE_EXCEPTIONS_H
#define TORCHTIDY_CONFIRM_PROBE_EXCEPTIONS_H

#include <cstdint>

namespace torchtidy::confirm::probe {

void resetExceptionLocks();

// See ProbeSide.
void savedWasWritten(uint32_t Site);
void leafWasWritten(uint32_t Site);

} // namespace torchtidy::confirm::probe

#endif

#ifndef TORCHTIDY_CONFIRM_PROBE_EXCEPTIONS_H
#define TORCHTIDY_CONFIRM_PROBE_EXCEPTIONS_H

namespace torchtidy::confirm::probe {

void resetExceptionLocks();

} // namespace torchtidy::confirm::probe

#endif

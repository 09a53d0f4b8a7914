// A run as trace events, which Perfetto and chrome://tracing show: operations
// by thread, iterations with their phases, curves of memory.
#ifndef TORCHTIDY_CONFIRM_PROFILE_CHROMETRACE_H
#define TORCHTIDY_CONFIRM_PROFILE_CHROMETRACE_H

#include "profile/Profile.h"
#include <iosfwd>

namespace torchtidy::confirm {

/// JSON in Chrome's format of trace events. Of each track the events are in
/// order of time, and what ran within something else lies within it.
void writeChromeTrace(std::ostream &Out, const Recording &Run,
                      const Profile &What);

} // namespace torchtidy::confirm

#endif

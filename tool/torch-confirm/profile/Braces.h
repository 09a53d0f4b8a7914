// Lines of statements that a compiler has put elsewhere.
#ifndef TORCHTIDY_CONFIRM_PROFILE_BRACES_H
#define TORCHTIDY_CONFIRM_PROFILE_BRACES_H

#include "recording/Recording.h"

namespace torchtidy::confirm {

/// GCC 12 puts what a `return {a, b};` calls on the closing brace of the
/// function. Where a frame's line is nothing but braces, and a `return` stands
/// just above it, the frame is moved there. Reads the sources that are there.
void moveOffBraces(Recording &Run);

} // namespace torchtidy::confirm

#endif

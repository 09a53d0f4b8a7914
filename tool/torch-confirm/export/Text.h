// The report for people.
#ifndef TORCHTIDY_CONFIRM_PROFILE_TEXT_H
#define TORCHTIDY_CONFIRM_PROFILE_TEXT_H

#include "profile/Profile.h"

namespace torchtidy::confirm {

struct ProfileTextOptions {
  /// Escape sequences of a terminal.
  bool Color = false;
  /// All rows, and whole call chains.
  bool Details = false;
};

std::string profileText(const Recording &Run, const Profile &Of,
                        const ProfileTextOptions &Options = {});

/// How the program ended, in a few words: "ended with 0", "was ended by signal
/// 6, out of memory".
std::string endText(const Recording &Run);
/// "out of memory at train.cpp:88 after 3.1 s: asked for 512 MiB when ..."
std::string failureText(const Recording &Run, const FailedAllocation &Of);

} // namespace torchtidy::confirm

#endif

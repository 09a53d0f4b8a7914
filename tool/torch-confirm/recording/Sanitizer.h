// What AddressSanitizer prints, or writes where log_path tells it to.
#ifndef TORCHTIDY_CONFIRM_RECORDING_SANITIZER_H
#define TORCHTIDY_CONFIRM_RECORDING_SANITIZER_H

#include "recording/Recording.h"

namespace torchtidy::confirm {

/// All reports in a text; what else it holds is left out.
std::vector<SanitizerReport> parseSanitizer(const std::string &Text);

} // namespace torchtidy::confirm

#endif

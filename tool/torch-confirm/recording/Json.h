// Recordings as JSON: `torch-confirm run --recording` keeps them, `judge` reads
// them, and so do the tests of the rules.
#ifndef TORCHTIDY_CONFIRM_RECORDING_JSON_H
#define TORCHTIDY_CONFIRM_RECORDING_JSON_H

#include "recording/Recording.h"
#include <nlohmann/json.hpp>

namespace torchtidy::confirm {

nlohmann::json toJson(const Recording &Run);
/// Throws UserError where it is none. What is missing has its default.
Recording recordingFromJson(const nlohmann::json &Text,
                            const std::string &Name);

void writeRecording(const Recording &Run, const std::string &Path);
Recording readRecording(const std::string &Path);

} // namespace torchtidy::confirm

#endif

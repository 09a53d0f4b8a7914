// The report for machines, and what a page is made of. Its schema lies beside
// it: report.schema.json.
#ifndef TORCHTIDY_CONFIRM_PROFILE_JSON_H
#define TORCHTIDY_CONFIRM_PROFILE_JSON_H

#include "profile/Profile.h"
#include <nlohmann/json.hpp>

namespace torchtidy::confirm {

/// What is not known is absent, never 0 or -1. Sites are named by their place
/// in "sites", moments by theirs in "moments".
nlohmann::ordered_json jsonOf(const Recording &Run, const Profile &Of);

} // namespace torchtidy::confirm

#endif

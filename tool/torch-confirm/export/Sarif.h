// Why memory grows, for editors and for services that show results at lines.
#ifndef TORCHTIDY_CONFIRM_PROFILE_SARIF_H
#define TORCHTIDY_CONFIRM_PROFILE_SARIF_H

#include "profile/Profile.h"

namespace torchtidy::confirm {

/// SARIF 2.1.0 with one result for each cause. Files below the current folder
/// are named from there.
std::string growthSarif(const Recording &Run, const Profile &What);

} // namespace torchtidy::confirm

#endif

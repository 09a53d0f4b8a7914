// The parts of the report for machines that have a shape of their own.
#ifndef TORCHTIDY_CONFIRM_PROFILE_JSONPARTS_H
#define TORCHTIDY_CONFIRM_PROFILE_JSONPARTS_H

#include "profile/Profile.h"
#include <nlohmann/json.hpp>

namespace torchtidy::confirm {

nlohmann::ordered_json toJson(const SourceLine &Of);
nlohmann::ordered_json toJson(const std::vector<SourceLine> &Stack);

nlohmann::ordered_json iterationsOf(const Recording &Run, const Profile &Of);
nlohmann::ordered_json momentsOf(const Recording &Run);
nlohmann::ordered_json sitesOf(const Recording &Run, const Profile &Of);
/// Columns of the same length, which is what plots and data frames take; null
/// where a quantity was not measured at that time.
nlohmann::ordered_json curvesJson(const Recording &Run);

} // namespace torchtidy::confirm

#endif

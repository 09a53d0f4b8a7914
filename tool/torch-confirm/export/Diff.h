// What a change of the program brought: two reports side by side.
#ifndef TORCHTIDY_CONFIRM_PROFILE_DIFF_H
#define TORCHTIDY_CONFIRM_PROFILE_DIFF_H

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace torchtidy::confirm {

/// Both reports are what jsonOf() makes. Lines are matched by file, function
/// and operation: a line that only moved is the same. Throws
/// nlohmann::json::exception where a report has not the form of one.
nlohmann::ordered_json diffJson(const nlohmann::json &Before,
                                const nlohmann::json &After);

/// For people: what is worth a look of diffJson().
std::string diffText(const nlohmann::ordered_json &Diff);

/// diffText() of diffJson().
std::string diffOf(const nlohmann::json &Before, const nlohmann::json &After);

/// By how many bytes per iteration memory grows more after than before;
/// nothing where the run after was too short to tell.
std::optional<double> moreGrowthOf(const nlohmann::ordered_json &Diff);

} // namespace torchtidy::confirm

#endif

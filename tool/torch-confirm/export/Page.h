// The report as one HTML page: it is read without a network, from wherever it
// lies. What it looks like and does is in page/; what draws in it are libraries
// that were fetched when torch-confirm was built (third_party/page).
#ifndef TORCHTIDY_CONFIRM_PROFILE_PAGE_H
#define TORCHTIDY_CONFIRM_PROFILE_PAGE_H

#include "support/Paths.h"
#include <nlohmann/json.hpp>

namespace torchtidy::confirm {

/// \param Report what jsonOf() made.
/// \param Data the folder that holds page/ and page-libraries/.
/// Lines around the causes are read from the user's sources, where these are
/// still there. Throws UserError where this build has no libraries.
std::string pageOf(const nlohmann::ordered_json &Report,
                   const std::filesystem::path &Data = dataFolder());

/// Throws UserError where pageOf() would for want of libraries, which is better
/// known before a long run.
void requirePage(const std::filesystem::path &Data = dataFolder());

} // namespace torchtidy::confirm

#endif

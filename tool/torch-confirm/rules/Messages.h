// What LibTorch's exceptions say of the mistakes that the checks name.
#ifndef TORCHTIDY_CONFIRM_RULES_MESSAGES_H
#define TORCHTIDY_CONFIRM_RULES_MESSAGES_H

#include "FindingKinds.h"
#include "recording/Recording.h"
#include <optional>

namespace torchtidy::confirm {

/// Whether an exception with that message is the one that a finding of the kind
/// speaks of. Without a kind any is, and of kinds that name none as well.
bool isMeant(std::optional<FindingKind> Kind, const std::string &Message);

/// Of the exceptions that left a site, those that are meant. Of some only the
/// number was kept; they are none of them.
uint64_t countMeant(std::optional<FindingKind> Kind, const Site &At);

} // namespace torchtidy::confirm

#endif

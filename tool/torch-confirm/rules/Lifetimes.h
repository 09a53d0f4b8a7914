// Tensors over memory of the program's own (from_blob): whether that memory
// goes before they do and they are used then, and whether it is as large as
// they are.
#ifndef TORCHTIDY_CONFIRM_RULES_LIFETIMES_H
#define TORCHTIDY_CONFIRM_RULES_LIFETIMES_H

#include "rules/Places.h"
#include "rules/Verdict.h"

namespace torchtidy::confirm {

/// Nothing where the line lays no tensor over memory, or the run cannot tell.
std::optional<Verdict> judgeLifetime(const Places &Where);
std::optional<Verdict> judgeWidth(const Places &Where);

} // namespace torchtidy::confirm

#endif

// Growth of the process that several lines share.
#ifndef TORCHTIDY_CONFIRM_RULES_SHARES_H
#define TORCHTIDY_CONFIRM_RULES_SHARES_H

#include "rules/Judge.h"

namespace torchtidy::confirm {

/// Of the lines of one loop that leak, each measures the growth of all. So the
/// sum is split over them, by the graph nodes that each makes and keeps, and
/// the sentence says so: costs add up to what there is.
void splitShares(std::vector<JudgedFinding> &All);

} // namespace torchtidy::confirm

#endif

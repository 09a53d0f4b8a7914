// How a quantity grows from hit to hit of a site.
#ifndef TORCHTIDY_CONFIRM_RULES_SERIES_H
#define TORCHTIDY_CONFIRM_RULES_SERIES_H

#include "recording/Recording.h"
#include <optional>

namespace torchtidy::confirm {

/// Momentum, gradients and caches come into being in the first iterations.
constexpr uint64_t WarmUpHits = 10;
/// Of the rest, what a slope needs.
constexpr uint64_t FewestHitsOfSlope = 20;

/// Growth per hit after the warm-up; nothing where there are too few hits or
/// samples.
///
/// The median of the slopes between every second sample. So a release in some
/// iterations (at the end of an epoch) does not hide the growth between them,
/// and what comes and goes with every other iteration is none.
std::optional<double> growthPerHit(const std::vector<Sample> &Series,
                                   int64_t Sample::*Quantity);

/// The same of malloc's bytes in use, which are not asked for at each hit: an
/// answer that only holds from before is none.
std::optional<double> heapGrowthPerHit(const std::vector<Sample> &Series);

/// The median after the warm-up, or of all where there is no more.
std::optional<double> typical(const std::vector<Sample> &Series,
                              int64_t Sample::*Quantity);

} // namespace torchtidy::confirm

#endif

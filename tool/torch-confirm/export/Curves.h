// How memory and graphs went over a run, as lines that can be drawn.
#ifndef TORCHTIDY_CONFIRM_PROFILE_CURVES_H
#define TORCHTIDY_CONFIRM_PROFILE_CURVES_H

#include "recording/Recording.h"
#include <optional>

namespace torchtidy::confirm {

/// The process at one time. What was not measured then is absent: most points
/// are samples of a site, which know nothing of reserved or resident bytes.
struct CurvePoint {
  double Seconds = 0;
  std::optional<int64_t> Cpu, Cuda, Reserved, Resident, Nodes;
};

/// In order of time: the moments, and the samples of all sites. Of long runs
/// so many that a screen shows no more; then each stretch of time keeps its
/// first, its last and its extreme points, and all moments are kept.
std::vector<CurvePoint> curvesOf(const Recording &Run);

} // namespace torchtidy::confirm

#endif

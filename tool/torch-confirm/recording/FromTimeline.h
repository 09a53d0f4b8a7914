// What was recorded over time, in terms of a recording's sites.
#ifndef TORCHTIDY_CONFIRM_RECORDING_FROMTIMELINE_H
#define TORCHTIDY_CONFIRM_RECORDING_FROMTIMELINE_H

#include "recording/Recording.h"
#include "trace/TraceFile.h"

namespace torchtidy::confirm {

/// Of each site of a trace its index in Recording::Sites; none where it is not
/// there.
using PlacesOfSites = std::vector<std::optional<size_t>>;
std::optional<size_t> placeOf(const PlacesOfSites &Places, uint32_t Site);

void addTimeline(Recording &To, const trace::TimelineData &From,
                 const PlacesOfSites &Places);

} // namespace torchtidy::confirm

#endif

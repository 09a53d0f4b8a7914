// What lies outside of what one execution analyses.
#ifndef TORCHTIDY_MACHINE_OUTSIDE_H
#define TORCHTIDY_MACHINE_OUTSIDE_H

#include "model/base/Place.h"
#include "model/icfg/Supergraph.h"

namespace torchtidy::model {

/// The object at P was there before the entry: a member, a global variable, a
/// parameter of the root.
bool isFromOutside(const PlaceTable &Places, const Supergraph &Graph,
                   PlaceId P);

} // namespace torchtidy::model

#endif

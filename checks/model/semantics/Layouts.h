// Copies for the sake of a shape or a layout, and layouts that meet.
#ifndef TORCHTIDY_SEMANTICS_LAYOUTS_H
#define TORCHTIDY_SEMANTICS_LAYOUTS_H

#include "model/domains/Transfers.h"

namespace torchtidy::model::layouts {

/// RearrangeEvent of repeat() and contiguous(), MixEvent of others.
void tell(Machine &M, const OperationCall &Call);

} // namespace torchtidy::model::layouts

#endif

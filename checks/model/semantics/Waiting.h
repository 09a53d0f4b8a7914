// Which calls give work to a device, which wait for it, and which may do
// either.
#ifndef TORCHTIDY_SEMANTICS_WAITING_H
#define TORCHTIDY_SEMANTICS_WAITING_H

#include "model/semantics/CallSite.h"

namespace torchtidy::model {

/// Tells of a call whose body is not seen, and that has returned Returned, when
/// it makes the host wait for a device or enqueues an operation there.
void emitDeviceWork(Machine &M, const CallSite &Site,
                    const Denotation &Returned);

} // namespace torchtidy::model

#endif

// Which calls need on the host what was copied there.
#ifndef TORCHTIDY_SEMANTICS_HOSTREADS_H
#define TORCHTIDY_SEMANTICS_HOSTREADS_H

#include "model/semantics/CallSite.h"

namespace torchtidy::model {

/// Tells of a call whose body is not seen, when it reads on the host what was
/// copied from a device: item(), data_ptr(), printing, a module that runs
/// there. Code that is not LibTorch's has an EscapeEvent.
void emitHostReads(Machine &M, const CallSite &Site);

} // namespace torchtidy::model

#endif

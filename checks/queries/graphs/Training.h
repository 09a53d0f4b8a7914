// Who trains what: the modules and tensors behind steps and cleared gradients.
#ifndef TORCHTIDY_QUERIES_GRAPHS_TRAINING_H
#define TORCHTIDY_QUERIES_GRAPHS_TRAINING_H

#include "model/execution/Execution.h"
#include <optional>

namespace torchtidy::model {

/// The modules and tensors that these parameters, or gradients, are of. Nothing
/// where that is not known of all of them: what is neither a module nor a
/// tensor (an element of a list, what an optimizer from elsewhere was given)
/// could be any.
std::optional<PlaceSet> ownersOf(const Execution &Entry,
                                 const PlaceSet &Parameters);

/// The event clears gradients of one of these modules or tensors, or may.
bool mayClear(const Execution &Entry, const ZeroGradEvent &Clearing,
              const PlaceSet &Owners);

/// One of them begins its life: it has no gradients from before.
bool begins(const Execution &Entry, const CreateEvent &Create,
            const PlaceSet &Owners);

} // namespace torchtidy::model

#endif

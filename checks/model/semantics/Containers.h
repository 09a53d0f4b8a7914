// Containers, of the standard library and of LibTorch: elements that are added,
// reached, and let go. Source: [containers], [algorithms] of the C++ standard,
// ATen/core/List.h, torch/csrc/api/include/torch/nn/modules/container.
#ifndef TORCHTIDY_SEMANTICS_CONTAINERS_H
#define TORCHTIDY_SEMANTICS_CONTAINERS_H

#include "model/semantics/CallSite.h"

namespace torchtidy::model {
namespace containers {

Denotation iterator(Machine &M, const CallSite &Site);
Denotation element(Machine &M, const CallSite &Site);
/// push_back, insert, assign; optional::emplace has the same name.
Denotation append(Machine &M, const CallSite &Site);
/// std::fill, std::array::fill.
Denotation fill(Machine &M, const CallSite &Site);
Denotation clear(Machine &M, const CallSite &Site);
/// pop_back, erase; std::exchange, which takes what its argument held.
Denotation remove(Machine &M, const CallSite &Site);
Denotation extract(Machine &M, const CallSite &Site);
Denotation resize(Machine &M, const CallSite &Site);
Denotation swap(Machine &M, const CallSite &Site);

/// What a container has of Element, a tensor or an iterator to some: also of
/// what that leads to, but for what is in Containers already.
Value elementsGiven(Machine &M, const clang::Expr *Element,
                    const PlaceSet &Containers);

/// Tells that elements of containers become handles to what Element is.
void emitFill(Machine &M, const clang::Expr *Site, const PlaceSet &Containers,
              const clang::Expr *Element, bool IsAppended);

} // namespace containers
} // namespace torchtidy::model

#endif

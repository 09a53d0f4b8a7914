// Smart pointers, optionals, iterators, references: what leads to an object.
// Source: [memory], [optional], [utility], [iterators] of the C++ standard.
#ifndef TORCHTIDY_SEMANTICS_POINTERS_H
#define TORCHTIDY_SEMANTICS_POINTERS_H

#include "model/semantics/CallSite.h"

namespace torchtidy::model {
namespace pointers {

/// std::move.
Denotation move(Machine &M, const CallSite &Site);
/// std::forward.
Denotation forward(Machine &M, const CallSite &Site);
/// ref, as_const, static_pointer_cast, next, ++: what they are given.
Denotation same(Machine &M, const CallSite &Site);
/// make_shared, make_unique, make_intrusive.
Denotation make(Machine &M, const CallSite &Site);
/// *, ->, value, lock.
Denotation dereference(Machine &M, const CallSite &Site);
/// get() of a smart pointer.
Denotation get(Machine &M, const CallSite &Site);
/// reset(): of a pointer, an optional, a guard in one.
Denotation reset(Machine &M, const CallSite &Site);
/// optional::emplace.
Denotation emplace(Machine &M, const CallSite &Site);

} // namespace pointers
} // namespace torchtidy::model

#endif

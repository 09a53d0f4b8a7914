// What is known of a value at a point of the program: the product of the
// domains. A new domain is a folder under model/domains, a name here, and a row
// in domains/Transfers.cpp.
#ifndef TORCHTIDY_STATE_VALUE_H
#define TORCHTIDY_STATE_VALUE_H

#include "model/domains/aliases/Lattice.h"
#include "model/domains/attributes/Lattice.h"
#include "model/domains/device/Lattice.h"
#include "model/domains/extent/Lattice.h"
#include "model/domains/history/Lattice.h"
#include "model/domains/loans/Lattice.h"
#include "model/domains/modes/Lattice.h"
#include "model/domains/registration/Lattice.h"
#include "model/domains/saved/Lattice.h"
#include "model/domains/scale/Lattice.h"
#include "model/domains/shape/Lattice.h"

namespace torchtidy::model {

/// Each domain is a join semilattice whose bottom is what its constructor
/// makes; so is the product.
template <class... Domains> struct Product : Domains... {
  /// True when something has changed.
  bool join(const Product &Other) {
    bool Changed = false;
    ((Changed |=
      static_cast<Domains &>(*this).join(static_cast<const Domains &>(Other))),
     ...);
    return Changed;
  }
  bool operator==(const Product &Other) const {
    return (... && (static_cast<const Domains &>(*this) ==
                    static_cast<const Domains &>(Other)));
  }
};

struct Value
    : Product<AutogradHistory, Modes, Aliases, Borrows, Placement, Attributes,
              Registration, Shapes, SavedTensors, Extent, Scaling> {
  static Value withHistory(uint8_t History) {
    Value V;
    V.History = History;
    return V;
  }
  static Value handle(PlaceSet Refs) {
    Value V;
    V.Refs = std::move(Refs);
    return V;
  }
};

} // namespace torchtidy::model

#endif

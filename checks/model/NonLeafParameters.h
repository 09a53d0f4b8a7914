// Query about tensors that are trained though they are no leaves.
#ifndef TORCHTIDY_MODEL_NONLEAFPARAMETERS_H
#define TORCHTIDY_MODEL_NONLEAFPARAMETERS_H

#include "model/Execution.h"

namespace torchtidy::model {

struct NonLeafParameter {
  enum Kind {
    /// The constructor of an optimizer, or add_param_group(), throws.
    Throws,
    /// add_parameters() says nothing, and no step changes it.
    Ignored,
    /// A module registers it: the optimizer throws later.
    Registered,
    /// A trained variable is bound to a result; the optimizer goes on with what
    /// it held.
    Rebound,
  } How;
  /// Train, Register or Store.
  const Event *Given;
  /// The tensor as it is written there.
  const clang::Expr *Tensor;
  /// What made it, or null.
  const Origin *Made;
  /// Rebound: where the optimizer was given what it held.
  const Event *Train = nullptr;
};

/// Nothing is reported for what is a leaf on some path: what is made under a
/// guard, detached, or moved to where it is already.
std::vector<NonLeafParameter> nonLeafParameters(const Execution &Way);

} // namespace torchtidy::model

#endif

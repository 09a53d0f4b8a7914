// Query: tensors that are trained though they are no leaves.
#ifndef TORCHTIDY_MODULES_NONLEAFPARAMETER_H
#define TORCHTIDY_MODULES_NONLEAFPARAMETER_H

#include "model/execution/Program.h"

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
  } How = Throws;
  const Execution *Entry = nullptr;
  /// AddParameters, Register or Store.
  const Event *Given = nullptr;
  /// The tensor as it is written there.
  const clang::Expr *Tensor = nullptr;
  /// What made it, or null.
  const Origin *Made = nullptr;
  /// Rebound: where the optimizer was given what it held.
  const AddParametersEvent *GivenBefore = nullptr;
};

/// Nothing is reported for what is a leaf on some path: what is made under a
/// guard, detached, or moved to where it is already.
std::vector<NonLeafParameter> nonLeafParameters(Program &Program);

} // namespace torchtidy::model

#endif

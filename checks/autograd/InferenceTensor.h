// Query: tensors and modules that are made in inference mode, and then changed
// or trained outside of it.
#ifndef TORCHTIDY_AUTOGRAD_INFERENCETENSOR_H
#define TORCHTIDY_AUTOGRAD_INFERENCETENSOR_H

#include "model/execution/Program.h"

namespace torchtidy::model {

struct InferenceTensor {
  enum Use {
    /// An in-place operation, which throws.
    Written,
    /// The pass of a layer that wants to save it for backward(), and throws.
    Saved,
    /// The same of an operation.
    Operand,
    /// A module: a pass that is to train it. Its parameters get no gradient.
    Trained,
  } Is = Written;
  const Execution *Entry = nullptr;
  /// The in-place operation, the pass, or what saves it.
  const clang::Expr *At = nullptr;
  /// Where it is made, in which activation, and the guard that is in force
  /// there.
  const clang::Expr *Made = nullptr;
  const Frame *MadeIn = nullptr;
  const GradModeChangeEvent *Guard = nullptr;
  /// Of a module: what goes through the pass.
  const BackwardEvent *Backward = nullptr;
};

/// Nothing is reported where inference mode may be off where it is made, or on
/// where it is used: in functions whose callers lie elsewhere a backward() has
/// to show that it is not. What an operation computes in inference mode is
/// looked at in a variable or a member that is set once. Nor of views, copies,
/// detach(), data() and what set_data() was called on; of parameters that may
/// be frozen; of a module that is moved or loaded, whose parameters may be
/// others then.
std::vector<InferenceTensor> inferenceTensors(Program &Program);

} // namespace torchtidy::model

#endif

// Query: backward() calls that go on into the network which made the input of
// the one that is trained.
#ifndef TORCHTIDY_AUTOGRAD_UNDETACHEDGENERATOROUTPUT_H
#define TORCHTIDY_AUTOGRAD_UNDETACHEDGENERATOROUTPUT_H

#include "model/execution/Program.h"

namespace torchtidy::model {

/// A network is trained on what another has made, with the graph behind it.
/// backward() goes through both, and only the step of the one uses gradients:
/// those of the other are cleared before its own step, or spoil it.
struct UndetachedGeneratorOutput {
  const Execution *Entry = nullptr;
  /// The pass of the network that is trained, and one that makes its input.
  const ForwardEvent *Pass = nullptr;
  const ForwardEvent *Source = nullptr;
  const BackwardEvent *Backward = nullptr;
  /// The step that uses the gradients of the one.
  const StepEvent *Step = nullptr;
  /// The step that applies those of the other, which nothing has cleared. Null
  /// where they are cleared, or never applied.
  const StepEvent *Spoiled = nullptr;
  /// Where to speak: the pass, or, where others make it as well or its input
  /// comes from a caller, the call that leads to it.
  const Frame *In = nullptr;
  const clang::Stmt *Site = nullptr;
  /// Nothing else goes through what the source has made: it can be made under a
  /// guard.
  bool IsForThisOnly = false;
  /// What is given to the pass and could be detached there. Null where that is
  /// not one tensor, or the pass is made for others too.
  const clang::Expr *Operand = nullptr;
};

/// Nothing is reported where the other network has no optimizer that is known,
/// or shares one, or a part, with the first; where what goes into it may need a
/// gradient; where a step of it may use the gradients: one that follows the
/// same backward() before they are cleared, or that cannot be seen; where they
/// are read; and where anything else goes through the graph of that pass.
std::vector<UndetachedGeneratorOutput>
undetachedGeneratorOutputs(Program &Program);

} // namespace torchtidy::model

#endif

// Query: networks that backward() goes through though no optimizer trains them.
#ifndef TORCHTIDY_AUTOGRAD_UNUSEDGRADIENTS_H
#define TORCHTIDY_AUTOGRAD_UNUSEDGRADIENTS_H

#include "model/execution/Program.h"

namespace torchtidy::model {

/// A forward pass that autograd records, and a backward() that goes through it
/// to parameters which no optimizer trains: a feature extractor, a teacher, a
/// target network.
struct UnusedGradients {
  const Execution *Entry = nullptr;
  const ForwardEvent *Forward = nullptr;
  const BackwardEvent *Backward = nullptr;
  /// Where the network is made or loaded.
  const Event *Made = nullptr;
  /// Where to speak: the pass, or, where others need its graph, the call that
  /// leads to it.
  const Frame *In = nullptr;
  const clang::Stmt *Site = nullptr;
};

/// Nothing is reported where the network may come from outside of what is
/// analysed, or goes there; where its input may need a gradient; where it is
/// not known what all optimizers train, or one of them may train it after the
/// backward(); where anybody reads gradients of it or differentiates; where its
/// parameters may be frozen; and in a forward().
std::vector<UnusedGradients> unusedGradients(Program &Program);

} // namespace torchtidy::model

#endif

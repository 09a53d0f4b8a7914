// Query: modules that are left out where eval() is called on another one twice,
// or for an evaluation of both.
#ifndef TORCHTIDY_TRAINING_PARTIALEVALMODE_H
#define TORCHTIDY_TRAINING_PARTIALEVALMODE_H

#include "model/execution/Program.h"
#include "queries/modes/PartialEvaluation.h"

namespace torchtidy::model {

/// Of two modules that are made ready in one function, one is set to eval()
/// twice with nothing run in between, and the other never, or not for the
/// evaluation that the function goes on with. Or both are
/// evaluated, and one only is set to eval() for that.
struct PartialEvalMode {
  const Execution *Entry = nullptr;
  /// The eval() that does nothing, and the one that does the same; null where
  /// the eval() is for an evaluation of both.
  const ModeChangeEvent *Needless = nullptr, *Other = nullptr;
  /// Where the module is loaded or made that is left out, its variable or
  /// member, and a pass that evaluates it. The first is null where the function
  /// runs it next, the first two in an evaluation of both, which says what
  /// trains the other, or both.
  const Event *Made = nullptr;
  const clang::ValueDecl *LeftOut = nullptr;
  const ForwardEvent *Pass = nullptr;
  const BackwardEvent *Backward = nullptr;
  bool AreTogether = false;
  /// What in it is otherwise in eval mode; empty where nobody can see it, in
  /// TorchScript.
  std::string Part;
  /// It can be named where the other is, and nothing else is left out.
  bool IsInReach = false;
};

/// Of the variable or member that a call is made on: net of net->eval().
const clang::Expr *calledOn(const clang::Expr *Call);

/// Of the former nothing is reported where anything sets the module that is
/// left out to eval(), with it or in it (but where it is certain that it is in
/// train mode in a pass that the function goes on with); where code that cannot
/// be seen gets it; where it is a part of a network; where no pass of it is an
/// evaluation for certain; and where no part of it is known to depend on the
/// mode. Of the latter see PartialEvaluation.h.
std::vector<PartialEvalMode> partialEvalModes(Program &Program);

} // namespace torchtidy::model

#endif

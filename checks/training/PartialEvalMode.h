// Query: modules that are left out where eval() is called on another one twice.
#ifndef TORCHTIDY_TRAINING_PARTIALEVALMODE_H
#define TORCHTIDY_TRAINING_PARTIALEVALMODE_H

#include "model/execution/Program.h"

namespace torchtidy::model {

/// Of two modules that are made ready in one function, one is set to eval()
/// twice with nothing run in between, and the other never.
struct PartialEvalMode {
  const Execution *Entry = nullptr;
  /// The eval() that does nothing, and the one that does the same.
  const ModeChangeEvent *Needless = nullptr, *Other = nullptr;
  /// Where the module is loaded or made that is left out, its variable or
  /// member, and a pass that evaluates it.
  const Event *Made = nullptr;
  const clang::ValueDecl *LeftOut = nullptr;
  const ForwardEvent *Pass = nullptr;
  /// What in it is otherwise in eval mode; empty where nobody can see it, in
  /// TorchScript.
  std::string Part;
  /// It can be named where the other is, and nothing else is left out.
  bool IsInReach = false;
};

/// Nothing is reported where anything sets the module that is left out to
/// eval(), with it or in it; where code that cannot be seen gets it; where it
/// is a part of a network; where no pass of it is an evaluation for certain;
/// and where no part of it is known to depend on the mode.
std::vector<PartialEvalMode> partialEvalModes(Program &Program);

} // namespace torchtidy::model

#endif

// Query: FIXME(new-check): what it looks for, in half a sentence. (The worked
// example: tensors that are declared in a loop with what a factory makes.)
#ifndef TORCHTIDY_MEMORY_VARYINGSHAPES_H
#define TORCHTIDY_MEMORY_VARYINGSHAPES_H

#include "model/execution/Program.h"

namespace torchtidy::model {

/// FIXME(new-check): one thing that was found, with all that describe() in
/// VaryingShapesCheck.cpp needs.
struct VaryingShapes {
  const Execution *Entry = nullptr;
  const AllocateEvent *Allocate = nullptr;
  /// The innermost loop around it.
  const flow::Loop *Around = nullptr;
  /// The variable that is declared with it.
  const clang::VarDecl *Variable = nullptr;
  /// The declaration can stand before the loop.
  bool CanMove = false;
};

/// FIXME(new-check): what is not reported.
std::vector<VaryingShapes> findVaryingShapes(Program &Program);

} // namespace torchtidy::model

#endif

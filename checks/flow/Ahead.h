// What control may meet after a statement of a function: a forward scan.
#ifndef TORCHTIDY_FLOW_AHEAD_H
#define TORCHTIDY_FLOW_AHEAD_H

#include "flow/ControlFlow.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace torchtidy::flow {

enum class Met : uint8_t {
  /// Does not matter: the path goes on.
  Passed,
  /// The path ends here.
  Stop,
  Found,
};

/// Asks Look about each element that control may meet after From, the nearest
/// blocks first, until it says Found. Where a path ends with the function, and
/// IsExitFound, that is found as well. False where nothing is, or where From is
/// not in the control flow: unreachable code.
bool mayMeet(const ControlFlow &Flow, const clang::Stmt *From,
             llvm::function_ref<Met(const clang::CFGElement &)> Look,
             bool IsExitFound = false);

/// S is in the control flow; a part of a captured statement (OpenMP) is not.
bool isElement(const ControlFlow &Flow, const clang::Stmt *S);

} // namespace torchtidy::flow

#endif

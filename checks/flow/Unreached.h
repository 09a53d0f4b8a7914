// Functions that a program never runs: nobody bears their cost.
#ifndef TORCHTIDY_FLOW_UNREACHED_H
#define TORCHTIDY_FLOW_UNREACHED_H

#include "flow/Functions.h"

namespace torchtidy::flow {

/// The file is a program (it has main()), and F is a free function of it that
/// no header declares and that no line names: often its only call is commented
/// out. What another file declares for itself is not thought of, but for
/// `extern "C"` and attributes that keep a function.
bool isUnreached(const UserFunctions &Functions, const clang::FunctionDecl *F);

} // namespace torchtidy::flow

#endif

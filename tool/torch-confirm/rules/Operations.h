// LibTorch's names of operations, as sites have them, by what they do.
#ifndef TORCHTIDY_CONFIRM_RULES_OPERATIONS_H
#define TORCHTIDY_CONFIRM_RULES_OPERATIONS_H

#include "recording/Recording.h"
#include <algorithm>
#include <initializer_list>

namespace torchtidy::confirm {

inline bool isOneOf(const Site &S, std::initializer_list<const char *> Names) {
  return std::any_of(Names.begin(), Names.end(),
                     [&](const char *Name) { return S.Operation == Name; });
}

/// Brings a tensor to a device or type that is asked for.
inline bool isTransfer(const Site &S) {
  return isOneOf(S, {"aten::to", "aten::_to_copy", "aten::cuda", "aten::cpu"});
}

/// Is there to copy, where the tensor is elsewhere or of another type. Others
/// convert on their way (sum() of a bool) and are not meant.
inline bool mayCopy(const Site &S) {
  return isTransfer(S) || isOneOf(S, {"aten::copy_", "aten::type_as"});
}

/// Returns the tensor itself, with its graph, where there is nothing to do.
inline bool handsOn(const Site &S) {
  return isOneOf(S,
                 {"aten::to", "aten::contiguous", "aten::cpu", "aten::cuda"});
}

/// Makes one tensor out of several.
inline bool joins(const Site &S) {
  return isOneOf(S, {"aten::cat", "aten::concat", "aten::concatenate",
                     "aten::stack", "aten::hstack", "aten::vstack",
                     "aten::dstack", "aten::row_stack", "aten::column_stack"});
}

} // namespace torchtidy::confirm

#endif

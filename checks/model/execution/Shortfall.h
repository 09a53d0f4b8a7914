// What the model has left out of a file, for its size.
#ifndef TORCHTIDY_MODEL_EXECUTION_SHORTFALL_H
#define TORCHTIDY_MODEL_EXECUTION_SHORTFALL_H

#include <cstdint>

namespace clang {
class FunctionDecl;
}

namespace torchtidy::model {

/// A function of which not all was looked at.
struct Shortfall {
  const clang::FunctionDecl *Function;
  enum Kind : uint8_t {
    All,
    /// The function itself was looked at, and not all that it calls.
    Calls,
    /// All was followed, and there are more forward passes and first operations
    /// behind a backward(), or tensors that it needs, than are told apart: what
    /// asks which networks are trained is quiet, and not all that spoils the
    /// graph is seen.
    Passes,
  } Left;
};

} // namespace torchtidy::model

#endif

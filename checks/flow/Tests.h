// Functions that a test framework runs: once, on small input, to see whether
// they are right. Their cost does not matter.
#ifndef TORCHTIDY_FLOW_TESTS_H
#define TORCHTIDY_FLOW_TESTS_H

#include "flow/Functions.h"
#include "llvm/ADT/DenseSet.h"

namespace torchtidy::flow {

/// The tests of a translation unit: methods of a class that derives from
/// GoogleTest's testing::Test, and functions that the initializer of a global
/// hands to Catch2, doctest or Boost.Test, which is what their macros expand
/// to.
class Tests {
public:
  explicit Tests(const UserFunctions &Functions);

  /// F is one of them, or a lambda or local class of one.
  bool contains(const clang::FunctionDecl *F) const;

private:
  llvm::DenseSet<const clang::FunctionDecl *> GivenToFramework;
};

} // namespace torchtidy::flow

#endif

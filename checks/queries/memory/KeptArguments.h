// Query: the member in which a method keeps what it is given, by what its text
// says.
#ifndef TORCHTIDY_QUERIES_MEMORY_KEPTARGUMENTS_H
#define TORCHTIDY_QUERIES_MEMORY_KEPTARGUMENTS_H

#include "clang/AST/ExprCXX.h"
#include <optional>

namespace torchtidy::model {

struct KeptArgument {
  const clang::FieldDecl *Member = nullptr;
  /// It is one more element of the member: listeners_.push_back(listener).
  bool IsElement = false;
  /// What the member, or its element, is.
  clang::QualType type() const;
};

/// A member of its object that \p Method puts \p Parameter into, on some path
/// at least; nothing where there is none.
std::optional<KeptArgument> keptArgument(const clang::FunctionDecl *Method,
                                         const clang::ParmVarDecl *Parameter);

} // namespace torchtidy::model

#endif

// Query: assignments to copies of handles. A tensor that is not read
// gets another value, and the tensor that was meant keeps its own.
#ifndef TORCHTIDY_RESULTS_PARAMETERCOPY_H
#define TORCHTIDY_RESULTS_PARAMETERCOPY_H

#include "model/execution/Program.h"

namespace torchtidy::model {

/// An assignment to a copy that is not read afterwards.
struct LostWrite {
  enum Kind {
    /// net->parameters()[i] = x: the element of a temporary, or, where
    /// IsContainer, all of it: net->parameters() = xs.
    Temporary,
    /// for (auto &p : net->parameters()) p = x.
    TemporaryRange,
    /// for (auto t : tensors) t = x.
    Element,
    /// A parameter that is passed by value.
    Parameter,
    /// auto r = m[0]; r = x.
    Copy,
  } Of;
  const clang::CallExpr *Assignment;
  /// What is assigned to: the variable, or the temporary's call.
  const clang::ValueDecl *Variable;
  const clang::CallExpr *Call;
  /// For Element and TemporaryRange: the loop; for Copy: what was copied.
  const clang::CXXForRangeStmt *Loop = nullptr;
  const clang::Expr *Source = nullptr;
  /// Call is parameters(), named_parameters(): the elements are a module's.
  bool IsOfModule = false;
  /// Variable is a container, and its elements are assigned to; of Temporary
  /// the container itself.
  bool IsContainer = false;
  /// Of a parameter: what gives it another value afterwards, so that it serves
  /// the function itself, and this value is the one that is lost; or null.
  const clang::CallExpr *Overwrites = nullptr;
};

/// Nothing is reported for assignments that let go of a tensor, or whose
/// variable is read, captured or referred to.
std::vector<LostWrite> lostWrites(Program &User);

/// A reference, a pointer or an iterator into the vector that parameters() or
/// buffers() returns, which outlives the statement that the vector belongs to.
struct KeptElement {
  /// Where it is kept: the declaration, or the expression that takes it.
  const clang::VarDecl *Variable;
  const clang::Expr *Taken;
  /// The call of parameters().
  const clang::CallExpr *Call;
};

std::vector<KeptElement> keptElements(Program &User);

} // namespace torchtidy::model

#endif

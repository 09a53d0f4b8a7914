// Query: results that a program makes and drops.
#ifndef TORCHTIDY_RESULTS_DISCARDEDRESULT_H
#define TORCHTIDY_RESULTS_DISCARDEDRESULT_H

#include "model/execution/Program.h"

namespace torchtidy::model {

/// A call that only returns a result, and whose result is not used.
struct DiscardedResult {
  const clang::CallExpr *Call = nullptr;
  /// What the reader takes for changed, as it is written: batch.data. Null
  /// where a comparison is dropped.
  const clang::Expr *Subject = nullptr;
  /// The function of the user's that is called; null for an operation.
  const clang::FunctionDecl *Helper = nullptr;
  /// To another device or type.
  bool Converts = false;
  /// The result stands for Subject, or can be made in place as well, and
  /// Subject can be assigned to.
  bool CanAssign = false;
  /// Where it would lie on a device, what follows hands out a pointer to the
  /// memory of Subject for the host to read: with the result in its place the
  /// program would crash. Null where none is seen.
  const clang::CallExpr *ReadOnHost = nullptr;
  /// It has another shape, and no condition around asks for that of Subject:
  /// what follows may rest on the shape that Subject has today.
  bool Reshapes = false;
  /// The call writes into this copy of Subject, or of some of it; null where it
  /// only returns something.
  const clang::CallExpr *Copy = nullptr;
  /// index_put_() can write the number, which may be written without autograd's
  /// objecting: x.index({mask}) = 0.
  bool CanPut = false;
};

/// Nothing is reported where the call is made for something else than its
/// result: to be timed or to warm up, to wait for a device, to throw, for the
/// random numbers or the statistics that it changes; nor where what
/// it was called on is not read afterwards.
std::vector<DiscardedResult> discardedResults(Program &User);

} // namespace torchtidy::model

#endif

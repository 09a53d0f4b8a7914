// Query: operations with a backward() of their own that keep their output where
// the output keeps it.
#ifndef TORCHTIDY_AUTOGRAD_SAVEDDATA_H
#define TORCHTIDY_AUTOGRAD_SAVEDDATA_H

#include "model/execution/Program.h"

namespace torchtidy::model {

/// forward() of a custom function puts its output into saved_data: the output
/// owns the node, the node the context, and the context the output.
struct SavedData {
  /// The statement that saves, and where the variable is named in it.
  const clang::CallExpr *Save = nullptr;
  const clang::Expr *Operand = nullptr;
  const clang::VarDecl *Output = nullptr;
  const clang::ReturnStmt *Return = nullptr;
  /// The operation that makes it.
  const clang::Expr *Maker = nullptr;
  /// Of saved_data["y"] = y, where it is the only output that is saved so:
  /// where it is read again, saved_data["y"].toTensor(). None where the reads
  /// are not all known, or could not be of another form.
  std::vector<const clang::CallExpr *> Reads;
};

/// Reported is only the handle itself that is returned, and that an operation
/// has made for certain: inputs, and detached copies, are freed with the node.
/// Nothing is where an output needs no gradient, or where anything in the class
/// may take it out of saved_data again.
std::vector<SavedData> findSavedData(Program &Program);

} // namespace torchtidy::model

#endif

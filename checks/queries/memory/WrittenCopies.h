// Writes into a copy that nobody has: x.index({mask}) = y.
#ifndef TORCHTIDY_QUERIES_MEMORY_WRITTENCOPIES_H
#define TORCHTIDY_QUERIES_MEMORY_WRITTENCOPIES_H

#include "model/execution/Program.h"
#include <map>

namespace torchtidy::model {

/// target = value.
bool isAssignment(const clang::CallExpr *Call);

/// The operation that has made, in the same expression, what Call writes into;
/// null where that was there before.
const clang::CallExpr *copyWrittenBy(const clang::CallExpr *Call);

/// Those of a program whose target owns its memory for certain: the call, and
/// whether what it was made of may have a graph.
using WrittenCopies = std::map<const clang::Stmt *, bool>;
WrittenCopies writtenCopies(Program &User);

} // namespace torchtidy::model

#endif

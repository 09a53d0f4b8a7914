// Whose memory a class of the standard library, of Eigen or of anybody else
// looks at.
#ifndef TORCHTIDY_MODEL_LOANTYPES_H
#define TORCHTIDY_MODEL_LOANTYPES_H

#include "clang/AST/DeclCXX.h"

namespace torchtidy::model {

/// The definition of a class that an object or a reference is of, or null.
const clang::CXXRecordDecl *classOf(clang::QualType Type);

/// A class of somebody else's that frees memory when it dies: cv::Mat. Copies
/// of it may share that memory.
bool isHandleToMemory(clang::QualType Type);

/// One of Eigen's: copies of it have memory of their own.
bool isMatrix(clang::QualType Type);

/// What looks at memory, and owns none: a span.
bool isWindow(clang::QualType Type);

/// A std::unique_ptr.
bool isUnique(clang::QualType Type);

/// Its elements lie one behind the other, and move when it grows.
bool isContiguous(clang::QualType Type);

} // namespace torchtidy::model

#endif

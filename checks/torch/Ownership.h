// Whose memory a class of the standard library, of Eigen or of anybody else
// looks at, and what looks at nothing.
#ifndef TORCHTIDY_TORCH_OWNERSHIP_H
#define TORCHTIDY_TORCH_OWNERSHIP_H

#include "clang/AST/DeclCXX.h"

namespace torchtidy::torch {

/// The definition of a class that an object or a reference is of, or null.
const clang::CXXRecordDecl *classOf(clang::QualType Type);

/// A class, neither of std nor of LibTorch, whose destructor frees memory:
/// cv::Mat. Copies of it may share that memory.
bool isHandleToMemory(clang::QualType Type);

/// cv::Mat, cv::Mat_: a header that may stand over memory of its own, or over
/// that of others.
bool isPicture(clang::QualType Type);
/// Its constructor that is given a pointer makes a header over memory that it
/// does not own ("the external data is not automatically deallocated",
/// opencv2/core/mat.hpp).
bool standsOverPointer(const clang::FunctionDecl *Constructor);

/// One of Eigen's: copies of it have memory of their own.
bool isMatrix(clang::QualType Type);

/// A std::unique_ptr.
bool isUnique(clang::QualType Type);

/// Its elements lie one behind the other, and move when it grows.
bool isContiguous(clang::QualType Type);

/// For certain holds no tensor and leads to none: numbers, strings, containers
/// and tuples of these. Not what may stand for something else: iterators,
/// TensorOptions.
bool isPlainData(clang::QualType Type);

} // namespace torchtidy::torch

#endif

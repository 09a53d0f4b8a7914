// Data loaders and what their workers get:
// torch/csrc/api/include/torch/data/{dataloader,dataloader_options}.h. Null is
// answered by no.
#ifndef TORCHTIDY_TORCH_LOADERS_H
#define TORCHTIDY_TORCH_LOADERS_H

#include "clang/AST/DeclCXX.h"
#include "clang/AST/Expr.h"

namespace torchtidy::torch {

/// The data set of which each worker of the loader that the call makes has a
/// copy: make_data_loader of a data set without a state. Null for other calls.
clang::QualType copiedDataset(const clang::CallExpr *Call);
/// Of MapDataset<MapDataset<D, T>, U> it is D; null for what is LibTorch's
/// otherwise: SharedBatchDataset, TensorDataset.
const clang::CXXRecordDecl *sourceDataset(clang::QualType Dataset);
/// What has a name, of a data set that the call copies: data.map(..), and
/// make_data_loader(data, ..). Null where a temporary or what is moved is
/// given, and for other calls.
const clang::Expr *namedDataset(const clang::CallExpr *Call);
/// workers(n) of DataLoaderOptions.
bool setsWorkers(const clang::FunctionDecl *Member);
/// DataLoaderOptions.
bool isLoaderOptions(clang::QualType Type);
/// get() or get_batch(), which a data set of the user's overrides.
bool readsSample(const clang::CXXMethodDecl *Method);

/// How much an object of this type copies when it is copied.
enum class CopiedData {
  /// Tensors, pointers and other handles, strings, single numbers.
  Little,
  /// A list of numbers.
  Numbers,
  /// A list of lists of them, or of structures that have some.
  Lists,
};
CopiedData copiedData(clang::QualType Type);

} // namespace torchtidy::torch

#endif

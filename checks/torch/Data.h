// Data sets and loaders: where the tensors that they return come from. Source:
// torch/csrc/api/include/torch/data/{dataloader,datasets,transforms}.
#ifndef TORCHTIDY_TORCH_DATA_H
#define TORCHTIDY_TORCH_DATA_H

#include "clang/AST/DeclCXX.h"

namespace torchtidy::torch {

/// The data set of the loader whose begin() this is; null for other functions.
clang::QualType datasetOf(const clang::FunctionDecl *Begin);

enum class DataOrigin {
  /// Made on the host: MNIST, Normalize, Stack.
  Host,
  /// As its template arguments say: MapDataset.
  Parts,
  /// Whoever made it knows: TensorDataset, Lambda.
  Unknown,
};
/// Of a data set or a transform of LibTorch's.
DataOrigin dataOrigin(const clang::CXXRecordDecl *Class);

} // namespace torchtidy::torch

#endif

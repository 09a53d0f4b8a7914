// What needs the gradients of parameters to be there and to stay where they
// are. Source: torch/csrc/distributed/c10d, ATen/cuda/CUDAGraph.h,
// torch/csrc/api/include/torch/nn/options/embedding.h, nccl.h, mpi.h.
#ifndef TORCHTIDY_TORCH_GRADIENTS_H
#define TORCHTIDY_TORCH_GRADIENTS_H

#include "clang/AST/DeclCXX.h"

namespace torchtidy::torch {

/// Tensor::backward(), torch::autograd::backward(), by the name alone.
bool isBackwardName(llvm::StringRef Name);
/// mutable_grad: a buffer may be made the gradient.
bool givesGradientAway(const clang::FunctionDecl *Member);
/// sparse() of the options of an embedding.
bool asksForSparseGradient(const clang::FunctionDecl *Member);
/// Sums over processes, whose members all have to have a gradient: c10d, NCCL,
/// MPI.
bool isCollective(const clang::FunctionDecl *F);
/// Its objects use again the addresses that they have seen: CUDAGraph, the
/// reducers and process groups of c10d.
bool keepsAddresses(const clang::CXXRecordDecl *Class);
/// zero_grad() without an argument sets the gradients to none: LibTorch 2.0 and
/// later.
bool setsToNone(const clang::FunctionDecl *ZeroGrad);

} // namespace torchtidy::torch

#endif

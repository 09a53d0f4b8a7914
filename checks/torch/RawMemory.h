// Memory of a device that the runtime of CUDA or HIP gives, past the allocator
// of LibTorch: cuda_runtime_api.h, hip_runtime_api.h; who copies bytes. Null is
// answered by no.
#ifndef TORCHTIDY_TORCH_RAWMEMORY_H
#define TORCHTIDY_TORCH_RAWMEMORY_H

#include "clang/AST/Expr.h"

namespace torchtidy::torch {

/// cudaMalloc(&p, bytes), cudaMallocAsync, cudaMallocManaged, and those of HIP:
/// what the pointer to it is written to, "&p" without its casts. Null for other
/// calls.
const clang::Expr *rawTarget(const clang::CallExpr *Call);
/// cudaFree(p), cudaFreeAsync, and those of HIP: p. Null for other calls.
const clang::Expr *rawFreed(const clang::CallExpr *Call);
/// cudaMemcpy, cudaMemset and their like: writes or reads the memory, and keeps
/// no pointer to it.
bool onlyCopiesRaw(const clang::FunctionDecl *F);

/// memcpy, memmove, fwrite, fread, cudaMemcpy, and write() and read() of a
/// stream: goes through as many bytes as it is told of each pointer that it is
/// given. Of fwrite and fread two arguments say how many.
bool copiesBytes(const clang::FunctionDecl *F);

/// The memory of a container of the standard library with its own allocator:
/// v.data() of a std::vector, a std::string. Nobody has pinned it, unless
/// pinsGivenMemory().
bool isMemoryOfContainer(const clang::Expr *Data);

/// A from_blob() that says how the memory is freed.
bool hasDeleter(const clang::CallExpr *FromBlob);

} // namespace torchtidy::torch

#endif

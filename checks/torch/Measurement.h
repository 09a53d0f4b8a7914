// Functions of clocks, and of synchronisation with a device: what runs around
// them is measured. <chrono>, <ctime>, OpenMP, the CUDA runtime,
// c10/core/Event.h, c10/cuda/CUDAStream.h, Google Benchmark.
#ifndef TORCHTIDY_TORCH_MEASUREMENT_H
#define TORCHTIDY_TORCH_MEASUREMENT_H

#include "clang/AST/Decl.h"

namespace torchtidy::torch {

/// Tells the time: system_clock::now, gettimeofday, omp_get_wtime. Null is
/// answered by no.
bool readsClock(const clang::FunctionDecl *Callee);

bool isMeasurement(const clang::FunctionDecl *Callee);

} // namespace torchtidy::torch

#endif

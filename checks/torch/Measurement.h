// Functions of clocks, and what is run around them to measure it. <chrono>,
// <ctime>, OpenMP, the CUDA runtime, c10/core/Event.h, c10/cuda/CUDAStream.h,
// Google Benchmark. What makes the host wait for a device: Waiting.h.
#ifndef TORCHTIDY_TORCH_MEASUREMENT_H
#define TORCHTIDY_TORCH_MEASUREMENT_H

#include "clang/AST/Decl.h"

namespace torchtidy::torch {

/// Tells the time: system_clock::now, gettimeofday, omp_get_wtime. Null is
/// answered by no.
bool readsClock(const clang::FunctionDecl *Callee);

/// Only measures: reads a clock, waits for a device (isSynchronisation),
/// records an event of a device, or is a benchmark's. Not to be asked of null.
bool isMeasurement(const clang::FunctionDecl *Callee);

} // namespace torchtidy::torch

#endif

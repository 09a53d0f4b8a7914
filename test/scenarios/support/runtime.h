// What the runtime of CUDA is for a program that takes memory from it: functions of the same
// names, over the memory of the host. LibTorch knows nothing of what they give.
#ifndef TORCH_TIDY_SCENARIOS_RUNTIME_H
#define TORCH_TIDY_SCENARIOS_RUNTIME_H

#include <cstddef>
#include <cstdint>

enum cudaError_t { cudaSuccess = 0, cudaErrorMemoryAllocation = 2 };

extern "C" cudaError_t cudaMalloc(void **pointer, size_t bytes);
extern "C" cudaError_t cudaFree(void *pointer);

template <class T> cudaError_t cudaMalloc(T **pointer, size_t bytes) {
  return cudaMalloc(reinterpret_cast<void **>(pointer), bytes);
}

namespace runtime {

// What it has given and not got back.
int64_t bytes_in_use();

} // namespace runtime

#endif

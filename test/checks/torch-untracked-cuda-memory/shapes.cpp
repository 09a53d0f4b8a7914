// RUN: %check_torch %s torch-untracked-cuda-memory %t
//
// Memory of the runtime that nothing frees.

#include <torch/torch.h>

using torch::Tensor;

// As cuda_runtime_api.h and hip_runtime_api.h have them.
enum cudaError_t { cudaSuccess };
enum cudaMemcpyKind { cudaMemcpyHostToDevice };
struct CUstream_st;
using cudaStream_t = CUstream_st *;
extern "C" cudaError_t cudaMalloc(void **pointer, size_t bytes);
extern "C" cudaError_t cudaMallocAsync(void **pointer, size_t bytes, cudaStream_t stream);
extern "C" cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind);
extern "C" cudaError_t hipMalloc(void **pointer, size_t bytes);
template <class T> static inline cudaError_t cudaMalloc(T **pointer, size_t bytes) {
  return cudaMalloc(reinterpret_cast<void **>(pointer), bytes);
}
#define CHECK(call)                                                                            \
  do {                                                                                         \
    if ((call) != cudaSuccess)                                                                 \
      std::abort();                                                                            \
  } while (false)

Tensor upload(const std::vector<float> &frame) {
  float *memory = nullptr;
  cudaMalloc(&memory, frame.size() * sizeof(float));
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: the memory of 'memory' becomes the data of a tensor that does not free it: it leaks, and LibTorch's allocator does not know it, neither in its statistics nor where it makes room; let 'torch::empty' make the tensor, or give 'from_blob' a deleter [torch-untracked-cuda-memory]
  // CHECK-MESSAGES: :[[@LINE+2]]:10: note: the tensor is made here, without a deleter
  cudaMemcpy(memory, frame.data(), frame.size() * sizeof(float), cudaMemcpyHostToDevice);
  return torch::from_blob(memory, {int64_t(frame.size())}, torch::kCUDA);
}

// A macro, the C function, a member.
class Detector {
public:
  Tensor detect(const Tensor &x) {
    void *scratch;
    CHECK(cudaMalloc((void **)&scratch, x.nbytes()));
    // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: the memory of 'scratch' becomes the data of a tensor
    auto t = torch::from_blob(scratch, x.sizes(), x.options());
    t.copy_(x);
    return net->forward(t);
  }

private:
  torch::nn::Linear net{nullptr};
};

// No tensor has it, and each iteration takes more.
void loop(const std::vector<Tensor> &xs) {
  for (const auto &x : xs) {
    float *buffer = nullptr;
    if (cudaMalloc(&buffer, x.nbytes()) != cudaSuccess)
      // CHECK-MESSAGES: :[[@LINE-1]]:9: warning: nothing frees the memory of 'buffer': it leaks, and LibTorch's allocator does not know it, neither in its statistics nor where it makes room; take it from a tensor that 'torch::empty' makes, or free it
      // CHECK-MESSAGES: :[[@LINE-4]]:3: note: in every iteration of this loop
      return;
    cudaMemcpy(buffer, x.data_ptr<float>(), x.nbytes(), cudaMemcpyHostToDevice);
  }
}

// Each call takes more; HIP; a stream.
void request(const Tensor &x, cudaStream_t stream) {
  char *a = nullptr, *b = nullptr;
  hipMalloc(reinterpret_cast<void **>(&a), x.nbytes());
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: nothing frees the memory of 'a'
  cudaMallocAsync(reinterpret_cast<void **>(&b), x.nbytes(), stream);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: nothing frees the memory of 'b'
  std::cout << x.sum();
}

void byLambda(const std::vector<Tensor> &xs) {
  const auto move = [](const Tensor &x) {
    float *memory = nullptr;
    cudaMalloc(&memory, x.nbytes());
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: the memory of 'memory' becomes the data
    return torch::from_blob(memory + 4, x.sizes(), torch::kCUDA);
  };
  for (const auto &x : xs)
    std::cout << move(x).sum();
}

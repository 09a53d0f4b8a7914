// RUN: %check_torch %s torch-untracked-cuda-memory %t
//
// Memory of the runtime that somebody frees, or may free.

#include <torch/torch.h>

using torch::Tensor;

enum cudaError_t { cudaSuccess };
extern "C" cudaError_t cudaMalloc(void **pointer, size_t bytes);
extern "C" cudaError_t cudaFree(void *pointer);
template <class T> static inline cudaError_t cudaMalloc(T **pointer, size_t bytes) {
  return cudaMalloc(reinterpret_cast<void **>(pointer), bytes);
}
void take(float *memory);        // in another file
void fill(float *memory, int n); // in another file

struct FreeMemory {
  void operator()(float *memory) const { cudaFree(memory); }
};

// Freed, on some path at least.
void freed(const std::vector<Tensor> &xs) {
  for (const auto &x : xs) {
    float *memory = nullptr;
    if (cudaMalloc(&memory, x.nbytes()) != cudaSuccess)
      continue;
    auto t = torch::from_blob(memory, x.sizes(), torch::kCUDA);
    t.copy_(x);
    std::cout << t.sum();
    cudaFree(memory);
  }
}

// The tensor frees it.
Tensor deleter(const Tensor &x) {
  float *memory = nullptr;
  cudaMalloc(&memory, x.nbytes());
  return torch::from_blob(memory, x.sizes(), [](void *p) { cudaFree(p); }, torch::kCUDA);
}
Tensor deleterBefore(const Tensor &x) {
  float *memory = nullptr;
  cudaMalloc(&memory, x.nbytes());
  auto view = torch::from_blob(memory, x.sizes(), torch::kCUDA);
  auto owner = torch::from_blob(memory, x.sizes(), cudaFree, torch::kCUDA);
  return owner + view;
}

// An owner, the caller, a structure, another file.
void owner(const Tensor &x) {
  float *memory = nullptr;
  cudaMalloc(&memory, x.nbytes());
  std::unique_ptr<float, FreeMemory> holds(memory);
  std::cout << torch::from_blob(holds.get(), x.sizes(), torch::kCUDA).sum();
}
float *returned(const Tensor &x) {
  float *memory = nullptr;
  cudaMalloc(&memory, x.nbytes());
  return memory;
}
struct Buffers {
  std::vector<float *> all;
  float *last = nullptr;
};
void stored(const Tensor &x, Buffers &buffers) {
  float *memory = nullptr, *other = nullptr;
  cudaMalloc(&memory, x.nbytes());
  buffers.all.push_back(memory);
  cudaMalloc(&other, x.nbytes());
  buffers.last = other;
}
void given(const Tensor &x) {
  float *memory = nullptr, *other = nullptr;
  cudaMalloc(&memory, x.nbytes());
  take(memory);
  cudaMalloc(&other, x.nbytes());
  fill(other, 3);
}
void guarded(const Tensor &x, std::vector<std::function<void()>> &later) {
  float *memory = nullptr;
  cudaMalloc(&memory, x.nbytes());
  later.push_back([memory] { cudaFree(memory); });
}

// A member that the destructor frees, and what a caller's pointer gets.
class Engine {
public:
  explicit Engine(int64_t n) { cudaMalloc(&memory, n * sizeof(float)); }
  ~Engine() { cudaFree(memory); }
  Tensor view(int64_t n) { return torch::from_blob(memory, {n}, torch::kCUDA); }

private:
  float *memory = nullptr;
};
void fills(const Tensor &x, float **memory) { cudaMalloc(memory, x.nbytes()); }

static float *workspace;
void global(const Tensor &x) {
  if (!workspace)
    cudaMalloc(&workspace, x.nbytes());
}

// Of what nobody names nothing would be said.
const auto named =
    std::make_tuple(&freed, &deleter, &deleterBefore, &owner, &returned, &stored, &given,
                    &guarded, &fills, &global);

// As long as the program runs.
int main() {
  float *memory = nullptr;
  cudaMalloc(&memory, 1024);
  std::cout << torch::zeros({2}).sum();
}

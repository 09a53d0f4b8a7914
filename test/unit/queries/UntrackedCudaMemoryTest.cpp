// What the query finds, and what it does not. The tests of
// torch-untracked-cuda-memory (test/checks) have more programs.
#include "memory/UntrackedCudaMemory.h"
#include "model/Model.h"

using namespace torchtidy::model;
using namespace torchtidy::test;

namespace {

struct UntrackedCudaMemoryTest : ModelTest<UntrackedCudaMemoryTest> {
  static const char Code[];
  static std::vector<UntrackedMemory> ask(llvm::StringRef Root) {
    return entry(Root).of(untrackedMemory(Shared->program()));
  }
};

const char UntrackedCudaMemoryTest::Code[] = R"cpp(
using torch::Tensor;
enum cudaError_t { cudaSuccess };
extern "C" cudaError_t cudaMalloc(void **pointer, size_t bytes);
extern "C" cudaError_t cudaFree(void *pointer);

Tensor blob(Tensor x) {
  void *memory = nullptr;
  cudaMalloc(&memory, x.nbytes());
  return torch::from_blob(memory, {2});
}
void leak(const std::vector<Tensor> &xs) {
  for (const Tensor &x : xs) {
    void *memory = nullptr;
    cudaMalloc(&memory, x.nbytes());
  }
}

void freed(Tensor x) {
  void *memory = nullptr;
  cudaMalloc(&memory, x.nbytes());
  torch::from_blob(memory, {2}).sum();
  cudaFree(memory);
}
Tensor owned(Tensor x) {
  void *memory = nullptr;
  cudaMalloc(&memory, x.nbytes());
  return torch::from_blob(memory, {2}, [](void *p) { cudaFree(p); });
}
void *returned(Tensor x) {
  void *memory = nullptr;
  cudaMalloc(&memory, x.nbytes());
  return memory;
}
void filled(Tensor x, void **memory) { cudaMalloc(memory, x.nbytes()); }
)cpp";

} // namespace

TEST_F(UntrackedCudaMemoryTest, DataOfATensor) {
  const std::vector<UntrackedMemory> Found = ask("blob");
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_EQ(Found[0].Pointer->getName(), "memory");
  EXPECT_TRUE(Found[0].Blob);
  EXPECT_FALSE(Found[0].Around);
}

TEST_F(UntrackedCudaMemoryTest, NeverFreed) {
  const std::vector<UntrackedMemory> Found = ask("leak");
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_FALSE(Found[0].Blob);
  EXPECT_TRUE(Found[0].Around);
}

TEST_F(UntrackedCudaMemoryTest, Quiet) {
  for (const char *Root : {"freed", "owned", "returned", "filled"})
    EXPECT_TRUE(ask(Root).empty()) << Root;
}

// Memory of the runtime of CUDA and HIP, and who frees what a tensor is laid
// over.
#include "torch/RawMemory.h"
#include "torch/Functions.h"

using namespace torchtidy;
using namespace torchtidy::test;

namespace {

struct RawMemory : testing::Test {
  static void SetUpTestSuite() {
    Shared = std::make_unique<Calls>(
        R"cpp(
enum cudaError_t { cudaSuccess };
cudaError_t cudaMalloc(void **p, size_t n), cudaMallocAsync(void **p, size_t n, int stream);
template <class T> cudaError_t cudaMalloc(T **p, size_t n);
cudaError_t cudaMallocHost(void **p, size_t n), hipMalloc(void **p, size_t n);
cudaError_t cudaFree(void *p), hipFree(void *p), cudaFreeHost(void *p);
cudaError_t cudaMemcpy(void *to, void *from, size_t n), cudaMemset(void *to, int i, size_t n);
namespace mine { cudaError_t cudaMalloc(void **p, size_t n); cudaError_t cudaFree(void *p); }
void *p; float *f;
)cpp",
        std::vector<std::string>{"cudaMalloc(&p, 4)",
                                 "cudaMalloc(&f, 4)",
                                 "cudaMalloc((void **)&f, 4)",
                                 "cudaMallocAsync(&p, 4, 0)",
                                 "hipMalloc(&p, 4)",
                                 "cudaMallocHost(&p, 4)",
                                 "mine::cudaMalloc(&p, 4)",
                                 "cudaFree(p)",
                                 "hipFree(f)",
                                 "cudaFreeHost(p)",
                                 "mine::cudaFree(p)",
                                 "cudaMemcpy(p, p, 4)",
                                 "cudaMemset(p, 0, 4)",
                                 "torch::from_blob(p, {1})",
                                 "torch::from_blob(p, {1}, torch::kFloat)",
                                 "torch::from_blob(p, {1}, [](void *) {})",
                                 "torch::from_blob(p, {1}, cudaFree)",
                                 "std::memcpy(p, f, 4)",
                                 "memmove(p, f, 4)",
                                 "std::fwrite(p, 4, 1, stdout)"});
  }
  static void TearDownTestSuite() { Shared.reset(); }
  void SetUp() override { ASSERT_TRUE(Shared && Shared->isRead()); }
  static inline std::unique_ptr<Calls> Shared;
};

} // namespace

TEST_F(RawMemory, WhatTakesIt) {
  for (const char *Text :
       {"cudaMalloc(&p, 4)", "cudaMalloc(&f, 4)", "cudaMalloc((void **)&f, 4)",
        "cudaMallocAsync(&p, 4, 0)", "hipMalloc(&p, 4)"}) {
    const clang::Expr *Target = torch::rawTarget(Shared->call(Text));
    ASSERT_TRUE(Target) << Text;
    EXPECT_TRUE(llvm::isa<clang::UnaryOperator>(Target)) << Text;
  }
  for (const char *Text :
       {"cudaMallocHost(&p, 4)", "mine::cudaMalloc(&p, 4)", "cudaFree(p)"})
    EXPECT_FALSE(torch::rawTarget(Shared->call(Text))) << Text;
}

TEST_F(RawMemory, WhatCopiesBytes) {
  const auto Copies = [](const char *Text) {
    return torch::copiesBytes(Shared->call(Text)->getDirectCallee());
  };
  for (const char *Text :
       {"std::memcpy(p, f, 4)", "memmove(p, f, 4)",
        "std::fwrite(p, 4, 1, stdout)", "cudaMemcpy(p, p, 4)"})
    EXPECT_TRUE(Copies(Text)) << Text;
  for (const char *Text : {"cudaMemset(p, 0, 4)", "cudaFree(p)"})
    EXPECT_FALSE(Copies(Text)) << Text;
  EXPECT_FALSE(torch::copiesBytes(nullptr));
}

TEST_F(RawMemory, WhatFreesIt) {
  for (const char *Text : {"cudaFree(p)", "hipFree(f)"})
    EXPECT_TRUE(torch::rawFreed(Shared->call(Text))) << Text;
  for (const char *Text :
       {"cudaFreeHost(p)", "mine::cudaFree(p)", "cudaMalloc(&p, 4)"})
    EXPECT_FALSE(torch::rawFreed(Shared->call(Text))) << Text;
}

TEST_F(RawMemory, WhatKeepsNoPointer) {
  for (const char *Text : {"cudaMemcpy(p, p, 4)", "cudaMemset(p, 0, 4)"})
    EXPECT_TRUE(torch::onlyCopiesRaw(Shared->callee(Text))) << Text;
  EXPECT_FALSE(torch::onlyCopiesRaw(Shared->callee("cudaFree(p)")));
  EXPECT_FALSE(torch::onlyCopiesRaw(nullptr));
}

TEST_F(RawMemory, Deleters) {
  for (const char *Text : {"torch::from_blob(p, {1}, [](void *) {})",
                           "torch::from_blob(p, {1}, cudaFree)"})
    EXPECT_TRUE(torch::hasDeleter(Shared->call(Text))) << Text;
  for (const char *Text :
       {"torch::from_blob(p, {1})", "torch::from_blob(p, {1}, torch::kFloat)"})
    EXPECT_FALSE(torch::hasDeleter(Shared->call(Text))) << Text;
}

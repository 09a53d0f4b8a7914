// What the query finds, and what it does not. The tests of
// torch-varying-shapes (test/checks) have more programs.
#include "memory/VaryingShapes.h"
#include "model/Model.h"

using namespace torchtidy::model;
using namespace torchtidy::test;

namespace {

struct VaryingShapesTest : ModelTest<VaryingShapesTest> {
  static const char Code[];
  static std::vector<GrowingTensor> ask(llvm::StringRef Root) {
    return entry(Root).of(growingTensors(Shared->program()));
  }
};

const char VaryingShapesTest::Code[] = R"cpp(
using torch::Tensor;

void byCounter(int64_t n, torch::Device device) {
  for (int64_t i = 0; i < n; ++i)
    torch::zeros({i, n}, device).sum();
}
void byTwo(int64_t n, torch::Device device) {
  for (int64_t i = 0; i < n; i += 2) {
    const int64_t rows = 3 * i + 1;
    torch::zeros({rows, 4096}, device).sum();
  }
}
Tensor make(int64_t rows, torch::Device device) {
  return torch::zeros({rows, 4096}, device);
}
void byHelper(int64_t n, torch::Device device) {
  int64_t i = 0;
  while (i < n) {
    ++i;
    make(i, device).sum();
  }
}
void bySize(Tensor x, Tensor y) {
  for (int i = 0; i < 100; ++i) {
    torch::ones({x.size(0), x.size(0)}, x.options()).sum();
    x = torch::cat({x, y});
  }
}
void prefix(Tensor x, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    x.narrow(0, 0, i).clone().sum();
}

void same(int64_t n, torch::Device device) {
  for (int64_t i = 0; i < n; ++i)
    torch::zeros({n, n}, device).sum();
}
void downwards(int64_t n, torch::Device device) {
  for (int64_t i = n; i > 0; --i)
    torch::zeros({i, n}, device).sum();
}
void littleMore(int64_t n, torch::Device device) {
  for (int64_t i = 0; i < n; ++i)
    torch::zeros({i, 4095}, device).sum();
}
void host(int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    torch::zeros({i, n}).sum();
}
void sizeBefore(Tensor x, Tensor y) {
  const auto rows = x.size(0);
  for (int i = 0; i < 100; ++i) {
    torch::ones({rows, rows}, x.options()).sum();
    x = torch::cat({x, y});
  }
}
void sometimes(Tensor x, Tensor y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    torch::ones({x.size(0), x.size(0)}, x.options()).sum();
    if (i % 2)
      x = torch::cat({x, y});
  }
}
)cpp";

} // namespace

TEST_F(VaryingShapesTest, Growing) {
  for (const char *Root : {"byCounter", "byTwo", "byHelper", "bySize"}) {
    const std::vector<GrowingTensor> Found = ask(Root);
    ASSERT_EQ(Found.size(), 1u) << Root;
    EXPECT_FALSE(Found[0].IsPrefix) << Root;
  }
}

TEST_F(VaryingShapesTest, MadeInAHelper) {
  const std::vector<GrowingTensor> Found = ask("byHelper");
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_EQ(Found[0].In->Function->getName(), "make");
}

TEST_F(VaryingShapesTest, Prefix) {
  const std::vector<GrowingTensor> Found = ask("prefix");
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_TRUE(Found[0].IsPrefix);
}

TEST_F(VaryingShapesTest, Quiet) {
  for (const char *Root :
       {"same", "downwards", "littleMore", "host", "sizeBefore", "sometimes"})
    EXPECT_TRUE(ask(Root).empty()) << Root;
}

// Products that a loop makes only to add them. The tests of
// torch-unfused-operation (test/checks) have more programs.
#include "memory/UnfusedOperation.h"
#include "model/Model.h"

using namespace torchtidy::model;
using namespace torchtidy::test;

namespace {

struct UnfusedOperationTest : ModelTest<UnfusedOperationTest> {
  static const char Code[];
  static std::vector<UnfusedOperation> ask(llvm::StringRef Root) {
    return entry(Root).of(unfusedOperations(Shared->program()));
  }
};

const char UnfusedOperationTest::Code[] = R"cpp(
using torch::Tensor;

void product(Tensor x, Tensor a, Tensor b) {
  torch::NoGradGuard guard;
  for (int i = 0; i < 9; ++i)
    x = x - a * b;
}
void quotient(Tensor x, Tensor a, Tensor b) {
  torch::NoGradGuard guard;
  for (int i = 0; i < 9; ++i)
    x += a / b;
}
void scaled(Tensor x, Tensor a, double rate) {
  for (int i = 0; i < 9; ++i)
    x = rate * a + x;
}
void ofNumbers(Tensor x, double a, double b) {
  for (int i = 0; i < 9; ++i)
    x = x + a * b;
}
void withFactor(Tensor x, Tensor a, Tensor b) {
  for (int i = 0; i < 9; ++i)
    x = torch::add(x, a * b, 2);
}
void withGraph(Tensor x, Tensor a, Tensor b) {
  for (int i = 0; i < 9; ++i)
    x = x - a * b;
}
void once(Tensor x, Tensor a, Tensor b) { x = x + a * b; }
)cpp";

} // namespace

TEST_F(UnfusedOperationTest, AProduct) {
  const std::vector<UnfusedOperation> Found = ask("product");
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_EQ(Found[0].As, Fused::Product);
  EXPECT_TRUE(Found[0].IsSubtracted);
  EXPECT_FALSE(Found[0].IsInPlace);
}

TEST_F(UnfusedOperationTest, AQuotient) {
  const std::vector<UnfusedOperation> Found = ask("quotient");
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_EQ(Found[0].As, Fused::Quotient);
  EXPECT_TRUE(Found[0].IsInPlace);
}

TEST_F(UnfusedOperationTest, WithANumber) {
  const std::vector<UnfusedOperation> Found = ask("scaled");
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_EQ(Found[0].As, Fused::Scaled);
  EXPECT_FALSE(Found[0].IsSubtracted);
}

TEST_F(UnfusedOperationTest, Quiet) {
  for (const char *Root : {"ofNumbers", "withFactor", "withGraph", "once"})
    EXPECT_TRUE(ask(Root).empty()) << Root;
}

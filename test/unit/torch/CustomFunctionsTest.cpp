// What contexts of custom functions keep.
#include "torch/CustomFunctions.h"
#include "torch/Functions.h"

using namespace torchtidy;
using namespace torchtidy::test;

namespace {

using Names = std::vector<std::string>;

struct CustomFunctions : testing::Test {
  static void SetUpTestSuite() {
    Shared = std::make_unique<Calls>(
        R"cpp(
torch::autograd::AutogradContext &context();
torch::Tensor t;
)cpp",
        Names{"context().saved_data[\"y\"]",
              "context().saved_data.insert({\"y\", t})",
              "context().saved_data.clear()",
              "context().mark_non_differentiable({t})",
              "context().save_for_backward({t})"});
  }
  static void TearDownTestSuite() { Shared.reset(); }
  void SetUp() override { ASSERT_TRUE(Shared && Shared->isRead()); }
  static inline std::unique_ptr<Calls> Shared;
};

} // namespace

TEST_F(CustomFunctions, SavedData) {
  const auto *Element = llvm::cast<clang::CXXOperatorCallExpr>(
      Shared->call("context().saved_data[\"y\"]"));
  EXPECT_TRUE(torch::isSavedData(Element->getArg(0)));
  EXPECT_FALSE(torch::isSavedData(Element));
  EXPECT_TRUE(torch::looksIntoMap(Element->getDirectCallee()));
  EXPECT_TRUE(torch::addsToMap(
      Shared->callee("context().saved_data.insert({\"y\", t})")));
  const auto *Clear = Shared->callee("context().saved_data.clear()");
  EXPECT_FALSE(torch::addsToMap(Clear) || torch::looksIntoMap(Clear));
  EXPECT_TRUE(torch::marksNonDifferentiable(
      Shared->callee("context().mark_non_differentiable({t})")));
  EXPECT_TRUE(torch::savesForBackward(
      Shared->callee("context().save_for_backward({t})")));
}

// Tensors that a graph has saved and that are written before its backward().
// The tests of torch-inplace-saved (test/checks) have more programs.
#include "autograd/InplaceSaved.h"
#include "model/Model.h"

using namespace torchtidy::model;
using namespace torchtidy::test;
using torchtidy::torch::Saved;

namespace {

struct InplaceSavedTest : ModelTest<InplaceSavedTest> {
  static const char Code[];
  static std::vector<SavedWrite> ask(llvm::StringRef Root) {
    return entry(Root).of(savedWrites(Shared->program()));
  }
  static std::string text(const clang::Expr *E) {
    return Shared->program().text(E);
  }
};

const char InplaceSavedTest::Code[] = R"cpp(
using torch::Tensor;

void result() {
  Tensor w = torch::zeros({2}, torch::requires_grad());
  Tensor y = w.relu();
  y.add_(1);
  y.sum().backward();
}
void operand(Tensor x) {
  Tensor w = torch::zeros({2}, torch::requires_grad());
  Tensor loss = (x * w).sum();
  x.zero_();
  loss.backward();
}
void again() {
  Tensor w = torch::zeros({2}, torch::requires_grad());
  Tensor y = w.relu();
  y.add_(1);
  y.add_(2);
  y.sum().backward();
}
void afterwards() {
  Tensor w = torch::zeros({2}, torch::requires_grad());
  Tensor y = w.relu();
  y.sum().backward();
  y.add_(1);
}
void ownVersion() {
  Tensor w = torch::zeros({2}, torch::requires_grad());
  Tensor y = w.relu();
  y.data().add_(1);
  y.sum().backward();
}
void twoPaths(bool b) {
  Tensor w = torch::zeros({2}, torch::requires_grad());
  Tensor y = w + 1;
  if (b)
    y = w.relu();
  y.add_(1);
  y.sum().backward();
}
void twice() {
  Tensor w = torch::zeros({2}, torch::requires_grad());
  Tensor y = w.relu();
  Tensor loss = y.sum();
  loss.backward();
  y.add_(1);
  loss.backward();
}
)cpp";

} // namespace

TEST_F(InplaceSavedTest, TheResult) {
  const std::vector<SavedWrite> Found = ask("result");
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_EQ(Found[0].Saved->What, Saved::Result);
  EXPECT_EQ(text(Found[0].Saved->Site), "w.relu()");
  EXPECT_EQ(text(Found[0].Change->Site), "y.add_(1)");
  EXPECT_EQ(text(Found[0].Target), "y");
  EXPECT_EQ(text(Found[0].Use->Site), "y.sum().backward()");
}

TEST_F(InplaceSavedTest, AnOperand) {
  const std::vector<SavedWrite> Found = ask("operand");
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_EQ(Found[0].Saved->What, Saved::Operand);
  EXPECT_EQ(text(Found[0].Saved->Operand), "x");
}

TEST_F(InplaceSavedTest, TheFirstWriteOnly) {
  const std::vector<SavedWrite> Found = ask("again");
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_EQ(text(Found[0].Change->Site), "y.add_(1)");
}

TEST_F(InplaceSavedTest, NotAfterTheBackward) {
  EXPECT_TRUE(ask("afterwards").empty());
}

TEST_F(InplaceSavedTest, NotThroughData) {
  EXPECT_TRUE(ask("ownVersion").empty());
}

TEST_F(InplaceSavedTest, OnOneOfThePaths) {
  EXPECT_EQ(ask("twoPaths").size(), 1u);
}

// It throws because the graph is freed.
TEST_F(InplaceSavedTest, NotWhereTheGraphIsGone) {
  EXPECT_TRUE(ask("twice").empty());
}

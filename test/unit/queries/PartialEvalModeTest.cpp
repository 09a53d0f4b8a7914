// Modules that never get eval() where another one gets it twice. The tests of
// torch-partial-eval-mode (test/checks) have more programs.
#include "training/PartialEvalMode.h"
#include "model/Model.h"

using namespace torchtidy::model;
using namespace torchtidy::test;

namespace {

struct PartialEvalModeTest : ModelTest<PartialEvalModeTest> {
  static const char Code[];
  static std::vector<PartialEvalMode> ask(llvm::StringRef Root) {
    return entry(Root).of(partialEvalModes(Shared->program()));
  }
};

const char PartialEvalModeTest::Code[] = R"cpp(
using torch::Tensor;
using torch::nn::Dropout;
using torch::nn::Sequential;

void second(Tensor x) {
  Sequential a(Dropout(0.5)), b(Dropout(0.5));
  a->eval();
  a->eval();
  torch::NoGradGuard guard;
  b->forward(a->forward(x));
}
void first(const std::string &path, Tensor x) {
  torch::jit::Module a = torch::jit::load(path), b;
  b.eval();
  b = torch::jit::load(path);
  b.eval();
  torch::NoGradGuard guard;
  b.forward({a.forward({x})});
}
void several(Tensor x) {
  Sequential a(Dropout(0.5)), b(Dropout(0.5)), c(Dropout(0.5));
  a->eval();
  a->eval();
  torch::NoGradGuard guard;
  c->forward(b->forward(a->forward(x)));
}
void used(Tensor x) {
  Sequential a(Dropout(0.5)), b(Dropout(0.5));
  a->eval();
  torch::NoGradGuard guard;
  a->forward(x);
  a->eval();
  b->forward(x);
}
void recorded(Tensor x) {
  Sequential a(Dropout(0.5)), b(Dropout(0.5), torch::nn::Linear(2, 2));
  a->eval();
  a->eval();
  b->forward(a->forward(x)).sum().backward();
}
void together(Tensor x) {
  Sequential a(torch::nn::Linear(2, 2)), b(Dropout(0.5));
  b->forward(a->forward(x)).sum().backward();
  a->eval();
  torch::NoGradGuard guard;
  b->forward(a->forward(x));
}
void meant(Tensor x) {
  Sequential a(torch::nn::Linear(2, 2)), b(Dropout(0.5));
  b->forward(a->forward(x)).sum().backward();
  a->eval();
  b->train();
  torch::NoGradGuard guard;
  b->forward(a->forward(x));
}
)cpp";

} // namespace

TEST_F(PartialEvalModeTest, FindsTheOneThatIsLeftOut) {
  const auto Found = ask("second");
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_EQ(Found[0].LeftOut->getName(), "b");
  EXPECT_EQ(Found[0].Part, "Dropout");
  EXPECT_TRUE(Found[0].IsInReach);
  EXPECT_TRUE(Found[0].Entry->comesBefore(Found[0].Other->Point,
                                          Found[0].Needless->Point));
}

TEST_F(PartialEvalModeTest, AnEvalBeforeALoadIsTheNeedlessOne) {
  const auto Found = ask("first");
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_EQ(Found[0].LeftOut->getName(), "a");
  EXPECT_EQ(Found[0].Part, "");
  EXPECT_TRUE(Found[0].Entry->comesBefore(Found[0].Needless->Point,
                                          Found[0].Other->Point));
}

TEST_F(PartialEvalModeTest, DoesNotChooseAmongSeveral) {
  const auto Found = ask("several");
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_FALSE(Found[0].IsInReach);
}

TEST_F(PartialEvalModeTest, IsQuietWhereEachHasItsUse) {
  EXPECT_TRUE(ask("used").empty());
  EXPECT_TRUE(ask("recorded").empty());
}

TEST_F(PartialEvalModeTest, FindsTheOneThatIsEvaluatedAsItWasTrained) {
  const auto Found = ask("together");
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_NE(Found[0].Backward, nullptr);
  EXPECT_TRUE(Found[0].AreTogether);
  EXPECT_EQ(Found[0].Other, nullptr);
  EXPECT_EQ(Found[0].Part, "Dropout");
  EXPECT_TRUE(ask("meant").empty());
}

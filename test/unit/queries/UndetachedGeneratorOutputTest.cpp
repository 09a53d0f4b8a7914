// FIXME(new-check): what the query finds, and what it does not. The tests of
// torch-undetached-generator-output (test/checks) have more programs.
#include "autograd/UndetachedGeneratorOutput.h"
#include "model/Model.h"

using namespace torchtidy::model;
using namespace torchtidy::test;

namespace {

struct UndetachedGeneratorOutputTest : ModelTest<UndetachedGeneratorOutputTest> {
  static const char Code[];
  static std::vector<UndetachedGeneratorOutput> ask(llvm::StringRef Root) {
    return entry(Root).of(findUndetachedGeneratorOutput(Shared->program()));
  }
};

const char UndetachedGeneratorOutputTest::Code[] = R"cpp(
using torch::Tensor;

void inLoop(const std::vector<Tensor> &xs) {
  for (const Tensor &x : xs) {
    Tensor ones = torch::ones({8, 8});
    x.add(ones);
  }
}
void ofTheIteration(const std::vector<Tensor> &xs) {
  for (const Tensor &x : xs) {
    Tensor ones = torch::ones(x.sizes());
    x.add(ones);
  }
}
void byBranch(const std::vector<Tensor> &xs) {
  for (const Tensor &x : xs)
    if (x.dim() == 2) {
      Tensor ones = torch::ones({8, 8});
      x.add(ones);
    }
}
void outside(Tensor x) {
  Tensor ones = torch::ones({8, 8});
  x.add(ones);
}
)cpp";

} // namespace

TEST_F(UndetachedGeneratorOutputTest, InALoop) {
  const std::vector<UndetachedGeneratorOutput> Found = ask("inLoop");
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_EQ(Found[0].Variable->getName(), "ones");
  EXPECT_TRUE(Found[0].CanMove);
}

TEST_F(UndetachedGeneratorOutputTest, WithNamesOfTheIteration) {
  const std::vector<UndetachedGeneratorOutput> Found = ask("ofTheIteration");
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_FALSE(Found[0].CanMove);
}

TEST_F(UndetachedGeneratorOutputTest, Quiet) {
  for (const char *Root : {"byBranch", "outside"})
    EXPECT_TRUE(ask(Root).empty()) << Root;
}

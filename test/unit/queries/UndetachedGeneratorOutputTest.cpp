// Networks that are trained on what another has made, with its graph. The tests
// of torch-undetached-generator-output (test/checks) have more programs.
#include "autograd/UndetachedGeneratorOutput.h"
#include "model/Model.h"

using namespace torchtidy::model;
using namespace torchtidy::test;

namespace {

struct UndetachedGeneratorOutputTest
    : ModelTest<UndetachedGeneratorOutputTest> {
  static const char Code[];
  static std::vector<UndetachedGeneratorOutput> ask(llvm::StringRef Root) {
    return entry(Root).of(undetachedGeneratorOutputs(Shared->program()));
  }
};

const char UndetachedGeneratorOutputTest::Code[] = R"cpp(
using torch::Tensor;
using torch::nn::Linear;
using torch::optim::SGD;

void inVain(Tensor x) {
  Linear G(2, 2), D(2, 2);
  SGD g(G->parameters(), 0.1), d(D->parameters(), 0.1);
  for (int i = 0; i < 9; ++i) {
    d.zero_grad();
    D->forward(G->forward(torch::ones({2, 2}))).sum().backward();
    d.step();
    g.zero_grad();
    D->forward(G->forward(torch::ones({2, 2}))).sum().backward();
    g.step();
  }
}
void spoiled(Tensor x) {
  Linear G(2, 2), D(2, 2);
  SGD g(G->parameters(), 0.1), d(D->parameters(), 0.1);
  for (int i = 0; i < 9; ++i) {
    d.zero_grad();
    g.zero_grad();
    Tensor y = G->forward(torch::ones({2, 2}));
    D->forward(y).sum().backward();
    d.step();
    D->forward(G->forward(torch::ones({2, 2}))).sum().backward();
    g.step();
  }
}
static Tensor judge(Linear &net, const Tensor &x) {
  return net->forward(x).sum();
}
void helper(Tensor x) {
  Linear G(2, 2), D(2, 2);
  SGD g(G->parameters(), 0.1), d(D->parameters(), 0.1);
  for (int i = 0; i < 9; ++i) {
    d.zero_grad();
    judge(D, G->forward(torch::ones({2, 2}))).backward();
    d.step();
    g.zero_grad();
    judge(D, G->forward(torch::ones({2, 2}))).backward();
    g.step();
  }
}
void detached(Tensor x) {
  Linear G(2, 2), D(2, 2);
  SGD g(G->parameters(), 0.1), d(D->parameters(), 0.1);
  for (int i = 0; i < 9; ++i) {
    d.zero_grad();
    D->forward(G->forward(torch::ones({2, 2})).detach()).sum().backward();
    d.step();
    g.zero_grad();
    D->forward(G->forward(torch::ones({2, 2}))).sum().backward();
    g.step();
  }
}
void jointly(Tensor x) {
  Linear G(2, 2), D(2, 2);
  SGD g(G->parameters(), 0.1), d(D->parameters(), 0.1);
  for (int i = 0; i < 9; ++i) {
    d.zero_grad();
    g.zero_grad();
    D->forward(G->forward(torch::ones({2, 2}))).sum().backward();
    d.step();
    g.step();
  }
}
void withoutOptimizer(Linear G) {
  Linear D(2, 2);
  SGD d(D->parameters(), 0.1);
  D->forward(G->forward(torch::ones({2, 2}))).sum().backward();
  d.step();
}
)cpp";

} // namespace

TEST_F(UndetachedGeneratorOutputTest, InVain) {
  const auto Found = ask("inVain");
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_EQ(Found[0].Site, Found[0].Pass->Site);
  EXPECT_TRUE(Found[0].Operand);
  EXPECT_FALSE(Found[0].Spoiled);
  EXPECT_EQ(Found[0].Pass->Input.hasOrigin(Found[0].Source->Origin), true);
  EXPECT_TRUE(Found[0].Backward->Root.hasOrigin(Found[0].Pass->Origin));
}

TEST_F(UndetachedGeneratorOutputTest, Spoiled) {
  const auto Found = ask("spoiled");
  ASSERT_EQ(Found.size(), 1u);
  ASSERT_TRUE(Found[0].Spoiled);
  EXPECT_NE(Found[0].Spoiled, Found[0].Step);
}

TEST_F(UndetachedGeneratorOutputTest, ToldOfWhereTheNetworksMeet) {
  const auto Found = ask("helper");
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_NE(Found[0].Site, Found[0].Pass->Site);
  EXPECT_EQ(Found[0].In, &Found[0].Entry->root());
  EXPECT_FALSE(Found[0].Operand);
}

TEST_F(UndetachedGeneratorOutputTest, Quiet) {
  for (const char *Root : {"detached", "jointly", "withoutOptimizer"})
    EXPECT_TRUE(ask(Root).empty()) << Root;
}

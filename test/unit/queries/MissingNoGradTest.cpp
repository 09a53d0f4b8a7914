// Forward passes whose graph nothing uses. The tests of
// torch-missing-no-grad (test/checks) have many more programs.
#include "autograd/MissingNoGrad.h"
#include "model/Model.h"
#include "clang/AST/StmtCXX.h"

using namespace torchtidy::model;
using namespace torchtidy::test;

namespace {

struct Evaluated : ModelTest<Evaluated> {
  static const char Code[];
  static std::vector<UnusedGraph> ask(llvm::StringRef Root) {
    return unusedGraphs(*entry(Root));
  }
};

const char Evaluated::Code[] = R"cpp(
using torch::Tensor;
using torch::nn::Linear;

double evaluates(Linear net, Tensor x) {
  net->eval();
  double total = 0;
  for (int i = 0; i < 3; ++i)
    total += net->forward(x).sum().item<double>();
  return total;
}
double guarded(Linear net, Tensor x) {
  torch::NoGradGuard no_grad;
  net->eval();
  return net->forward(x).sum().item<double>();
}
void trains(Linear net, Tensor x) {
  torch::optim::SGD sgd(net->parameters(), 0.1);
  net->train();
  for (int i = 0; i < 3; ++i) {
    sgd.zero_grad();
    net->forward(x).sum().backward();
    sgd.step();
  }
}
double unknownCallers(Linear net, Tensor x) {
  return net->forward(x).sum().item<double>();
}
Tensor returns(Linear net, Tensor x) { return net->forward(x); }

double infer(Linear &net, Tensor x) { return net->forward(x).sum().item<double>(); }
double guardedCaller(Linear net, Tensor x) {
  torch::NoGradGuard no_grad;
  net->eval();
  return infer(net, x);
}
double loads(Tensor x) {
  torch::jit::Module net = torch::jit::load("model.pt");
  return net.forward({x}).toTensor().sum().item<double>();
}
void both(Linear net, Tensor x) {
  torch::optim::SGD sgd(net->parameters(), 0.1);
  for (int epoch = 0; epoch < 3; ++epoch) {
    net->train();
    sgd.zero_grad();
    net->forward(x * 2).sum().backward();
    sgd.step();
    net->eval();
    {
      net->forward(x * 3).sum().item<double>();
    }
  }
}
Tensor generates(torch::nn::Embedding net, Tensor token) {
  for (int i = 0; i < 3; ++i)
    token = net->forward(token).argmax(-1);
  return token;
}
Tensor generatesBySize(Linear net, Tensor x) {
  for (int i = 0; i < 3; ++i)
    x = torch::ones({net->forward(x).size(0), 8});
  return x;
}
)cpp";

} // namespace

TEST_F(Evaluated, InEvalMode) {
  auto Unused = ask("evaluates");
  ASSERT_EQ(Unused.size(), 1u);
  const UnusedGraph &Found = Unused[0];
  EXPECT_EQ(Found.Forward->Is, Event::Forward);
  EXPECT_EQ(Found.Site, Found.Forward->Site);
  ASSERT_TRUE(Found.Evidence);
  EXPECT_EQ(Found.Evidence->Is, Event::ModeChange);
  EXPECT_FALSE(Found.IsStrictOnly);
  EXPECT_EQ(Found.GuardScope, Shared->function("evaluates")->getBody());
}

TEST_F(Evaluated, UnderAGuard) {
  EXPECT_TRUE(ask("guarded").empty());
  EXPECT_TRUE(ask("guardedCaller").empty()) << "of the caller";
}

TEST_F(Evaluated, Training) { EXPECT_TRUE(ask("trains").empty()); }

TEST_F(Evaluated, LoadedModule) {
  auto Unused = ask("loads");
  ASSERT_EQ(Unused.size(), 1u);
  ASSERT_TRUE(Unused[0].Evidence);
  EXPECT_EQ(Unused[0].Evidence->Is, Event::Load);
}

TEST_F(Evaluated, WithoutASignOnlyWhenAskedToBeStrict) {
  for (const char *Root : {"unknownCallers", "returns"})
    for (const UnusedGraph &Found : ask(Root))
      EXPECT_TRUE(Found.IsStrictOnly) << Root;
}

TEST_F(Evaluated, BesideTraining) {
  Entry W = entry("both");
  auto Unused = unusedGraphs(*W);
  ASSERT_EQ(Unused.size(), 1u);
  EXPECT_EQ(Unused[0].Forward, &W.event<ForwardEvent>("net->forward(x * 3)"));
  // The guard must not reach into the training: only the inner block is free.
  ASSERT_TRUE(Unused[0].GuardScope);
  EXPECT_EQ(Unused[0].GuardScope->size(), 1u);
}

TEST_F(Evaluated, GenerationIsASignOfItsOwn) {
  auto Unused = ask("generates");
  ASSERT_EQ(Unused.size(), 1u);
  EXPECT_FALSE(Unused[0].IsStrictOnly);
  EXPECT_EQ(Unused[0].Evidence, Unused[0].Forward);
  auto BySize = ask("generatesBySize");
  ASSERT_EQ(BySize.size(), 1u);
  EXPECT_TRUE(BySize[0].IsStrictOnly);
}

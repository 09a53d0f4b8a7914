// Networks that are trained in eval mode after an evaluation. The tests of
// torch-eval-mode-not-restored (test/checks) have more programs.
#include "training/EvalModeNotRestored.h"
#include "model/Model.h"
#include "clang/AST/StmtCXX.h"

using namespace torchtidy::model;
using namespace torchtidy::test;

namespace {

struct EvalModeNotRestoredTest : ModelTest<EvalModeNotRestoredTest> {
  static const char Code[];
  static std::vector<EvalModeNotRestored> ask(llvm::StringRef Root) {
    return entry(Root).of(evalModesNotRestored(Shared->program()));
  }
};

const char EvalModeNotRestoredTest::Code[] = R"cpp(
using torch::Tensor;
using torch::nn::BatchNorm1d;
using torch::nn::Dropout;
using torch::nn::Linear;
using torch::nn::Sequential;
using torch::optim::SGD;

void fit(Sequential &net, SGD &sgd, Tensor x) {
  sgd.zero_grad();
  net->forward(x).sum().backward();
  sgd.step();
}
void show(Sequential &net, Tensor x) {
  torch::NoGradGuard guard;
  std::cout << net->forward(x);
}
void evaluate(Sequential &net, Tensor x) {
  net->eval();
  show(net, x);
}

void inLoop(Tensor x) {
  Sequential net(Linear(2, 2), Dropout());
  SGD sgd(net->parameters(), 0.1);
  for (int i = 0; i < 9; ++i) {
    fit(net, sgd, x);
    net->eval();
    show(net, x);
  }
}
void byFunction(Tensor x) {
  Sequential net(Linear(2, 2), BatchNorm1d(2));
  SGD sgd(net->parameters(), 0.1);
  for (int i = 0; i < 9; ++i) {
    fit(net, sgd, x);
    evaluate(net, x);
  }
}
void inFront(Tensor x) {
  Sequential net(Linear(2, 2), Dropout());
  SGD sgd(net->parameters(), 0.1);
  for (int i = 0; i < 9; ++i) {
    if (i % 3 == 0) {
      net->eval();
      show(net, x);
    }
    fit(net, sgd, x);
  }
}
void frozenPart(Tensor x) {
  Sequential net(Linear(2, 2), Dropout());
  SGD sgd(net->parameters(), 0.1);
  net->ptr(1)->eval();
  for (int i = 0; i < 9; ++i) {
    fit(net, sgd, x);
    net->eval();
    show(net, x);
  }
}

void restored(Tensor x) {
  Sequential net(Linear(2, 2), Dropout());
  SGD sgd(net->parameters(), 0.1);
  for (int i = 0; i < 9; ++i) {
    net->train();
    fit(net, sgd, x);
    evaluate(net, x);
  }
}
void always(Tensor x) {
  Sequential net(Linear(2, 2), Dropout());
  SGD sgd(net->parameters(), 0.1);
  net->eval();
  for (int i = 0; i < 9; ++i) {
    fit(net, sgd, x);
    evaluate(net, x);
  }
}
void atTheEnd(Tensor x, int n) {
  Sequential net(Linear(2, 2), Dropout());
  SGD sgd(net->parameters(), 0.1);
  for (int i = 0; i < n; ++i) {
    fit(net, sgd, x);
    if (i == n - 1)
      evaluate(net, x);
  }
}
void plain(Tensor x) {
  Sequential net(Linear(2, 2), torch::nn::ReLU());
  SGD sgd(net->parameters(), 0.1);
  for (int i = 0; i < 9; ++i) {
    fit(net, sgd, x);
    evaluate(net, x);
  }
}
void twice(Tensor x) {
  Sequential net(Linear(2, 2), Dropout());
  SGD sgd(net->parameters(), 0.1);
  for (int i = 0; i < 1; ++i) {
    fit(net, sgd, x);
    evaluate(net, x);
  }
}
)cpp";

} // namespace

TEST_F(EvalModeNotRestoredTest, InALoop) {
  const std::vector<EvalModeNotRestored> Found = ask("inLoop");
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_EQ(Found[0].Part, "Dropout");
  EXPECT_NE(Found[0].Trains, Found[0].Evaluates);
  EXPECT_TRUE(Found[0].Around->contains(Found[0].Trains->Point));
  EXPECT_TRUE(Found[0].RestoreIn);
}

TEST_F(EvalModeNotRestoredTest, NoCertainPlaceForTheFix) {
  // In a function of its own; before the training of the same iteration; a part
  // is to stay in eval mode.
  for (const char *Root : {"byFunction", "inFront", "frozenPart"}) {
    const std::vector<EvalModeNotRestored> Found = ask(Root);
    ASSERT_EQ(Found.size(), 1u) << Root;
    EXPECT_FALSE(Found[0].RestoreIn) << Root;
  }
  EXPECT_EQ(ask("byFunction")[0].Part, "BatchNorm1d");
}

TEST_F(EvalModeNotRestoredTest, Quiet) {
  for (const char *Root : {"restored", "always", "atTheEnd", "plain", "twice"})
    EXPECT_TRUE(ask(Root).empty()) << Root;
}

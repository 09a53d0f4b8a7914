// Optimizers that are made anew in a loop. The tests of torch-optimizer-in-loop
// (test/checks) have many more programs.
#include "training/OptimizerInLoop.h"
#include "model/Model.h"

using namespace torchtidy::model;
using namespace torchtidy::test;

namespace {

struct OptimizerInLoopTest : ModelTest<OptimizerInLoopTest> {
  static const char Code[];
  static std::vector<OptimizerInLoop> ask(llvm::StringRef Root) {
    return entry(Root).of(optimizersInLoop(Shared->program()));
  }
};

const char OptimizerInLoopTest::Code[] = R"cpp(
using torch::Tensor;
using torch::nn::Linear;
using torch::optim::Adam;
using torch::optim::SGD;

void local(Linear net, const std::vector<Tensor> &xs) {
  for (int epoch = 0; epoch < 2; ++epoch)
    for (const Tensor &x : xs) {
      Adam adam(net->parameters());
      net->forward(x).sum().backward();
      adam.step();
    }
}
void owned(Linear net, const std::vector<Tensor> &xs) {
  for (const Tensor &x : xs) {
    auto adam = std::make_unique<Adam>(net->parameters());
    net->forward(x).sum().backward();
    adam->step();
  }
}
void ofTheIteration(Linear net, const std::vector<Tensor> &xs) {
  for (const Tensor &x : xs) {
    const double rate = 1.0 / x.size(0);
    Adam adam(net->parameters(), rate);
    net->forward(x).sum().backward();
    adam.step();
  }
}
void withoutName(Linear net, const std::vector<Tensor> &xs) {
  for (const Tensor &x : xs) {
    net->forward(x).sum().backward();
    Adam(net->parameters()).step();
  }
}
void plain(Linear net, const std::vector<Tensor> &xs) {
  for (const Tensor &x : xs) {
    SGD sgd(net->parameters(), 0.1);
    net->forward(x).sum().backward();
    sgd.step();
  }
}
void before(Linear net, const std::vector<Tensor> &xs) {
  Adam adam(net->parameters());
  for (const Tensor &x : xs) {
    net->forward(x).sum().backward();
    adam.step();
  }
}
void perEpoch(Linear net, const std::vector<Tensor> &xs) {
  for (int epoch = 0; epoch < 2; ++epoch) {
    Adam adam(net->parameters());
    for (const Tensor &x : xs) {
      net->forward(x).sum().backward();
      adam.step();
    }
  }
}
void perStage(Linear net, const std::vector<Tensor> &xs) {
  for (int stage = 0; stage < 2; ++stage) {
    Adam adam(net->parameters());
    for (const Tensor &x : xs) {
      (net->forward(x) * stage).sum().backward();
      adam.step();
    }
  }
}
void perModel(const std::vector<Tensor> &xs) {
  for (const Tensor &x : xs) {
    Linear net(2, 2);
    Adam adam(net->parameters());
    net->forward(x).sum().backward();
    adam.step();
  }
}
void branch(Linear net, const std::vector<Tensor> &xs, bool restart) {
  auto adam = std::make_unique<Adam>(net->parameters());
  for (const Tensor &x : xs) {
    if (restart)
      adam = std::make_unique<Adam>(net->parameters());
    net->forward(x).sum().backward();
    adam->step();
  }
}
)cpp";

} // namespace

TEST_F(OptimizerInLoopTest, Local) {
  const std::vector<OptimizerInLoop> Found = ask("local");
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_EQ(Found[0].Variable->getName(), "adam");
  EXPECT_EQ(Found[0].Class->getAsCXXRecordDecl()->getName(), "Adam");
  EXPECT_EQ(Found[0].Entry->loopsAround(Found[0].Create->Point).size(), 2u);
  EXPECT_EQ(Found[0].Around,
            Found[0].Entry->loopsAround(Found[0].Create->Point).back());
  EXPECT_TRUE(Found[0].CanMove);
}

TEST_F(OptimizerInLoopTest, OnTheHeap) {
  const std::vector<OptimizerInLoop> Found = ask("owned");
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_EQ(Found[0].Variable->getName(), "adam");
  EXPECT_TRUE(Found[0].CanMove);
}

TEST_F(OptimizerInLoopTest, WithNamesOfTheIteration) {
  const std::vector<OptimizerInLoop> Found = ask("ofTheIteration");
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_FALSE(Found[0].CanMove);
}

TEST_F(OptimizerInLoopTest, WithoutAName) {
  const std::vector<OptimizerInLoop> Found = ask("withoutName");
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_EQ(Found[0].Variable, nullptr);
  EXPECT_FALSE(Found[0].CanMove);
}

TEST_F(OptimizerInLoopTest, ForEachEpoch) {
  const std::vector<OptimizerInLoop> Found = ask("perEpoch");
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_TRUE(Found[0].IsForEpoch);
  EXPECT_TRUE(Found[0].CanMove);
}

TEST_F(OptimizerInLoopTest, Quiet) {
  for (const char *Root : {"plain", "before", "perStage", "perModel", "branch"})
    EXPECT_TRUE(ask(Root).empty()) << Root;
}

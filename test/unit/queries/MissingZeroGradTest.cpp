// Gradients that are not cleared. The tests of
// torch-missing-zero-grad (test/checks) have many more programs.
#include "training/MissingZeroGrad.h"
#include "model/Model.h"
#include "clang/AST/StmtCXX.h"

using namespace torchtidy::model;
using namespace torchtidy::test;

namespace {

struct Gradients : ModelTest<Gradients> {
  static const char Code[];
  static std::vector<UnclearedStep> ask(llvm::StringRef Root) {
    return entry(Root).of(unclearedSteps(Shared->program()));
  }
};

const char Gradients::Code[] = R"cpp(
using torch::Tensor;
using torch::nn::Linear;
using torch::optim::SGD;

void never(Linear net, Tensor x) {
  SGD sgd(net->parameters(), 0.1);
  for (int epoch = 0; epoch < 2; ++epoch)
    for (int i = 0; i < 3; ++i) {
      Tensor loss = net->forward(x).sum();
      loss.backward();
      sgd.step();
    }
}
void always(Linear net, Tensor x) {
  SGD sgd(net->parameters(), 0.1);
  for (int i = 0; i < 3; ++i) {
    sgd.zero_grad();
    net->forward(x).sum().backward();
    sgd.step();
  }
}
void sometimes(Linear net, Tensor x, std::vector<bool> &skip) {
  SGD sgd(net->parameters(), 0.1);
  for (int i = 0; i < 3; ++i) {
    net->forward(x).sum().backward();
    sgd.step();
    if (skip[i])
      continue;
    sgd.zero_grad();
  }
}
void once(Linear net, Tensor x) {
  SGD sgd(net->parameters(), 0.1);
  net->forward(x).sum().backward();
  sgd.step();
}

void clear(Linear &net) {
  for (auto &p : net->parameters())
    p.mutable_grad() = Tensor();
}
void byHelper(Linear net, Tensor x) {
  SGD sgd(net->parameters(), 0.1);
  for (int i = 0; i < 3; ++i) {
    net->forward(x).sum().backward();
    sgd.step();
    clear(net);
  }
}
void otherOptimizer(Linear a, Linear b, Tensor x) {
  SGD first(a->parameters(), 0.1), second(b->parameters(), 0.1);
  for (int i = 0; i < 3; ++i) {
    second.zero_grad();
    a->forward(x).sum().backward();
    first.step();
  }
}
void unknownCode(Linear &, SGD &);
void mayBeCleared(Linear net, Tensor x) {
  SGD sgd(net->parameters(), 0.1);
  for (int i = 0; i < 3; ++i) {
    net->forward(x).sum().backward();
    sgd.step();
    unknownCode(net, sgd);
  }
}
void accumulated(Linear net, Tensor x) {
  SGD sgd(net->parameters(), 0.1);
  for (int i = 0; i < 8; ++i) {
    net->forward(x).sum().backward();
    if (i % 4 == 0) {
      sgd.step();
      sgd.zero_grad();
    }
  }
}
void eachOnce(std::vector<Linear> &nets, std::vector<SGD> &all) {
  for (size_t i = 0; i < all.size(); ++i) {
    SGD &one = all[i];
    nets[i]->forward(torch::rand({2})).sum().backward();
    one.step();
  }
}
void eachAgain(std::vector<Linear> &nets, std::vector<SGD> &all) {
  for (int epoch = 0; epoch < 3; ++epoch)
    for (size_t i = 0; i < all.size(); ++i) {
      nets[i]->forward(torch::rand({2})).sum().backward();
      all[i].step();
    }
}
void first(std::vector<Linear> &nets, std::vector<SGD> &all) {
  for (size_t i = 0; i < nets.size(); ++i) {
    nets[i]->forward(torch::rand({2})).sum().backward();
    all[0].step();
  }
}
void byHand(Linear net, Tensor x) {
  for (int i = 0; i < 3; ++i) {
    net->forward(x).sum().backward();
    torch::NoGradGuard off;
    for (auto &p : net->parameters())
      p -= 0.1 * p.grad();
  }
}
void byHandCleared(Tensor x) {
  Tensor w = torch::zeros({2}, torch::requires_grad());
  for (int i = 0; i < 3; ++i) {
    (x * w).sum().backward();
    Tensor g = w.grad();
    w.data().add_(g, -0.1);
    g.zero_();
  }
}
void byHandEachOnce(std::vector<Linear> nets, Tensor x) {
  for (auto &net : nets) {
    net->forward(x).sum().backward();
    for (auto &p : net->parameters())
      p.data() -= 0.1 * p.grad();
  }
}
struct Trainer {
  Trainer(Linear n) : net(n), sgd(net->parameters(), 0.1) {}
  void batch(Tensor x) { net->forward(x).sum().backward(); sgd.step(); }
  void run(std::vector<Tensor> &data) { for (auto &x : data) batch(x); }
  Linear net;
  SGD sgd;
};
)cpp";

} // namespace

TEST_F(Gradients, NeverCleared) {
  auto Steps = ask("never");
  ASSERT_EQ(Steps.size(), 1u);
  Entry W = entry("never");
  EXPECT_EQ(W.sites<StepEvent>(), (std::vector<std::string>{"sgd.step()"}));
  EXPECT_EQ(Steps[0].Step->Is, Event::Step);
  ASSERT_TRUE(Steps[0].Backward);
  EXPECT_EQ(Steps[0].Backward->Is, Event::Backward);
  EXPECT_FALSE(Steps[0].IsClearedElsewhere);
}

TEST_F(Gradients, InTheInnermostLoop) {
  // Loops belong to the execution: ask the one that is kept.
  Entry W = entry("never");
  auto Steps = W.of(unclearedSteps(Shared->program()));
  ASSERT_EQ(Steps.size(), 1u);
  ASSERT_TRUE(Steps[0].Around);
  EXPECT_EQ(Steps[0].Around->Depth, 2u);
}

TEST_F(Gradients, Cleared) {
  EXPECT_TRUE(ask("always").empty());
  EXPECT_TRUE(ask("byHelper").empty());
  EXPECT_TRUE(ask("accumulated").empty());
}

TEST_F(Gradients, ClearedOnSomePath) {
  auto Steps = ask("sometimes");
  ASSERT_EQ(Steps.size(), 1u);
  EXPECT_TRUE(Steps[0].IsClearedElsewhere);
}

TEST_F(Gradients, NoLoop) { EXPECT_TRUE(ask("once").empty()); }

TEST_F(Gradients, OfAnotherNetwork) {
  EXPECT_EQ(ask("otherOptimizer").size(), 1u);
}

TEST_F(Gradients, AnElementForEachIteration) {
  EXPECT_TRUE(ask("eachOnce").empty());
  EXPECT_EQ(ask("first").size(), 1u);
  Entry W = entry("eachAgain");
  const auto Steps = W.of(unclearedSteps(Shared->program()));
  ASSERT_EQ(Steps.size(), 1u);
  // The loop that chooses is not what makes gradients add up.
  ASSERT_TRUE(Steps[0].Around);
  EXPECT_EQ(Steps[0].Around->Depth, 1u);
}

TEST_F(Gradients, CodeThatCannotBeSeenMayClear) {
  EXPECT_TRUE(ask("mayBeCleared").empty());
}

TEST_F(Gradients, ThroughMethods) {
  auto Steps = ask("Trainer::run");
  ASSERT_EQ(Steps.size(), 1u);
  EXPECT_TRUE(Steps[0].Around);
  EXPECT_EQ(Steps[0].Step->In->Function->getNameAsString(), "batch");
}

TEST_F(Gradients, StepsByHand) {
  Entry W = entry("byHand");
  const auto Steps = W.of(unclearedSteps(Shared->program()));
  ASSERT_EQ(Steps.size(), 1u);
  EXPECT_TRUE(Steps[0].Step->Optimizers.empty());
  ASSERT_TRUE(Steps[0].Step->Gradient);
  EXPECT_EQ(Shared->program().text(Steps[0].Step->Gradient), "p.grad()");
  EXPECT_TRUE(ask("byHandCleared").empty());
  EXPECT_TRUE(ask("byHandEachOnce").empty());
}

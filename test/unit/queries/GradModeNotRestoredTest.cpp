// Grad mode that is still off in training. The tests of
// torch-grad-mode-not-restored (test/checks) have more programs.
#include "training/GradModeNotRestored.h"
#include "model/Model.h"

using namespace torchtidy::model;
using namespace torchtidy::test;

namespace {

struct GradModeNotRestoredTest : ModelTest<GradModeNotRestoredTest> {
  static const char Code[];
  static std::vector<GradModeNotRestored> ask(llvm::StringRef Root) {
    return entry(Root).of(gradModesNotRestored(Shared->program()));
  }
};

const char GradModeNotRestoredTest::Code[] = R"cpp(
using torch::Tensor;
using torch::nn::Linear;
using torch::optim::SGD;

void fit(Linear &net, SGD &sgd, Tensor x) {
  sgd.zero_grad();
  net->forward(x).sum().backward();
  sgd.step();
}
void never(Tensor x) {
  Linear net(2, 2);
  SGD sgd(net->parameters(), 0.1);
  for (int i = 0; i < 9; ++i) {
    fit(net, sgd, x);
    at::GradMode::set_enabled(false);
    std::cout << net->forward(x);
  }
}
void inFront(Tensor x) {
  Linear net(2, 2);
  SGD sgd(net->parameters(), 0.1);
  at::GradMode::set_enabled(false);
  fit(net, sgd, x);
}
void onOnePath(Tensor x) {
  Linear net(2, 2);
  SGD sgd(net->parameters(), 0.1);
  for (int i = 0; i < 9; ++i) {
    fit(net, sgd, x);
    at::GradMode::set_enabled(false);
    if (net->forward(x).sum().item<float>() < 1)
      continue;
    at::GradMode::set_enabled(true);
  }
}
void byStatic(Tensor x) {
  Linear net(2, 2);
  SGD sgd(net->parameters(), 0.1);
  for (int i = 0; i < 9; ++i) {
    fit(net, sgd, x);
    static torch::NoGradGuard guard;
    std::cout << net->forward(x);
  }
}
void byGuard(Tensor x) {
  Linear net(2, 2);
  SGD sgd(net->parameters(), 0.1);
  for (int i = 0; i < 9; ++i) {
    fit(net, sgd, x);
    torch::NoGradGuard guard;
    std::cout << net->forward(x);
  }
}
void restored(Tensor x) {
  Linear net(2, 2);
  SGD sgd(net->parameters(), 0.1);
  for (int i = 0; i < 9; ++i) {
    fit(net, sgd, x);
    const bool old = at::GradMode::is_enabled();
    at::GradMode::set_enabled(false);
    std::cout << net->forward(x);
    at::GradMode::set_enabled(old);
  }
}
void recordedBefore(Tensor x) {
  Linear net(2, 2);
  for (int i = 0; i < 9; ++i) {
    Tensor loss = net->forward(x).sum();
    at::GradMode::set_enabled(false);
    loss.backward();
    at::GradMode::set_enabled(true);
  }
}
void perhaps(Tensor x, bool evaluates) {
  Linear net(2, 2);
  SGD sgd(net->parameters(), 0.1);
  for (int i = 0; i < 9; ++i) {
    if (evaluates)
      at::GradMode::set_enabled(false);
    fit(net, sgd, x);
  }
}
void deleted(Tensor x) {
  Linear net(2, 2);
  SGD sgd(net->parameters(), 0.1);
  for (int i = 0; i < 9; ++i) {
    auto *guard = new torch::NoGradGuard;
    std::cout << net->forward(x);
    delete guard;
    fit(net, sgd, x);
  }
}
)cpp";

} // namespace

TEST_F(GradModeNotRestoredTest, Never) {
  const std::vector<GradModeNotRestored> Found = ask("never");
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_EQ(Found[0].Off->By, GradModeBy::Set);
  EXPECT_TRUE(Found[0].Pass);
  EXPECT_FALSE(Found[0].Restores);
  EXPECT_FALSE(Found[0].Guard);
}

TEST_F(GradModeNotRestoredTest, InFrontOfAllTraining) {
  const std::vector<GradModeNotRestored> Found = ask("inFront");
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_FALSE(Found[0].Pass);
}

TEST_F(GradModeNotRestoredTest, OnOnePath) {
  const std::vector<GradModeNotRestored> Found = ask("onOnePath");
  ASSERT_EQ(Found.size(), 1u);
  ASSERT_TRUE(Found[0].Restores);
  EXPECT_EQ(Found[0].Restores->Mode, mode::On);
}

TEST_F(GradModeNotRestoredTest, ByAGuardThatLives) {
  const std::vector<GradModeNotRestored> Found = ask("byStatic");
  ASSERT_EQ(Found.size(), 1u);
  ASSERT_TRUE(Found[0].Guard);
  EXPECT_EQ(Found[0].Guard->getName(), "guard");
}

TEST_F(GradModeNotRestoredTest, Quiet) {
  for (const char *Root :
       {"byGuard", "restored", "recordedBefore", "perhaps", "deleted"})
    EXPECT_TRUE(ask(Root).empty()) << Root;
}

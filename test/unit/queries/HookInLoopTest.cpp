// Hooks that pile up on one tensor. The tests of torch-hook-in-loop
// (test/checks) have more programs.
#include "training/HookInLoop.h"
#include "model/Model.h"

using namespace torchtidy::model;
using namespace torchtidy::test;

namespace {

struct HookInLoopTest : ModelTest<HookInLoopTest> {
  static const char Code[];
  static std::vector<HookInLoop> ask(llvm::StringRef Root) {
    return entry(Root).of(hooksInLoop(Shared->program()));
  }
};

const char HookInLoopTest::Code[] = R"cpp(
using torch::Tensor;
using torch::nn::Linear;

void changing(Linear net, Tensor x) {
  for (int epoch = 0; epoch < 2; ++epoch)
    for (int i = 0; i < 9; ++i) {
      net->weight.register_hook([](Tensor grad) { return grad * 2; });
      net->forward(x).sum().backward();
    }
}
void looking(Linear net, Tensor x) {
  for (int i = 0; i < 9; ++i) {
    for (auto &p : net->parameters())
      p.register_hook([](Tensor) {});
    net->forward(x).sum().backward();
  }
}
void ofTheIteration(Linear net, Tensor x) {
  for (int i = 0; i < 9; ++i) {
    Tensor y = net->forward(x);
    y.register_hook([](Tensor grad) { return grad * 2; });
    y.sum().backward();
  }
}
void removed(Linear net, Tensor x) {
  for (int i = 0; i < 9; ++i) {
    unsigned hook = net->weight.register_hook([](Tensor) {});
    net->forward(x).sum().backward();
    net->weight.remove_hook(hook);
  }
}
void byNumber(Linear net, Tensor x) {
  for (int i = 0; i < 9; ++i) {
    net->weight.register_hook([](Tensor) {});
    net->forward(x).sum().backward();
    net->weight.remove_hook(0);
  }
}
void guarded(Linear net, Tensor x) {
  for (int i = 0; i < 9; ++i) {
    if (i == 0)
      net->weight.register_hook([](Tensor) {});
    net->forward(x).sum().backward();
  }
}
void inSome(Linear net, Tensor x) {
  for (int i = 0; i < 9; ++i) {
    if (i % 2 == 0) {
      net->forward(x).sum().backward();
      continue;
    }
    net->weight.register_hook([](Tensor) {});
    net->forward(x).sum().backward();
  }
}
void withoutBackward(Linear net, Tensor x) {
  for (int i = 0; i < 9; ++i)
    net->weight.register_hook([](Tensor) {});
  net->forward(x).sum().backward();
}
)cpp";

} // namespace

TEST_F(HookInLoopTest, ChangesTheGradient) {
  const std::vector<HookInLoop> Found = ask("changing");
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_TRUE(Found[0].ChangesGradient);
  EXPECT_EQ(Found[0].Entry->loopsAround(Found[0].Hook->Point).back(),
            Found[0].Around);
}

TEST_F(HookInLoopTest, OfEachParameter) {
  const std::vector<HookInLoop> Found = ask("looking");
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_FALSE(Found[0].ChangesGradient);
  EXPECT_EQ(Found[0].Entry->loopsAround(Found[0].Hook->Point).front(),
            Found[0].Around);
}

TEST_F(HookInLoopTest, Quiet) {
  for (const char *Root : {"ofTheIteration", "removed", "byNumber", "guarded",
                           "inSome", "withoutBackward"})
    EXPECT_TRUE(ask(Root).empty()) << Root;
}

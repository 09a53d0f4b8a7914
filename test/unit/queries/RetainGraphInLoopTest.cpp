// Graphs that a backward() keeps for nothing. The tests of
// torch-retain-graph-in-loop (test/checks) have more programs.
#include "memory/RetainGraphInLoop.h"
#include "model/Model.h"

using namespace torchtidy::model;
using namespace torchtidy::test;

namespace {

struct RetainGraphInLoopTest : ModelTest<RetainGraphInLoopTest> {
  static const char Code[];
  static std::vector<RetainGraphInLoop> ask(llvm::StringRef Root) {
    return entry(Root).of(retainsGraphInLoop(Shared->program()));
  }
};

const char RetainGraphInLoopTest::Code[] = R"cpp(
using torch::Tensor;
using torch::nn::Linear;
using torch::optim::SGD;

void inLoop(Linear net, SGD &sgd, Tensor x) {
  for (int epoch = 0; epoch < 2; ++epoch)
    for (int i = 0; i < 9; ++i) {
      net->forward(x).sum().backward({}, true);
      sgd.step();
    }
}
void twoLosses(Linear net, SGD &sgd, Tensor x) {
  for (int i = 0; i < 9; ++i) {
    Tensor y = net->forward(x);
    y.sum().backward({}, true);
    y.mean().backward();
    sgd.step();
  }
}
void fromBefore(Linear net, Linear head, SGD &sgd, Tensor x) {
  Tensor y = net->forward(x);
  for (int i = 0; i < 9; ++i) {
    head->forward(y).sum().backward({}, true);
    sgd.step();
  }
}
void withoutStep(Linear net, Tensor x) {
  for (int i = 0; i < 9; ++i)
    net->forward(x).sum().backward({}, true);
}
void derivative(Linear net, SGD &sgd, Tensor x) {
  for (int i = 0; i < 9; ++i) {
    net->forward(x).sum().backward({}, true, true);
    sgd.step();
  }
}
Tensor returned(Linear net, SGD &sgd, Tensor x) {
  Tensor y;
  for (int i = 0; i < 9; ++i) {
    y = net->forward(x).sum();
    y.backward({}, true);
    sgd.step();
  }
  return y;
}
void once(Linear net, Tensor x) { net->forward(x).sum().backward({}, true); }
)cpp";

} // namespace

TEST_F(RetainGraphInLoopTest, InALoop) {
  const std::vector<RetainGraphInLoop> Found = ask("inLoop");
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_TRUE(Found[0].Backward->Retain);
  const Execution &Entry = *Found[0].Entry;
  EXPECT_EQ(Entry.loopsAround(Found[0].Backward->Point).back(),
            Found[0].Around);
  EXPECT_EQ(Entry.loopsAround(Found[0].Backward->Point).size(), 2u);
}

TEST_F(RetainGraphInLoopTest, Quiet) {
  for (const char *Root : {"twoLosses", "fromBefore", "withoutStep",
                           "derivative", "returned", "once"})
    EXPECT_TRUE(ask(Root).empty()) << Root;
}

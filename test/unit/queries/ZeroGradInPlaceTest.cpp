// Gradients that are filled with zeros. The tests of torch-zero-grad-in-place
// (test/checks) have more programs.
#include "memory/ZeroGradInPlace.h"
#include "model/Model.h"

using namespace torchtidy::model;
using namespace torchtidy::test;

namespace {

struct ZeroGradInPlaceTest : ModelTest<ZeroGradInPlaceTest> {
  static const char Code[];
  static std::vector<ZeroGradInPlace> ask(llvm::StringRef Root) {
    return entry(Root).of(zeroGradsInPlace(Shared->program()));
  }
};

const char ZeroGradInPlaceTest::Code[] = R"cpp(
using torch::Tensor;
using torch::nn::Linear;
using torch::optim::SGD;

void inLoop(Linear net, SGD &sgd, Tensor x) {
  for (int epoch = 0; epoch < 2; ++epoch)
    for (int i = 0; i < 9; ++i) {
      sgd.zero_grad(false);
      net->forward(x).sum().backward();
      sgd.step();
    }
}
void letGo(Linear net, SGD &sgd, Tensor x) {
  for (int i = 0; i < 9; ++i) {
    sgd.zero_grad(true);
    net->forward(x).sum().backward();
    sgd.step();
  }
}
void read(Linear net, SGD &sgd, Tensor x) {
  for (int i = 0; i < 9; ++i) {
    sgd.zero_grad(false);
    net->forward(x).sum().backward();
    net->weight.grad().norm();
    sgd.step();
  }
}
void byEpoch(Linear net, SGD &sgd, Tensor x) {
  for (int epoch = 0; epoch < 2; ++epoch) {
    sgd.zero_grad(false);
    for (int i = 0; i < 9; ++i)
      net->forward(x).sum().backward();
    sgd.step();
  }
}
void once(Linear net, SGD &sgd, Tensor x) {
  sgd.zero_grad(false);
  net->forward(x).sum().backward();
}
)cpp";

} // namespace

TEST_F(ZeroGradInPlaceTest, InALoop) {
  const std::vector<ZeroGradInPlace> Found = ask("inLoop");
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_TRUE(Found[0].Clears->InPlace);
  EXPECT_EQ(Found[0].Entry->loopsAround(Found[0].Clears->Point).back(),
            Found[0].Around);
}

TEST_F(ZeroGradInPlaceTest, Quiet) {
  for (const char *Root : {"letGo", "read", "byEpoch", "once"})
    EXPECT_TRUE(ask(Root).empty()) << Root;
}

// Tensors and modules that are made in inference mode and used outside. The
// tests of torch-inference-tensor (test/checks) have more programs.
#include "autograd/InferenceTensor.h"
#include "model/Model.h"

using namespace torchtidy::model;
using namespace torchtidy::test;

namespace {

struct InferenceTensorTest : ModelTest<InferenceTensorTest> {
  static const char Code[];
  /// What is said at these sites, in source order.
  static std::vector<InferenceTensor> ask(llvm::StringRef Root) {
    return entry(Root).of(inferenceTensors(Shared->program()));
  }
};

const char InferenceTensorTest::Code[] = R"cpp(
using torch::Tensor;
using torch::nn::Linear;

static Tensor make() {
  c10::InferenceMode guard;
  return torch::ones({2, 2});
}
static void train(Linear &net, const Tensor &x) {
  torch::optim::SGD sgd(net->parameters(), 0.1);
  net->forward(x).sum().backward();
  sgd.step();
}
void callersUnknown() {
  Tensor t = make();
  t.add_(1);
}
void backwardBeside(Tensor x) {
  Linear net(2, 2);
  train(net, x);
  Tensor t = make();
  t.add_(1);
}
void saved() {
  Linear net(2, 2);
  train(net, make());
}
void madeEither(bool fast, Tensor x) {
  Linear net(2, 2);
  train(net, x);
  Tensor t = fast ? make() : torch::ones({2, 2});
  t.add_(1);
}
void modeEither(bool fast, Tensor x) {
  Linear net(2, 2);
  train(net, x);
  c10::InferenceMode guard(fast);
  Tensor t = torch::ones({2, 2});
  c10::InferenceMode none(false);
  t.add_(1);
}
void module(Tensor x) {
  std::shared_ptr<torch::nn::LinearImpl> net;
  {
    c10::InferenceMode guard;
    net = std::make_shared<torch::nn::LinearImpl>(2, 2);
  }
  torch::optim::SGD sgd(net->parameters(), 0.1);
  net->forward(x).sum().backward();
  sgd.step();
}
)cpp";

} // namespace

TEST_F(InferenceTensorTest, AsksForTheModeOfTheCallers) {
  EXPECT_TRUE(ask("callersUnknown").empty());
  const auto Found = ask("backwardBeside");
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_EQ(Found[0].Is, InferenceTensor::Written);
  ASSERT_NE(Found[0].Guard, nullptr);
  EXPECT_TRUE(Found[0].Guard->Mode & mode::Inference);
}

TEST_F(InferenceTensorTest, FindsWhatALayerWantsToSave) {
  const auto Found = ask("saved");
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_EQ(Found[0].Is, InferenceTensor::Saved);
}

TEST_F(InferenceTensorTest, IsCertainOfTheTensorAndOfTheMode) {
  EXPECT_TRUE(ask("madeEither").empty());
  EXPECT_TRUE(ask("modeEither").empty());
}

TEST_F(InferenceTensorTest, FindsModulesThatAreTrained) {
  const auto Found = ask("module");
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_EQ(Found[0].Is, InferenceTensor::Trained);
  EXPECT_NE(Found[0].Backward, nullptr);
}

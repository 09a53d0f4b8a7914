// Networks that no optimizer trains and that backward() goes through. The tests
// of torch-unused-gradients (test/checks) have more programs.
#include "autograd/UnusedGradients.h"
#include "model/Model.h"

using namespace torchtidy::model;
using namespace torchtidy::test;

namespace {

struct UnusedGradientsTest : ModelTest<UnusedGradientsTest> {
  static const char Code[];
  static std::vector<UnusedGradients> ask(llvm::StringRef Root) {
    return entry(Root).of(unusedGradients(Shared->program()));
  }
};

const char UnusedGradientsTest::Code[] = R"cpp(
using torch::Tensor;
using torch::nn::Linear;
using torch::optim::SGD;

void backbone(Tensor x) {
  Linear net(2, 2), head(2, 2);
  SGD opt(head->parameters(), 0.1);
  head->forward(net->forward(x)).sum().backward();
  opt.step();
}
void trainedBefore(Tensor x) {
  Linear net(2, 2), head(2, 2);
  SGD first(net->parameters(), 0.1), opt(head->parameters(), 0.1);
  net->forward(x).sum().backward();
  first.step();
  head->forward(net->forward(x)).sum().backward();
  opt.step();
}
static Tensor run(Linear &net, const Tensor &x) { return net->forward(x); }
void helper(Tensor x) {
  Linear net(2, 2), head(2, 2);
  SGD opt(head->parameters(), 0.1);
  (run(net, x) * run(head, x)).sum().backward();
  opt.step();
}
void trainedAfter(Tensor x) {
  Linear net(2, 2), head(2, 2);
  SGD last(net->parameters(), 0.1), opt(head->parameters(), 0.1);
  head->forward(net->forward(x)).sum().backward();
  opt.step();
  last.step();
}
void guarded(Tensor x) {
  Linear net(2, 2), head(2, 2);
  SGD opt(head->parameters(), 0.1);
  torch::NoGradGuard guard;
  Tensor y = net->forward(x);
  torch::AutoGradMode on(true);
  head->forward(y).sum().backward();
  opt.step();
}
void inputWanted() {
  Linear net(2, 2), head(2, 2);
  SGD opt(head->parameters(), 0.1);
  Tensor x = torch::ones({2, 2}, torch::requires_grad());
  head->forward(net->forward(x)).sum().backward();
  opt.step();
}
void fromOutside(Linear net, Tensor x) {
  Linear head(2, 2);
  SGD opt(head->parameters(), 0.1);
  head->forward(net->forward(x)).sum().backward();
  opt.step();
}
void unknownOptimizer(SGD &opt, Tensor x) {
  Linear net(2, 2);
  net->forward(x).sum().backward();
  opt.step();
}
)cpp";

} // namespace

TEST_F(UnusedGradientsTest, Backbone) {
  const auto Found = ask("backbone");
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_EQ(Found[0].Site, Found[0].Forward->Site);
  EXPECT_TRUE(Found[0].Backward->Root.hasOrigin(Found[0].Forward->Origin));
  EXPECT_EQ(Found[0].Made->Is, Event::Create);
}

TEST_F(UnusedGradientsTest, TrainedBefore) {
  EXPECT_EQ(ask("trainedBefore").size(), 1u);
}

TEST_F(UnusedGradientsTest, ToldOfInTheCaller) {
  const auto Found = ask("helper");
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_NE(Found[0].Site, Found[0].Forward->Site);
  EXPECT_EQ(Found[0].In, &Found[0].Entry->root());
}

TEST_F(UnusedGradientsTest, Quiet) {
  for (const char *Root : {"trainedAfter", "guarded", "inputWanted",
                           "fromOutside", "unknownOptimizer"})
    EXPECT_TRUE(ask(Root).empty()) << Root;
}

// What a decided condition says of the value that it tests, and which
// conditions are decided.
#include "model/Model.h"

using namespace torchtidy::model;
using namespace torchtidy::test;

namespace {

struct Conditions : ModelTest<Conditions> {
  static const char Code[];
  static uint8_t at(const char *Root, const char *Name) {
    return entry(Root).observed(Name).History;
  }
};

const char Conditions::Code[] = R"cpp(
using torch::Tensor;
using torch::nn::Linear;

Tensor choice(const Tensor &h) { return h.defined() ? h.detach() : h; }
Tensor early(const Tensor &h) {
  if (!h.defined())
    return h;
  return h.detach();
}
Tensor wrongWay(const Tensor &h) { return h.defined() ? h : h.detach(); }
void helpers(Linear net, Tensor x) {
  observe("choice", choice(net->forward(x)));
  observe("early", early(net->forward(x)));
  observe("wrong way", wrongWay(net->forward(x)));
}
void sides(Linear net, Tensor x) {
  Tensor h = net->forward(x);
  if (h.requires_grad())
    observe("requires", h);
  else
    observe("requires not", h);
  std::optional<Tensor> o = h;
  if (o)
    observe("there", *o);
  else
    observe("not there", *o);
}

Tensor flagged(Linear &net, Tensor x, bool training) {
  if (training)
    return net->forward(x);
  return x.detach();
}
Tensor through(Linear &net, Tensor x, bool frozen) {
  return flagged(net, x, !frozen);
}
Tensor written(Linear &net, Tensor x, bool training) {
  if (x.dim() > 2)
    training = !training;
  return training ? net->forward(x) : x.detach();
}
void flags(Linear net, Tensor x) {
  observe("on", flagged(net, x, true));
  observe("off", flagged(net, x, false));
  observe("through", through(net, x, true));
  observe("written", written(net, x, false));
}
void gradMode(Linear &net, Tensor x, bool on) {
  torch::AutoGradMode mode(on);
  observe("mode", net->forward(x));
}
void modes(Linear net, Tensor x) { gradMode(net, x, false); }

struct Net : torch::nn::Module {
  Linear a = nullptr;
  Net() { a = register_module("a", Linear(2, 2)); }
  Tensor run(Tensor x) {
    if (is_training())
      return a->forward(x);
    return x.detach();
  }
};
void fresh(Tensor x) {
  Net net;
  observe("fresh", net.run(x));
  net.eval();
  observe("evaluated", net.run(x));
  net.train();
  observe("trained", net.run(x));
}
void unknown(Net &net, Tensor x) { observe("from outside", net.run(x)); }
void change(Net &net);
void given(Tensor x) {
  Net net;
  change(net);
  observe("given away", net.run(x));
}
)cpp";

} // namespace

TEST_F(Conditions, OnTheVeryTensor) {
  EXPECT_EQ(at("helpers", "choice"), history::None);
  EXPECT_EQ(at("helpers", "early"), history::None);
  EXPECT_TRUE(at("helpers", "wrong way") & history::Graph);
  EXPECT_TRUE(at("sides", "requires") & history::Graph);
  EXPECT_EQ(at("sides", "requires not"), history::None);
  EXPECT_TRUE(at("sides", "there") & history::Graph);
  EXPECT_EQ(at("sides", "not there"), history::None);
}

TEST_F(Conditions, OnAFlagThatTheCallGives) {
  EXPECT_FALSE(at("flags", "on") & history::None);
  EXPECT_EQ(at("flags", "off"), history::None);
  EXPECT_EQ(at("flags", "through"), history::None);
  EXPECT_TRUE(at("flags", "written") & history::Graph) << "it is changed";
  EXPECT_EQ(at("modes", "mode"), history::None);
}

TEST_F(Conditions, OnTheModeOfAModule) {
  EXPECT_FALSE(at("fresh", "fresh") & history::None);
  EXPECT_EQ(at("fresh", "evaluated"), history::None);
  EXPECT_FALSE(at("fresh", "trained") & history::None);
  EXPECT_TRUE(at("unknown", "from outside") & history::None);
  EXPECT_TRUE(at("unknown", "from outside") & history::Graph);
  EXPECT_TRUE(at("given", "given away") & history::None)
      << "code elsewhere may have called eval()";
}

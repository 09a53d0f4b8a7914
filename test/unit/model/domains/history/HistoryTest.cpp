// The history of tensors: whether autograd has recorded how they were made.
#include "model/Model.h"

using namespace torchtidy::model;
using namespace torchtidy::test;

namespace {

struct History : ModelTest<History> {
  static const char Code[];
};

const char History::Code[] = R"cpp(
using torch::Tensor;
struct NetImpl : torch::nn::Module {
  NetImpl() { fc = register_module("fc", torch::nn::Linear(2, 2)); }
  Tensor forward(Tensor x) { return torch::relu(fc->forward(x)); }
  torch::nn::Linear fc{nullptr};
};
TORCH_MODULE(Net);
Tensor elsewhere(Tensor);

void operations() {
  Net net;
  Tensor x = torch::randn({2, 2});
  Tensor y = net->forward(x);
  observe("input", x);
  observe("forward", y);
  observe("called", net(x));
  observe("computed", y * 2 + 1);
  observe("loss", torch::nn::functional::mse_loss(y, x));
  observe("from input", x * 2 + 1);
  observe("view", y.view({-1}));
  observe("element", y[0]);
  observe("written temporary", torch::zeros({2, 2}).add_(y));
  observe("filled temporary", torch::zeros({2, 2}).fill_(3));
  observe("joined", torch::cat({x, y}));
  observe("detached", y.detach());
  observe("detached, computed", y.detach() * 2);
  observe("clone", y.clone());
  observe("argmax", y.argmax(1));
  observe("compared", y > 0);
  observe("integral", y.to(torch::kLong));
  observe("double", y.to(torch::kDouble));
  observe("like", torch::zeros_like(y));
  observe("values", std::get<0>(y.max(1)));
  observe("indices", std::get<1>(y.max(1)));
  observe("gradient", torch::autograd::grad({y.sum()}, {x})[0]);
  observe("unknown code", elsewhere(y));
}

void leaves() {
  Tensor plain = torch::zeros({2});
  Tensor wanted = torch::zeros({2}, torch::requires_grad());
  observe("plain", plain);
  observe("wanted", wanted);
  observe("on wanted", wanted * 2);
  Tensor later = torch::randn({2});
  later.requires_grad_();
  observe("later", later);
  later.requires_grad_(false);
  observe("no longer", later);
  Net net;
  observe("weight", net->fc->weight);
  observe("grad", wanted.grad());
}

void guarded() {
  Net net;
  Tensor x = torch::randn({2, 2}), y = net->forward(x);
  torch::NoGradGuard no_grad;
  observe("guarded forward", net->forward(x));
  observe("guarded operation", y * 2);
  observe("made before", y);
}

void options() {
  observe("options", torch::ones({2}, torch::TensorOptions().requires_grad(true)));
  observe("dtype options", torch::ones({2}, torch::dtype(torch::kFloat).requires_grad(true)));
  observe("options off", torch::ones({2}, torch::dtype(torch::kFloat).requires_grad(false)));
}
void frozen() {
  Net net;
  for (auto &p : net->parameters())
    p.requires_grad_(false);
  observe("frozen", net->forward(torch::randn({2, 2})));
}
void frozenLayer() {
  torch::nn::Linear net(2, 2);
  for (auto &p : net->parameters())
    p.requires_grad_(false);
  observe("frozen layer", net->forward(torch::randn({2, 2})));
}
void freeze(Net net) {
  for (auto p : net->parameters())
    p.set_requires_grad(false);
}
void frozenByHelper() {
  Net net;
  freeze(net);
  observe("frozen by helper", net->forward(torch::randn({2, 2})));
}
void frozenParameter(Net net) {
  for (auto &p : net->parameters())
    p.requires_grad_(false);
  observe("frozen parameter", net->forward(torch::randn({2, 2})));
}

void paths(bool recorded) {
  Net net;
  Tensor x = torch::randn({2, 2}), y;
  observe("undefined", y);
  if (recorded)
    y = net->forward(x);
  else
    y = x;
  observe("either", y);
  observe("choice", recorded ? net->forward(x) : x);
  Tensor h = torch::zeros({2, 2});
  for (int i = 0; i < 3; ++i) {
    observe("carried", h);
    h = net->forward(h);
  }
  h = h.detach();
  observe("replaced", h);
}

void inPlace() {
  Net net;
  Tensor x = torch::randn({2, 2}), y = net->forward(x);
  Tensor total = torch::zeros({2, 2}), filled = torch::zeros({2, 2});
  total += y;
  observe("accumulated", total);
  filled[0] = y[0];
  observe("written into", filled);
  Tensor copy = y;
  y.detach_();
  observe("detached in place", y);
  observe("zeroed", total.zero_());
}

void given(Tensor x, Net net) {
  observe("given", x);
  observe("forward of given", net->forward(x));
}
)cpp";

constexpr unsigned None = history::None, Leaf = history::Leaf,
                   Graph = history::Graph, Unknown = history::Unknown;

} // namespace

TEST_F(History, RecordedOperations) {
  Entry W = entry("operations");
  for (const char *Name :
       {"forward", "called", "computed", "loss", "view", "element",
        "written temporary", "clone", "double", "values"})
    EXPECT_EQ(W.observed(Name).History, Graph) << Name;
  EXPECT_TRUE(W.observed("joined").mayHaveGraph())
      << "one of a list of tensors has it";
}

TEST_F(History, WithoutHistory) {
  Entry W = entry("operations");
  for (const char *Name :
       {"input", "from input", "detached", "detached, computed", "argmax",
        "compared", "integral", "like", "indices", "gradient"})
    EXPECT_EQ(W.observed(Name).History, None) << Name;
}

TEST_F(History, CodeThatCannotBeSeen) {
  EXPECT_EQ(entry("operations").observed("unknown code").History, Unknown);
  EXPECT_EQ(entry("given").observed("given").History, Unknown);
  EXPECT_TRUE(entry("given").observed("forward of given").mayHaveGraph());
}

TEST_F(History, Leaves) {
  Entry W = entry("leaves");
  EXPECT_EQ(W.observed("plain").History, None);
  EXPECT_EQ(W.observed("wanted").History, Leaf);
  EXPECT_EQ(W.observed("on wanted").History, Graph);
  EXPECT_EQ(W.observed("later").History, Leaf);
  EXPECT_EQ(W.observed("no longer").History, None);
  EXPECT_EQ(W.observed("weight").History, Leaf);
  EXPECT_EQ(W.observed("grad").History, None);
}

TEST_F(History, UnderAGuard) {
  Entry W = entry("guarded");
  EXPECT_EQ(W.observed("guarded forward").History, None);
  EXPECT_EQ(W.observed("guarded operation").History, None);
  EXPECT_EQ(W.observed("made before").History, Graph);
}

TEST_F(History, LeavesByOptions) {
  Entry W = entry("options");
  EXPECT_EQ(W.observed("options").History, Leaf);
  EXPECT_EQ(W.observed("dtype options").History, Leaf);
  EXPECT_EQ(W.observed("options off").History, None);
}

TEST_F(History, FrozenNetwork) {
  EXPECT_EQ(entry("frozen").observed("frozen").History, None);
  EXPECT_EQ(entry("frozenLayer").observed("frozen layer").History, None);
  EXPECT_EQ(entry("frozenByHelper").observed("frozen by helper").History, None);
  EXPECT_EQ(entry("frozenParameter").observed("frozen parameter").History,
            None);
}

TEST_F(History, PathsAreJoined) {
  Entry W = entry("paths");
  EXPECT_EQ(W.observed("undefined").History, None);
  EXPECT_EQ(W.observed("either").History, None | Graph);
  EXPECT_EQ(W.observed("choice").History, None | Graph);
  EXPECT_EQ(W.observed("carried").History, None | Graph);
  EXPECT_EQ(W.observed("replaced").History, None);
}

TEST_F(History, InPlace) {
  Entry W = entry("inPlace");
  EXPECT_EQ(W.observed("accumulated").History, Graph);
  EXPECT_TRUE(W.observed("written into").mayHaveGraph());
  EXPECT_EQ(W.observed("detached in place").History, None);
}

TEST_F(History, OriginIsTheForward) {
  Entry W = entry("operations");
  const ForwardEvent &Forward = W.event<ForwardEvent>("net->forward(x)");
  EXPECT_TRUE(Forward.Result.hasOrigin(Forward.Origin));
  for (const char *Name : {"forward", "computed", "loss", "view", "clone"})
    EXPECT_TRUE(W.observed(Name).hasOrigin(Forward.Origin)) << Name;
  for (const char *Name : {"detached", "from input", "argmax"})
    EXPECT_TRUE(W.observed(Name).Origins.empty()) << Name;
  EXPECT_EQ(W->origin(Forward.Origin).Of, Origin::Forward);
  EXPECT_EQ(W->origin(Forward.Origin).Site, Forward.Site);
}

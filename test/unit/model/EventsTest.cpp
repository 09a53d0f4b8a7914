// Each kind of event, with what it tells.
#include "model/Model.h"
#include "clang/AST/ExprCXX.h"

using namespace torchtidy::model;
using namespace torchtidy::test;

namespace {

struct Events : ModelTest<Events> {
  static const char Code[];
};

const char Events::Code[] = R"cpp(
using torch::Tensor;
using torch::nn::Linear;
using torch::optim::SGD;
struct NetImpl : torch::nn::Module {
  NetImpl() { fc = register_module("fc", Linear(2, 2)); }
  Tensor forward(Tensor x) { return fc->forward(x); }
  Linear fc{nullptr};
};
TORCH_MODULE(Net);
void keep(Tensor &);
void read(const Net &);
void number(int);

void training() {
  Net net;
  SGD sgd(net->parameters(), 0.1);
  Tensor x = torch::ones({2}), loss = net->forward(x).sum();
  sgd.zero_grad();
  loss.backward();
  sgd.step();
  net->zero_grad();
  torch::autograd::backward({loss}, {});
  auto grads = torch::autograd::grad({loss}, {x});
}

void restricted(Net net, SGD &sgd, Tensor loss, Tensor w) {
  loss.backward({}, std::nullopt, false, std::vector<Tensor>{w});
  sgd.step([&] { return loss; });
}

void clearings(Net net, Tensor w) {
  for (auto &p : net->parameters())
    p.grad().zero_();
  for (auto &p : net->parameters())
    p.mutable_grad() = Tensor();
  w.mutable_grad().reset();
}

void objects() {
  Net net;
  auto shared = std::make_shared<NetImpl>();
  SGD sgd(shared->parameters(), 0.1);
  Tensor x = torch::ones({2});
  Linear layer(2, 3);
}

void loading(torch::jit::Module &given) {
  torch::jit::Module script = torch::jit::load("model.pt");
  given = torch::jit::load("other.pt");
  Net net;
  torch::load(net, "net.pt");
  Tensor data;
  torch::load(data, "data.pt");
}

void stores(Linear net, Tensor x, int i) {
  std::vector<Tensor> losses(3);
  Tensor total = torch::zeros({1}), last;
  Tensor loss = net->forward(x).sum();
  losses.push_back(loss);
  losses[i] = loss;
  losses[0] = loss;
  total += loss;
  total = total + loss;
  last = loss;
  total[0] = loss;
  losses.push_back(loss.detach());
  total = torch::cat({total, loss});
}

void releases(Linear net, Tensor x) {
  std::vector<Tensor> losses;
  Tensor last = net->forward(x);
  losses.clear();
  losses.pop_back();
  Tensor other = std::move(last);
  last = x.detach();
  losses.erase(losses.begin());
}

Tensor escapes(Net net, Tensor x) {
  Tensor y = net->forward(x);
  keep(y);
  read(net);
  number(3);
  return y;
}
)cpp";

using Texts = std::vector<std::string>;

} // namespace

TEST_F(Events, ForwardRunsAModule) {
  Way W = way("training");
  // The network's, and that of its layer inside.
  EXPECT_EQ(W.sites(EventKind::Forward),
            (Texts{"fc->forward(x)", "net->forward(x)"}));
  const Event &Outer = W.event(EventKind::Forward, "net->forward(x)");
  const Event &Inner = W.event(EventKind::Forward, "fc->forward(x)");
  EXPECT_EQ(W.placeOf(Outer), "net");
  EXPECT_TRUE(Outer.Result.mayHaveGraph());
  EXPECT_EQ(Outer.Input.History, history::None);
  EXPECT_EQ(Outer.In, &W->root());
  EXPECT_EQ(Inner.In->Caller, &W->root());
  EXPECT_TRUE(W->isInForward(Inner.In));
  EXPECT_FALSE(W->isInForward(Outer.In));
}

TEST_F(Events, Backward) {
  Way W = way("training");
  const Event &Forward = W.event(EventKind::Forward, "net->forward(x)");
  for (const char *Site :
       {"loss.backward()", "torch::autograd::backward({loss}, {})"}) {
    const Event &E = W.event(EventKind::Backward, Site);
    EXPECT_TRUE(E.Result.hasOrigin(Forward.Origin)) << Site;
    EXPECT_FALSE(E.IsRestricted) << Site;
  }
  const Event &Grad = W.all(EventKind::Grad).front()[0];
  EXPECT_TRUE(Grad.Result.hasOrigin(Forward.Origin));
}

TEST_F(Events, StepAndZeroGrad) {
  Way W = way("training");
  const Event &Step = W.event(EventKind::Step, "sgd.step()");
  EXPECT_EQ(W.placeOf(Step), "sgd");
  EXPECT_FALSE(Step.IsRestricted);
  ASSERT_FALSE(Step.Result.Refs.empty()) << "what it trains";
  EXPECT_EQ(W->places().name(W->places().owner(Step.Result.Refs.front())),
            "net");
  EXPECT_EQ(W.placeOf(W.event(EventKind::ZeroGrad, "sgd.zero_grad()")), "sgd");
  EXPECT_EQ(W.placeOf(W.event(EventKind::ZeroGrad, "net->zero_grad()")), "net");
}

TEST_F(Events, Restricted) {
  Way W = way("restricted");
  ASSERT_EQ(W.all(EventKind::Backward).size(), 1u);
  EXPECT_TRUE(W.all(EventKind::Backward).front()->IsRestricted);
  ASSERT_EQ(W.all(EventKind::Step).size(), 1u);
  EXPECT_TRUE(W.all(EventKind::Step).front()->IsRestricted);
}

TEST_F(Events, GradientsClearedByHand) {
  Way W = way("clearings");
  EXPECT_EQ(W.sites(EventKind::ZeroGrad),
            (Texts{"p.grad().zero_()", "p.mutable_grad() = Tensor()",
                   "w.mutable_grad().reset()"}));
  for (const Event *E : W.all(EventKind::ZeroGrad))
    for (PlaceId P : E->Places)
      EXPECT_EQ(W->places().step(P).Of, Step::Gradient);
  const Event &ByHand = W.event(EventKind::ZeroGrad, "p.grad().zero_()");
  ASSERT_EQ(ByHand.Places.size(), 1u);
  EXPECT_EQ(W->places().name(W->places().owner(ByHand.Places.front())), "net");
}

TEST_F(Events, Create) {
  Way W = way("objects");
  std::vector<std::string> Named;
  unsigned Heap = 0;
  for (const Event *E : W.all(EventKind::Create)) {
    ASSERT_EQ(E->Places.size(), 1u);
    const std::string Name = W.placeOf(*E);
    if (!Name.empty())
      Named.push_back(Name);
    else
      Heap += clang::isa<clang::CallExpr>(E->Site);
  }
  for (const char *Name : {"net", "shared", "sgd", "x", "layer"})
    EXPECT_TRUE(llvm::is_contained(Named, Name)) << Name;
  EXPECT_EQ(Heap, 1u) << "make_shared";
}

TEST_F(Events, Load) {
  Way W = way("loading");
  std::vector<std::string> Loaded;
  for (const Event *E : W.all(EventKind::Load))
    for (PlaceId P : E->Places)
      if (std::string Name = W->places().name(P); !Name.empty())
        Loaded.push_back(Name);
  for (const char *Name : {"script", "given", "net", "data"})
    EXPECT_TRUE(llvm::is_contained(Loaded, Name)) << Name;
}

TEST_F(Events, Store) {
  Way W = way("stores");
  auto How = [&](const char *Site) {
    return W.event(EventKind::Store, Site).How;
  };
  auto Place = [&](const char *Site) {
    return W.placeOf(W.event(EventKind::Store, Site));
  };
  EXPECT_EQ(How("losses.push_back(loss)"), StoreKind::Append);
  EXPECT_EQ(Place("losses.push_back(loss)"), "losses");
  EXPECT_EQ(How("losses[i] = loss"), StoreKind::Append) << "another each time";
  EXPECT_EQ(How("losses[0] = loss"), StoreKind::Rebind);
  EXPECT_EQ(How("total += loss"), StoreKind::Accumulate);
  EXPECT_EQ(How("total = total + loss"), StoreKind::Accumulate);
  EXPECT_EQ(How("total = torch::cat({total, loss})"), StoreKind::Accumulate);
  EXPECT_EQ(How("last = loss"), StoreKind::Rebind);
  EXPECT_EQ(Place("last = loss"), "last");
  EXPECT_EQ(How("total[0] = loss"), StoreKind::InPlace);
  EXPECT_EQ(Place("total[0] = loss"), "total");
  EXPECT_EQ(
      llvm::count(W.sites(EventKind::Store), "losses.push_back(loss.detach())"),
      0)
      << "nothing with a graph is stored";
  const Event &Append = W.event(EventKind::Store, "losses.push_back(loss)");
  EXPECT_EQ(W->origin(Append.Origin).Of, Origin::Through);
  ASSERT_TRUE(Append.Operand);
}

TEST_F(Events, Release) {
  Way W = way("releases");
  auto Place = [&](const char *Site) {
    return W.placeOf(W.event(EventKind::Release, Site));
  };
  EXPECT_EQ(Place("losses.clear()"), "losses");
  EXPECT_EQ(Place("losses.pop_back()"), "losses");
  EXPECT_EQ(Place("losses.erase(losses.begin())"), "losses");
  EXPECT_EQ(Place("std::move(last)"), "last");
  EXPECT_EQ(Place("last = x.detach()"), "last");
}

TEST_F(Events, Escape) {
  Way W = way("escapes");
  EXPECT_EQ(W.sites(EventKind::Escape), (Texts{"keep(y)", "read(net)", "y"}))
      << "numbers do not matter; what a root returns does";
  EXPECT_EQ(W.placeOf(W.event(EventKind::Escape, "keep(y)")), "y");
  EXPECT_TRUE(W.event(EventKind::Escape, "y").Result.mayHaveGraph());
}

TEST_F(Events, PointsOfEventsAreInOrder) {
  Way W = way("training");
  const Event &Step = W.event(EventKind::Step, "sgd.step()");
  const Event &Backward = W.event(EventKind::Backward, "loss.backward()");
  auto IsStep = [&](torchtidy::flow::Digraph::Node N) {
    return N == Step.Point;
  };
  auto Nothing = [](torchtidy::flow::Digraph::Node) { return false; };
  EXPECT_TRUE(
      torchtidy::flow::mayReach(W->points(), Backward.Point, IsStep, Nothing));
  EXPECT_EQ(W->eventAt(Step.Point), &Step);
  EXPECT_FALSE(torchtidy::flow::mayReach(
      W->points(), Step.Point,
      [&](torchtidy::flow::Digraph::Node N) { return N == Backward.Point; },
      Nothing));
}

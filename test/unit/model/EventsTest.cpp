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
  Entry W = entry("training");
  // The network's, and that of its layer inside.
  EXPECT_EQ(W.sites<ForwardEvent>(),
            (Texts{"fc->forward(x)", "net->forward(x)"}));
  const ForwardEvent &Outer = W.event<ForwardEvent>("net->forward(x)");
  const ForwardEvent &Inner = W.event<ForwardEvent>("fc->forward(x)");
  EXPECT_EQ(W.placeOf(Outer.Modules), "net");
  EXPECT_TRUE(Outer.Result.mayHaveGraph());
  EXPECT_EQ(Outer.Input.History, history::None);
  EXPECT_EQ(Outer.In, &W->root());
  EXPECT_EQ(Inner.In->Caller, &W->root());
  EXPECT_TRUE(W->isInForward(Inner.In));
  EXPECT_FALSE(W->isInForward(Outer.In));
}

TEST_F(Events, Backward) {
  Entry W = entry("training");
  const ForwardEvent &Forward = W.event<ForwardEvent>("net->forward(x)");
  for (const char *Site :
       {"loss.backward()", "torch::autograd::backward({loss}, {})"}) {
    const BackwardEvent &E = W.event<BackwardEvent>(Site);
    EXPECT_TRUE(E.Root.hasOrigin(Forward.Origin)) << Site;
    EXPECT_FALSE(E.HasInputs) << Site;
  }
  const GradEvent &Grad = *W.all<GradEvent>().front();
  EXPECT_TRUE(Grad.Root.hasOrigin(Forward.Origin));
}

TEST_F(Events, StepAndZeroGrad) {
  Entry W = entry("training");
  const StepEvent &Step = W.event<StepEvent>("sgd.step()");
  EXPECT_EQ(W.placeOf(Step.Optimizers), "sgd");
  EXPECT_FALSE(Step.HasClosure);
  ASSERT_FALSE(Step.Trained.empty()) << "what it trains";
  EXPECT_EQ(W->places().name(W->places().owner(Step.Trained.front())), "net");
  EXPECT_EQ(W.placeOf(W.event<ZeroGradEvent>("sgd.zero_grad()").Cleared),
            "sgd");
  EXPECT_EQ(W.placeOf(W.event<ZeroGradEvent>("net->zero_grad()").Cleared),
            "net");
}

TEST_F(Events, Restricted) {
  Entry W = entry("restricted");
  ASSERT_EQ(W.all<BackwardEvent>().size(), 1u);
  EXPECT_TRUE(W.all<BackwardEvent>().front()->HasInputs);
  ASSERT_EQ(W.all<StepEvent>().size(), 1u);
  EXPECT_TRUE(W.all<StepEvent>().front()->HasClosure);
}

TEST_F(Events, GradientsClearedByHand) {
  Entry W = entry("clearings");
  EXPECT_EQ(W.sites<ZeroGradEvent>(),
            (Texts{"p.grad().zero_()", "p.mutable_grad() = Tensor()",
                   "w.mutable_grad().reset()"}));
  for (const ZeroGradEvent *E : W.all<ZeroGradEvent>())
    for (PlaceId P : E->Cleared)
      EXPECT_EQ(W->places().step(P).Of, Step::Gradient);
  const ZeroGradEvent &ByHand = W.event<ZeroGradEvent>("p.grad().zero_()");
  ASSERT_EQ(ByHand.Cleared.size(), 1u);
  EXPECT_EQ(W->places().name(W->places().owner(ByHand.Cleared.front())), "net");
}

TEST_F(Events, Create) {
  Entry W = entry("objects");
  std::vector<std::string> Named;
  unsigned Heap = 0;
  for (const CreateEvent *E : W.all<CreateEvent>()) {
    ASSERT_EQ(E->Objects.size(), 1u);
    const std::string Name = W.placeOf(E->Objects);
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
  Entry W = entry("loading");
  std::vector<std::string> Loaded;
  for (const LoadEvent *E : W.all<LoadEvent>())
    for (PlaceId P : E->Loaded)
      if (std::string Name = W->places().name(P); !Name.empty())
        Loaded.push_back(Name);
  for (const char *Name : {"script", "given", "net", "data"})
    EXPECT_TRUE(llvm::is_contained(Loaded, Name)) << Name;
}

TEST_F(Events, Store) {
  Entry W = entry("stores");
  auto How = [&](const char *Site) { return W.event<StoreEvent>(Site).How; };
  auto Place = [&](const char *Site) {
    return W.placeOf(W.event<StoreEvent>(Site).Places);
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
      llvm::count(W.sites<StoreEvent>(), "losses.push_back(loss.detach())"), 0)
      << "nothing with a graph is stored";
  const StoreEvent &Append = W.event<StoreEvent>("losses.push_back(loss)");
  EXPECT_EQ(W->origin(Append.Origin).Of, Origin::Through);
  ASSERT_TRUE(Append.Operand);
}

TEST_F(Events, Release) {
  Entry W = entry("releases");
  auto Place = [&](const char *Site) {
    return W.placeOf(W.event<ReleaseEvent>(Site).Places);
  };
  EXPECT_EQ(Place("losses.clear()"), "losses");
  EXPECT_EQ(Place("losses.pop_back()"), "losses");
  EXPECT_EQ(Place("losses.erase(losses.begin())"), "losses");
  EXPECT_EQ(Place("std::move(last)"), "last");
  EXPECT_EQ(Place("last = x.detach()"), "last");
}

TEST_F(Events, Escape) {
  Entry W = entry("escapes");
  EXPECT_EQ(W.sites<EscapeEvent>(), (Texts{"keep(y)", "read(net)", "y"}))
      << "numbers do not matter; what a root returns does";
  EXPECT_EQ(W.placeOf(W.event<EscapeEvent>("keep(y)").Places), "y");
  EXPECT_TRUE(W.event<EscapeEvent>("y").Given.mayHaveGraph());
}

TEST_F(Events, PointsOfEventsAreInOrder) {
  Entry W = entry("training");
  const StepEvent &Step = W.event<StepEvent>("sgd.step()");
  const BackwardEvent &Backward = W.event<BackwardEvent>("loss.backward()");
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

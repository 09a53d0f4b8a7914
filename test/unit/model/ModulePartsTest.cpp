// Modules and what they consist of: which modules and tensors elsewhere belong
// to what is run, trained and cleared.
#include "model/Model.h"

using namespace torchtidy::model;
using namespace torchtidy::test;

namespace {

struct ModuleParts : ModelTest<ModuleParts> {
  static const char Code[];

  /// The names of places that have one.
  static std::set<std::string> names(const Entry &W, const PlaceSet &Places) {
    std::set<std::string> Result;
    for (PlaceId P : Places)
      if (std::string Name = W->places().name(W->places().owner(P));
          !Name.empty())
        Result.insert(Name);
    return Result;
  }
  static const ForwardEvent &forwardOf(const Entry &W) {
    const auto All = W.all<ForwardEvent>();
    static const ForwardEvent None(nullptr);
    EXPECT_FALSE(All.empty());
    return All.empty() ? None : *All.front();
  }
  static const StepEvent &stepOf(const Entry &W) {
    const auto All = W.all<StepEvent>();
    static const StepEvent None(nullptr);
    EXPECT_EQ(All.size(), 1u);
    return All.empty() ? None : *All.front();
  }
  /// What is trained may be in what is run.
  static bool trainsWhatRuns(llvm::StringRef Root) {
    Entry W = entry(Root);
    PlaceSet Owners;
    for (PlaceId P : stepOf(W).Trained)
      insert(Owners, W->places().owner(P));
    return W->mayAlias(Owners, forwardOf(W).Parts);
  }
};

const char ModuleParts::Code[] = R"cpp(
using torch::Tensor;
using torch::nn::Linear; using torch::nn::Sequential; using torch::nn::ModuleList;
using torch::optim::SGD;
using Names = std::set<std::string>;

void shared(Tensor x) {
  Linear body(2, 2), head(2, 2), other(2, 2);
  Sequential net(body, head);
  SGD sgd(net->parameters(), 0.1);
  net->zero_grad();
  net->forward(x).sum().backward();
  sgd.step();
}
void pushed(Tensor x) {
  Linear head(2, 2);
  Sequential net;
  net->push_back(Linear(2, 2));
  net->push_back("head", head);
  SGD sgd(head->parameters(), 0.1);
  net->forward(x).sum().backward();
  sgd.step();
}
struct PairImpl : torch::nn::Module {
  PairImpl(Linear a, Linear b) : first(register_module("a", a)), second(b) {}
  Tensor forward(Tensor x) { return second->forward(first->forward(x)); }
  Linear first, second;
};
TORCH_MODULE(Pair);
void own(Tensor x) {
  Linear body(2, 2), head(2, 2);
  Pair net(body, head);
  SGD sgd(head->parameters(), 0.1);
  net->forward(x).sum().backward();
  sgd.step();
}
void index(Sequential net, Tensor x) {
  SGD sgd(net[1]->parameters(), 0.1);
  net->forward(x).sum().backward();
  sgd.step();
}
void asClass(Sequential net, Tensor x) {
  SGD sgd(net->ptr(1)->as<Linear>()->parameters(), 0.1);
  net->forward(x).sum().backward();
  sgd.step();
}
void children(Pair net, Tensor x) {
  SGD sgd(net->children().back()->parameters(), 0.1);
  net->forward(x).sum().backward();
  sgd.step();
}
void range(Pair net, Tensor x) {
  auto all = net->parameters();
  SGD sgd(std::vector<Tensor>(all.end() - 2, all.end()), 0.1);
  net->forward(x).sum().backward();
  sgd.step();
}
void otherElement(Tensor x) {
  Sequential net(Linear(2, 2)), trained(Linear(2, 2));
  SGD sgd(trained[0]->parameters(), 0.1);
  net->forward(x).sum().backward();
  sgd.step();
}
void frozen(Tensor x) {
  Linear body(2, 2);
  Sequential net(body), half(body, Linear(2, 2));
  for (auto &p : body->parameters())
    p.set_requires_grad(false);
  observe("of frozen parts", net->forward(x.detach()));
  observe("of a frozen and another", half->forward(x.detach()));
}
void read(Linear net) {
  for (auto &p : net->parameters()) {
    if (p.grad().defined())
      p.grad().zero_();
    Tensor kept = p.grad().clone();
  }
}
struct WeightImpl : torch::nn::Module {
  WeightImpl() { w = register_parameter("w", torch::rand({2})); }
  Tensor w;
};
TORCH_MODULE(Weight);
void made() {
  Weight holder;
  observe("behind a holder", holder->w);
  Weight of(std::make_shared<WeightImpl>());
  observe("behind a holder of a pointer", of->w);
  auto shared = std::make_shared<WeightImpl>();
  observe("behind a pointer", shared->w);
}
struct WeightOwner {
  WeightOwner() : weight(std::make_unique<WeightImpl>()) {}
  std::unique_ptr<WeightImpl> weight;
};
void owned() {
  WeightOwner owner;
  observe("behind a member", owner.weight->w);
}

struct EndImpl : torch::nn::Module {
  Tensor forward(Tensor x) { observe("at the end", x); return x.detach(); }
};
TORCH_MODULE(End);
struct StartImpl : torch::nn::Module {
  StartImpl() : fc(register_module("fc", Linear(2, 2))) {}
  Tensor forward(Tensor x) { observe("at the start", x); return fc->forward(x); }
  Linear fc;
};
TORCH_MODULE(Start);
void chain(Tensor x) {
  Sequential net(Start(), Linear(2, 2), End());
  observe("of the chain", net->forward(x.detach()));
}
void any(Tensor x) {
  torch::nn::AnyModule net(Start{});
  observe("of any", net.forward(x.detach()));
}
void unknown(Sequential net, Tensor x) {
  observe("of unknown", net->forward(x.detach()));
}
)cpp";

} // namespace

TEST_F(ModuleParts, GivenOnes) {
  Entry W = entry("shared");
  const std::set<std::string> All = {"net", "body", "head"};
  EXPECT_EQ(names(W, forwardOf(W).Parts), All);
  EXPECT_EQ(names(W, stepOf(W).Trained), All);
  const auto &Cleared = W.event<ZeroGradEvent>("net->zero_grad()");
  EXPECT_EQ(names(W, Cleared.Cleared), std::set<std::string>{"net"});
  EXPECT_EQ(names(W, Cleared.Trained), All);
  EXPECT_TRUE(trainsWhatRuns("pushed"));
  EXPECT_TRUE(trainsWhatRuns("own"));
}

TEST_F(ModuleParts, HoweverReached) {
  for (const char *Root : {"index", "asClass", "children", "range"})
    EXPECT_TRUE(trainsWhatRuns(Root)) << Root;
  EXPECT_FALSE(trainsWhatRuns("otherElement"));
}

TEST_F(ModuleParts, Frozen) {
  Entry W = entry("frozen");
  EXPECT_FALSE(W.observed("of frozen parts").mayHaveGraph());
  EXPECT_TRUE(W.observed("of a frozen and another").mayHaveGraph());
}

TEST_F(ModuleParts, ReadingAGradient) {
  EXPECT_EQ(entry("read").sites<ReadGradientEvent>(),
            std::vector<std::string>{"p.grad()"});
}

TEST_F(ModuleParts, MadeByAHolder) {
  Entry W = entry("made");
  EXPECT_EQ(W.observed("behind a holder").History, history::Leaf);
  EXPECT_EQ(W.observed("behind a holder of a pointer").History, history::Leaf);
  EXPECT_EQ(W.observed("behind a pointer").History, history::Leaf);
  EXPECT_EQ(entry("owned").observed("behind a member").History, history::Leaf);
}

TEST_F(ModuleParts, RunByAContainer) {
  Entry W = entry("chain");
  EXPECT_FALSE(W.observed("at the start").mayHaveGraph());
  EXPECT_TRUE(W.observed("at the end").mayHaveGraph());
  EXPECT_FALSE(W.observed("of the chain").mayHaveGraph());
  EXPECT_TRUE(entry("any").observed("of any").mayHaveGraph());
  EXPECT_EQ(entry("unknown")->graph().frames().size(), 1u);
}

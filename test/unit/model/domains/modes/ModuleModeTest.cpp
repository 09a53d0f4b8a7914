// Whether a module is in train or eval mode where it is run.
#include "model/Model.h"

using namespace torchtidy::model;
using namespace torchtidy::test;

namespace {

struct ModuleMode : ModelTest<ModuleMode> {
  static const char Code[];
};

const char ModuleMode::Code[] = R"cpp(
using torch::Tensor;
struct NetImpl : torch::nn::Module {
  NetImpl() {
    fc = register_module("fc", torch::nn::Linear(2, 2));
    drop = register_module("drop", torch::nn::Dropout(0.5));
  }
  Tensor forward(Tensor x) { return drop->forward(fc->forward(x)); }
  torch::nn::Linear fc{nullptr};
  torch::nn::Dropout drop{nullptr};
};
TORCH_MODULE(Net);

void changes(Tensor x) {
  Net net;
  net->forward(x * 1);
  net->eval();
  net->forward(x * 2);
  net->train();
  net->forward(x * 3);
  net->train(false);
  net->forward(x * 4);
}

void given(Net net, Tensor x) { net->forward(x); }

void unknown(bool training, Net net, Tensor x) {
  net->train(training);
  net->forward(x);
}

void paths(bool quiet, Net net, Tensor x) {
  net->train();
  if (quiet)
    net->eval();
  net->forward(x);
}

void phases(Net net, Tensor x) {
  for (int epoch = 0; epoch < 3; ++epoch) {
    net->train();
    net->forward(x * 1);
    net->eval();
    net->forward(x * 2);
  }
}

void run(Net &net, Tensor x) { net->forward(x); }
void evaluate(Net &net, Tensor x) { run(net, x); }
void caller(Tensor x) {
  Net net;
  net->eval();
  evaluate(net, x);
}

void prepare(Net &net) { net->eval(); }
void prepared(Net net, Tensor x) {
  prepare(net);
  net->forward(x);
}

void copies(Tensor x) {
  Net net;
  Net same = net;
  same->eval();
  net->forward(x);
}

void pointers(Tensor x) {
  auto net = std::make_shared<NetImpl>();
  std::shared_ptr<NetImpl> same = net;
  same->eval();
  net->forward(x);
}

void cloned(Tensor x) {
  Net net;
  net->eval();
  auto copy = std::dynamic_pointer_cast<NetImpl>(net->clone());
  net->train();
  copy->forward(x);
  for (auto &p : net->parameters())
    p.requires_grad_(false);
  auto next = std::static_pointer_cast<NetImpl>(net->clone());
  observe("original", net->fc->weight);
  observe("copy", next->fc->weight);
}

void layer(Tensor x) {
  Net net;
  net->eval();
  net->fc->forward(x);
}

struct Trainer {
  Net net;
  void evaluate(Tensor x) { net->eval(); run(x); net->train(); }
  void run(Tensor x) { net->forward(x); }
};
)cpp";

constexpr unsigned Train = mode::On, Eval = mode::Off;

/// The mode at the only forward of the network in an entry.
unsigned modeIn(const Entry &W, llvm::StringRef Site = "net->forward(x)") {
  return W.event<ForwardEvent>(Site).Mode;
}

} // namespace

TEST_F(ModuleMode, Changes) {
  Entry W = entry("changes");
  EXPECT_EQ(modeIn(W, "net->forward(x * 1)"), Train) << "as it is made";
  EXPECT_EQ(modeIn(W, "net->forward(x * 2)"), Eval);
  EXPECT_EQ(modeIn(W, "net->forward(x * 3)"), Train);
  EXPECT_EQ(modeIn(W, "net->forward(x * 4)"), Eval);
  EXPECT_EQ(W.all<ModeChangeEvent>().size(), 3u);
  const ModeChangeEvent &Change = W.event<ModeChangeEvent>("net->eval()");
  EXPECT_EQ(Change.Mode, Eval);
  EXPECT_EQ(W.placeOf(Change.Modules), "net");
}

TEST_F(ModuleMode, Unknown) {
  EXPECT_EQ(modeIn(entry("given")), mode::Inherited);
  EXPECT_EQ(modeIn(entry("unknown")), Train | Eval);
}

TEST_F(ModuleMode, PathsAreJoined) {
  EXPECT_EQ(modeIn(entry("paths")), Train | Eval);
  EXPECT_EQ(modeIn(entry("phases"), "net->forward(x * 1)"), Train);
  EXPECT_EQ(modeIn(entry("phases"), "net->forward(x * 2)"), Eval);
}

TEST_F(ModuleMode, SetInACallerOrAHelper) {
  EXPECT_EQ(modeIn(entry("caller")), Eval);
  EXPECT_EQ(modeIn(entry("prepared")), Eval);
  EXPECT_EQ(modeIn(entry("Trainer::evaluate")), Eval);
}

TEST_F(ModuleMode, HandlesShareTheModule) {
  EXPECT_EQ(modeIn(entry("copies")), Eval);
  EXPECT_EQ(modeIn(entry("pointers")), Eval);
}

TEST_F(ModuleMode, ClonesAreObjectsOfTheirOwn) {
  Entry W = entry("cloned");
  EXPECT_EQ(modeIn(W, "copy->forward(x)"), Eval) << "as the original was then";
  EXPECT_EQ(W.observed("original").History, history::None);
  EXPECT_EQ(W.observed("copy").History, history::Leaf)
      << "reset() made it anew";
}

TEST_F(ModuleMode, LayersGoWithTheirNetwork) {
  EXPECT_EQ(modeIn(entry("layer"), "net->fc->forward(x)"), Eval);
  EXPECT_EQ(modeIn(entry("caller"), "fc->forward(x)"), Eval);
}

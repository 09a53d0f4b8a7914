// Graphs that are kept. The tests of torch-retained-graph
// (test/checks) have many more programs.
#include "memory/RetainedGraph.h"
#include "model/Model.h"

using namespace torchtidy::model;
using namespace torchtidy::test;

namespace {

struct Retained : ModelTest<Retained> {
  static const char Code[];
  static std::vector<Retention> ask(llvm::StringRef Root) {
    return entry(Root).of(retentions(Shared->program()));
  }
};

const char Retained::Code[] = R"cpp(
#include <deque>
using torch::Tensor;
using torch::nn::Linear;

void grows(Linear net, Tensor x) {
  std::vector<Tensor> losses;
  for (int i = 0; i < 3; ++i) {
    Tensor loss = net->forward(x).sum();
    loss.backward();
    losses.push_back(loss);
  }
}
void detached(Linear net, Tensor x) {
  std::vector<Tensor> losses;
  for (int i = 0; i < 3; ++i) {
    Tensor loss = net->forward(x).sum();
    loss.backward();
    losses.push_back(loss.detach());
  }
}
void chains(Linear net, Tensor x) {
  Tensor total = torch::zeros({1});
  for (int i = 0; i < 3; ++i) {
    Tensor loss = net->forward(x).sum();
    loss.backward();
    total += loss;
  }
}
void numbers(Linear net, Tensor x) {
  double total = 0;
  for (int i = 0; i < 3; ++i) {
    Tensor loss = net->forward(x).sum();
    loss.backward();
    total += loss.item<double>();
  }
}
void overwrites(Linear net, Tensor x) {
  Tensor last;
  for (int i = 0; i < 3; ++i) {
    Tensor loss = net->forward(x).sum();
    loss.backward();
    last = loss;
  }
}
void overwritesWithoutBackward(Linear net, Tensor x) {
  Tensor last;
  for (int i = 0; i < 3; ++i) {
    Tensor y = net->forward(x).sum();
    last = y;
  }
}
void overwritesRetained(Linear net, Tensor x) {
  Tensor last;
  for (int i = 0; i < 3; ++i) {
    Tensor loss = net->forward(x).sum();
    loss.backward({}, /*retain_graph=*/true);
    last = loss;
  }
}
void ofATuple(Linear net, Tensor x) {
  std::optional<std::tuple<int, Tensor>> last;
  for (int i = 0; i < 3; ++i) {
    Tensor y = net->forward(x).sum();
    last = std::make_tuple(i, y);
  }
}
void maximum(Linear net, Tensor x) {
  Tensor worst = torch::zeros({});
  for (int i = 0; i < 3; ++i) {
    Tensor loss = net->forward(x).sum();
    loss.backward();
    worst = torch::max(worst, loss);
  }
}
void choice(Linear net, Tensor x) {
  Tensor best = torch::zeros({});
  for (int i = 0; i < 3; ++i) {
    Tensor loss = net->forward(x).sum();
    loss.backward();
    best = i > 1 ? best : torch::relu(loss);
  }
}
void readDetached(Linear net, Tensor x) {
  Tensor h = torch::zeros({2});
  for (int i = 0; i < 3; ++i) {
    Tensor next = net->forward(h.detach());
    h = next;
  }
}
void intoALeaf(Linear net, Tensor x) {
  for (int i = 0; i < 3; ++i)
    net->weight.copy_(net->forward(x));
}
void names(Linear net, Tensor x) {
  std::vector<std::string> all;
  for (int i = 0; i < 3; ++i)
    all.push_back(net->forward(x).grad_fn()->name());
}
void cleared(Linear net, Tensor x) {
  std::vector<Tensor> losses;
  for (int i = 0; i < 3; ++i) {
    losses.push_back(net->forward(x).sum());
    torch::stack(losses).detach();
    losses.clear();
  }
}
void backwarded(Linear net, Tensor x) {
  std::vector<Tensor> losses;
  for (int i = 0; i < 3; ++i)
    losses.push_back(net->forward(x).sum());
  torch::stack(losses).sum().backward();
}
void guarded(Linear net, Tensor x) {
  torch::NoGradGuard no_grad;
  std::vector<Tensor> outputs;
  for (int i = 0; i < 3; ++i)
    outputs.push_back(net->forward(x));
}
void inIteration(Linear net, Tensor x) {
  for (int i = 0; i < 3; ++i) {
    std::vector<Tensor> parts;
    parts.push_back(net->forward(x));
    parts.back().sum().backward();
  }
}
std::vector<Tensor> returned(Linear net, Tensor x) {
  std::vector<Tensor> losses;
  for (int i = 0; i < 3; ++i)
    losses.push_back(net->forward(x));
  return losses;
}
struct Log { std::vector<Tensor> losses; void add(Tensor loss) { losses.push_back(loss); } };
void byMethod(Linear net, Tensor x) {
  Log log;
  for (int i = 0; i < 3; ++i)
    log.add(net->forward(x).sum());
}

// The graph begins with an operation on a leaf, beside a member that nothing is
// known of.
struct Mixer {
  Tensor other;
  std::vector<Tensor> kept;
  void run() {
    Tensor weight = torch::randn({2}, torch::requires_grad());
    for (int i = 0; i < 3; ++i) {
      Tensor y = other * weight;
      kept.push_back(y);
      y.sum().backward();
    }
  }
};

struct ReadDetached {
  void add(Linear net, Tensor x) { values.push_back(net->forward(x)); }
  Tensor detached() { return torch::stack(values).detach(); }
  float number() { return values.back().item<float>(); }
  std::vector<Tensor> values;
};
struct ReadForTraining {
  void collect(Linear net, Tensor x) { values.push_back(net->forward(x)); }
  Tensor detached() { return torch::stack(values).detach(); }
  void train() { torch::stack(values).sum().backward(); }
  std::vector<Tensor> values;
};
)cpp";

} // namespace

TEST_F(Retained, Grows) {
  Entry W = entry("grows");
  auto Kept = W.of(retentions(Shared->program()));
  ASSERT_EQ(Kept.size(), 1u);
  EXPECT_EQ(Kept[0].How, Retention::Grows);
  EXPECT_EQ(W->places().name(Kept[0].Place), "losses");
  EXPECT_TRUE(Kept[0].IsBackwarded);
  ASSERT_TRUE(Kept[0].Built);
  EXPECT_EQ(Kept[0].Built->Of, Origin::Forward);
  ASSERT_TRUE(Kept[0].Around);
  EXPECT_TRUE(Kept[0].Around->contains(Kept[0].Store->Point));
}

TEST_F(Retained, Chains) {
  auto Kept = ask("chains");
  ASSERT_EQ(Kept.size(), 1u);
  EXPECT_EQ(Kept[0].How, Retention::Chains);
}

TEST_F(Retained, Overwrites) {
  auto Kept = ask("overwrites");
  ASSERT_EQ(Kept.size(), 1u);
  EXPECT_EQ(Kept[0].How, Retention::Overwrites);
}

TEST_F(Retained, OverwritesFreed) {
  EXPECT_TRUE(ask("overwrites").at(0).IsFreed);
  ASSERT_EQ(ask("overwritesWithoutBackward").size(), 1u);
  EXPECT_FALSE(ask("overwritesWithoutBackward")[0].IsFreed);
  EXPECT_FALSE(ask("overwritesRetained").at(0).IsFreed);
}

TEST_F(Retained, OverwritesATuple) {
  auto Kept = ask("ofATuple");
  ASSERT_EQ(Kept.size(), 1u);
  EXPECT_EQ(Kept[0].How, Retention::Overwrites);
}

TEST_F(Retained, ChainsByAnyOperation) {
  auto Kept = ask("maximum");
  ASSERT_EQ(Kept.size(), 1u);
  EXPECT_EQ(Kept[0].How, Retention::Chains);
  EXPECT_TRUE(Kept[0].IsComputed);
  EXPECT_TRUE(ask("choice").empty()) << "a copy of one or the other";
}

TEST_F(Retained, KeepsNothing) {
  EXPECT_TRUE(ask("readDetached").empty());
  EXPECT_TRUE(ask("intoALeaf").empty());
  EXPECT_TRUE(ask("names").empty());
}

TEST_F(Retained, ThroughAMethod) {
  auto Kept = ask("byMethod");
  ASSERT_EQ(Kept.size(), 1u);
  EXPECT_FALSE(Kept[0].IsBackwarded);
  EXPECT_EQ(entry("byMethod")->places().name(Kept[0].Place), "log.losses");
}

TEST_F(Retained, WithoutHistory) {
  EXPECT_TRUE(ask("detached").empty());
  EXPECT_TRUE(ask("numbers").empty());
  EXPECT_TRUE(ask("guarded").empty());
}

TEST_F(Retained, LetGo) {
  EXPECT_TRUE(ask("cleared").empty());
  EXPECT_TRUE(ask("inIteration").empty());
}

TEST_F(Retained, Used) {
  EXPECT_TRUE(ask("backwarded").empty());
  EXPECT_TRUE(ask("returned").empty()) << "whoever gets them may use them";
}

TEST_F(Retained, BuiltByAnOperationBesideAMember) {
  auto Kept = ask("Mixer::run");
  ASSERT_EQ(Kept.size(), 1u);
  ASSERT_TRUE(Kept[0].Built);
  EXPECT_EQ(Kept[0].Built->Of, Origin::Operation);
  EXPECT_TRUE(Kept[0].Built->Site);
}

TEST_F(Retained, OverCallsWhereNobodyWantsTheGraph) {
  auto Kept = ask("ReadDetached::add");
  ASSERT_EQ(Kept.size(), 1u);
  EXPECT_EQ(Kept[0].How, Retention::Grows);
  EXPECT_FALSE(Kept[0].Around);
  EXPECT_TRUE(Kept[0].Reader);
  EXPECT_TRUE(ask("ReadForTraining::collect").empty());
}

// The transfer function is a function: of a segment and a state, and of nothing
// that happened before.
#include "model/interpreter/Interpreter.h"
#include "flow/Solver.h"
#include "model/Model.h"

using namespace torchtidy;
using namespace torchtidy::model;
using namespace torchtidy::test;

namespace {

struct Transfer : ModelTest<Transfer> {
  static const char Code[];
};

const char Transfer::Code[] = R"cpp(
#include <functional>
#include <memory>
#include <optional>
#include <vector>
using torch::Tensor;

struct Net : torch::nn::Module {
  torch::nn::Linear layer{nullptr};
  Tensor state;
  Net() { layer = register_module("layer", torch::nn::Linear(4, 4)); }
  Tensor forward(Tensor x) {
    state = layer->forward(x) + state;
    return torch::relu(state);
  }
};

Tensor scaled(Tensor x, double by) { return x.defined() ? x * by : x; }

float train(int steps, std::vector<float> &kept) {
  auto net = std::make_shared<Net>();
  torch::optim::Adam optimizer(net->parameters(), 1e-3);
  std::vector<Tensor> losses = {torch::zeros({1}), scaled(torch::ones({1}), 2)};
  std::optional<torch::NoGradGuard> guard;
  for (int i = 0; i < steps; ++i) {
    std::vector<float> data(16, 1.f);
    Tensor x = torch::from_blob(data.data(), {4, 4}, torch::kFloat);
    if (i % 2)
      data.reserve(100);
    data.push_back(1.f);
    Tensor loss = scaled(net->forward(x), i > 3 ? 0.5 : 1).sum();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    losses.push_back(loss);
    std::tie(x, loss) = std::make_tuple(loss.detach(), x);
    if (i > 5)
      guard.emplace();
    const float *first = torch::ones({2}).data_ptr<float>();
    kept.swap(data);
    (void)*first;
  }
  std::function<Tensor()> later = [losses] { return losses.back(); };
  return later().item<float>();
}
)cpp";

/// What the events of one transfer say.
std::vector<std::pair<Event::Kind, const clang::Expr *>>
record(Interpreter &Meaning, const Segment &Of, const State &Before,
       State &After) {
  std::vector<std::pair<Event::Kind, const clang::Expr *>> Result;
  auto Take = [&](EventPtr E) { Result.push_back({E->Is, E->Site}); };
  const Machine::Recorder Record = Take;
  After = Meaning.transfer(Of, Before, &Record);
  return Result;
}

flow::Solution<State> solved(Interpreter &Meaning, const Supergraph &Graph) {
  auto Solve = [&](flow::Digraph::Node N, const State &Before) {
    return Meaning.transfer(Graph.segment(N), Before);
  };
  auto Join = [&](State &Into, const State &From, flow::Digraph::Node) {
    return Meaning.join(Into, From);
  };
  return flow::solve(Graph.graph(), Graph.entry(), Meaning.initialState(),
                     Solve, Join, flow::Direction::Forward);
}

TEST_F(Transfer, IsAFunctionOfItsArguments) {
  model::Code Program(Shared->context());
  const Supergraph Graph(Program, Shared->function("train"), false);
  Interpreter Meaning(Graph, Program);
  const flow::Solution<State> Solved = solved(Meaning, Graph);
  ASSERT_TRUE(Solved.Complete);
  unsigned Reached = 0, Events = 0;
  // From the last segment to the first, and once more: neither the order nor
  // what went before shows in the result.
  for (unsigned Round = 0; Round < 2; ++Round)
    for (flow::Digraph::Node N = Graph.graph().size(); N-- > 0;) {
      if (!Solved.Before[N])
        continue;
      const State &Before = *Solved.Before[N];
      State First, Second;
      const auto Told = record(Meaning, Graph.segment(N), Before, First);
      EXPECT_EQ(Told, record(Meaning, Graph.segment(N), Before, Second));
      EXPECT_TRUE(First == Second) << "segment " << N;
      // Whether somebody takes down what happens changes nothing.
      EXPECT_TRUE(First == Meaning.transfer(Graph.segment(N), Before))
          << "segment " << N;
      ++Reached;
      Events += Told.size();
      // It is solved: what comes out is known behind it.
      for (flow::Digraph::Node Next : Graph.graph().successors(N)) {
        State Into = *Solved.Before[Next];
        EXPECT_FALSE(Meaning.join(Into, First)) << N << " -> " << Next;
      }
    }
  EXPECT_GT(Reached, 50u);
  EXPECT_GT(Events, 50u);
}

TEST_F(Transfer, ForgetsWhatPartsOfStatementsDenoted) {
  model::Code Program(Shared->context());
  const Supergraph Graph(Program, Shared->function("train"), false);
  Interpreter Meaning(Graph, Program);
  const flow::Solution<State> Solved = solved(Meaning, Graph);
  size_t Most = 0;
  for (const std::optional<State> &Before : Solved.Before)
    if (Before)
      Most = std::max(Most, Before->Denotations.size());
  EXPECT_GT(Most, 0u);
  // One statement, in a few activations; the program has over a hundred.
  EXPECT_LT(Most, 40u);
}

} // namespace

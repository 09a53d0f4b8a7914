// State that goes from one iteration to the next with its graph:
// what is said of it, in a loop. UndetachedHiddenStateCallsTest has members and
// globals, UndetachedHiddenStateDetachingTest the ways to cut the graph.
#include "autograd/UndetachedHiddenState.h"
#include "model/Model.h"

using namespace torchtidy::model;
using namespace torchtidy::test;

namespace {

struct Recurrence : ModelTest<Recurrence> {
  static const char Code[];
  static std::vector<CarriedState> ask(llvm::StringRef Root) {
    std::vector<CarriedState> Result;
    for (CarriedState &Found : carriedStates(Shared->program()))
      if (Found.Entry->root().Function->getQualifiedNameAsString() == Root)
        Result.push_back(std::move(Found));
    return Result;
  }
  /// The only one.
  static CarriedState one(llvm::StringRef Root) {
    std::vector<CarriedState> All = ask(Root);
    EXPECT_EQ(All.size(), 1u) << Root.str();
    return All.empty() ? CarriedState() : All.front();
  }
  static std::string text(const clang::Expr *E) {
    return E ? Shared->program().text(E) : "";
  }
};

const char Recurrence::Code[] = R"cpp(
#include <algorithm>
using torch::Tensor;
using torch::nn::GRUCell; using torch::nn::LSTMCell; using torch::nn::LSTM;
using torch::optim::SGD;
using Tensors = std::vector<Tensor>;

void throwing(GRUCell cell, const Tensors &xs) {
  Tensor h = torch::zeros({4, 8});
  for (const auto &x : xs) {
    h = cell->forward(x, h);
    h.sum().backward();
  }
}
void retaining(GRUCell cell, const Tensors &xs) {
  Tensor h = torch::zeros({4, 8});
  for (const auto &x : xs) {
    h = cell->forward(x, h);
    h.sum().backward({}, true);
  }
}
void growing(const Tensors &xs) {
  GRUCell cell(8, 8);
  torch::AutoGradMode on(true);
  Tensor h = torch::zeros({4, 8});
  for (const auto &x : xs) {
    h = cell->forward(x, h);
    h.sum().item<float>();
  }
}
void both(LSTMCell cell, const Tensors &xs) {
  Tensor h = torch::zeros({4, 8}), c = torch::zeros({4, 8});
  for (const auto &x : xs) {
    auto next = cell->forward(x, std::make_tuple(h, c));
    h = std::get<0>(next);
    c = std::get<1>(next);
    h.sum().backward();
  }
}
void twoCells(GRUCell first, GRUCell second, const Tensors &xs) {
  Tensor h = torch::zeros({4, 8}), g = torch::zeros({4, 8});
  for (const auto &x : xs) {
    h = first->forward(x, h);
    g = second->forward(x, g);
    (h + g).sum().backward();
  }
}
void tied(LSTM net, const Tensors &xs) {
  std::tuple<Tensor, Tensor> state;
  Tensor out;
  for (const auto &x : xs) {
    std::tie(out, state) = net->forward(x, state);
    out.sum().backward();
  }
}
void nestedTie(LSTM net, const Tensors &xs) {
  Tensor out, h = torch::zeros({1, 4, 8}), c = torch::zeros({1, 4, 8});
  for (const auto &x : xs) {
    std::forward_as_tuple(out, std::tie(h, c)) =
        net->forward(x, std::make_tuple(h, c));
    out.sum().backward();
  }
}
void written(const Tensors &xs) {
  Tensor w = torch::randn({8, 8}, torch::requires_grad());
  Tensor h = torch::zeros({4, 8});
  for (const auto &x : xs) {
    h = torch::tanh(torch::matmul(h, w) + x);
    h.sum().backward();
  }
}
void outerLoop(GRUCell cell, const Tensors &xs) {
  Tensor h = torch::zeros({4, 8});
  for (int epoch = 0; epoch < 3; ++epoch) {
    for (const auto &x : xs)
      h = cell->forward(x, h);
    h.sum().backward();
  }
}
Tensor advance(GRUCell &cell, const Tensor &x, const Tensor &h) {
  return cell->forward(x, h);
}
void learn(const Tensor &loss) { loss.backward(); }
void throughHelpers(GRUCell cell, const Tensors &xs) {
  Tensor h = torch::zeros({4, 8});
  for (const auto &x : xs) {
    h = advance(cell, x, h);
    learn(h.sum());
  }
}
void repeated(GRUCell cell, const Tensors &xs) {
  Tensor h = torch::zeros({4, 8});
  std::for_each(xs.begin(), xs.end(), [&](const Tensor &x) {
    h = cell->forward(x, h);
    h.sum().backward();
  });
}
void layers(GRUCell cell, const Tensors &xs) {
  Tensors states(2);
  for (const auto &x : xs) {
    for (size_t i = 0; i < 2; ++i)
      states[i] = cell->forward(x, states[i]);
    states[1].sum().backward();
  }
}
void closure(GRUCell cell, torch::optim::LBFGS &opt, const Tensors &xs) {
  Tensor h = torch::zeros({4, 8});
  for (const auto &x : xs) {
    opt.step([&] {
      opt.zero_grad();
      h = cell->forward(x, h);
      Tensor loss = h.sum();
      loss.backward();
      return loss;
    });
  }
}

// Quiet.
void sequence(GRUCell cell, const Tensors &xs) {
  Tensor h = torch::zeros({4, 8});
  for (const auto &x : xs)
    h = cell->forward(x, h);
  h.sum().backward();
}
void afresh(GRUCell cell, const Tensors &xs) {
  for (const auto &x : xs) {
    Tensor h = torch::zeros({4, 8});
    for (int t = 0; t < 3; ++t)
      h = cell->forward(x, h);
    h.sum().backward();
  }
}
void reset(GRUCell cell, const Tensors &xs) {
  Tensor h;
  for (const auto &x : xs) {
    h = torch::zeros({4, 8});
    h = cell->forward(x, h);
    h.sum().backward();
  }
}
void guarded(GRUCell cell, const Tensors &xs) {
  torch::NoGradGuard no_grad;
  Tensor h = torch::zeros({4, 8});
  for (const auto &x : xs)
    h = cell->forward(x, h);
}
void unread(GRUCell cell, const Tensors &xs) {
  Tensor h;
  for (const auto &x : xs) {
    h = cell->forward(x, torch::zeros({4, 8}));
    h.sum().backward();
  }
}
Tensor returned(GRUCell cell, const Tensors &xs) {
  Tensor h = torch::zeros({4, 8});
  for (const auto &x : xs)
    h = cell->forward(x, h);
  return h;
}
void foreign(Tensor &state);
void handedOut(GRUCell cell, const Tensors &xs) {
  Tensor h = torch::zeros({4, 8});
  for (const auto &x : xs) {
    h = cell->forward(x, h);
    h.sum().backward();
    foreign(h);
  }
}
void summed(GRUCell cell, const Tensors &xs, Tensor h) {
  Tensor total = torch::zeros({1});
  for (const auto &x : xs)
    total += cell->forward(x, h).sum();
  total.backward();
}
void inherited(GRUCell cell, const Tensors &xs) {
  Tensor h = torch::zeros({4, 8});
  for (const auto &x : xs)
    h = cell->forward(x, h);
}
)cpp";

} // namespace

TEST_F(Recurrence, Throws) {
  CarriedState Found = one("throwing");
  ASSERT_TRUE(Found.Entry);
  EXPECT_EQ(Found.Outcome, CarriedState::Throws);
  EXPECT_EQ(text(Found.Store->Site), "h = cell->forward(x, h)");
  EXPECT_EQ(Found.Entry->places().name(Found.Place), "h");
  EXPECT_TRUE(Found.Others.empty());
  ASSERT_TRUE(Found.Around);
  EXPECT_TRUE(Found.Around->contains(Found.Store->Point));
  ASSERT_TRUE(Found.Backward);
  EXPECT_EQ(text(Found.Backward->Site), "h.sum().backward()");
  EXPECT_TRUE(Found.Around->contains(Found.Backward->Point));
  ASSERT_TRUE(Found.Built);
  EXPECT_EQ(Found.Built->Of, Origin::Forward);
  EXPECT_EQ(text(Found.Built->Site), "cell->forward(x, h)");
}

TEST_F(Recurrence, Retained) {
  CarriedState Found = one("retaining");
  ASSERT_TRUE(Found.Entry);
  EXPECT_EQ(Found.Outcome, CarriedState::Retained);
  ASSERT_TRUE(Found.Backward);
  EXPECT_TRUE(Found.Backward->RetainsGraph);
}

TEST_F(Recurrence, Grows) {
  CarriedState Found = one("growing");
  ASSERT_TRUE(Found.Entry);
  EXPECT_EQ(Found.Outcome, CarriedState::Grows);
  EXPECT_FALSE(Found.Backward);
  EXPECT_TRUE(Found.Around);
  EXPECT_TRUE(Found.Built);
}

TEST_F(Recurrence, WhoeverCallsMayHoldAGuard) {
  EXPECT_TRUE(ask("inherited").empty());
}

TEST_F(Recurrence, TheTwoStatesOfACellAreOne) {
  CarriedState Found = one("both");
  ASSERT_TRUE(Found.Entry);
  ASSERT_EQ(Found.Others.size(), 1u);
  std::set<std::string> Sites = {text(Found.Store->Site),
                                 text(Found.Others[0]->Site)};
  EXPECT_EQ(Sites, (std::set<std::string>{"h = std::get<0>(next)",
                                          "c = std::get<1>(next)"}));
}

TEST_F(Recurrence, TwoCellsHaveTwoStates) {
  auto Found = ask("twoCells");
  ASSERT_EQ(Found.size(), 2u);
  EXPECT_NE(Found[0].Built, Found[1].Built);
  EXPECT_TRUE(Found[0].Others.empty());
  EXPECT_TRUE(Found[1].Others.empty());
}

TEST_F(Recurrence, Tied) {
  CarriedState Found = one("tied");
  ASSERT_TRUE(Found.Entry);
  EXPECT_EQ(Found.Outcome, CarriedState::Throws);
  EXPECT_EQ(Found.Entry->places().name(Found.Place), "state");
  EXPECT_EQ(text(Found.Store->Target), "state");
  EXPECT_TRUE(Found.Others.empty()) << "the output is no state";
}

TEST_F(Recurrence, TiedInATie) {
  CarriedState Found = one("nestedTie");
  ASSERT_TRUE(Found.Entry);
  EXPECT_EQ(Found.Outcome, CarriedState::Throws);
  ASSERT_EQ(Found.Others.size(), 1u);
  std::set<std::string> Targets = {text(Found.Store->Target),
                                   text(Found.Others[0]->Target)};
  EXPECT_EQ(Targets, (std::set<std::string>{"h", "c"}));
}

TEST_F(Recurrence, ACellThatIsWrittenOut) {
  CarriedState Found = one("written");
  ASSERT_TRUE(Found.Entry);
  EXPECT_EQ(Found.Outcome, CarriedState::Throws);
  ASSERT_TRUE(Found.Built);
  EXPECT_EQ(Found.Built->Of, Origin::Operation);
}

TEST_F(Recurrence, AroundTheLoopWithTheBackward) {
  CarriedState Found = one("outerLoop");
  ASSERT_TRUE(Found.Entry);
  EXPECT_EQ(Found.Outcome, CarriedState::Throws);
  auto Around = Found.Entry->loopsAround(Found.Store->Point);
  ASSERT_EQ(Around.size(), 2u);
  EXPECT_EQ(Found.Around, Around[0]) << "the inner loop is one sequence";
}

TEST_F(Recurrence, ThroughHelpers) {
  CarriedState Found = one("throughHelpers");
  ASSERT_TRUE(Found.Entry);
  EXPECT_EQ(Found.Outcome, CarriedState::Throws);
  EXPECT_EQ(text(Found.Store->Site), "h = advance(cell, x, h)");
  EXPECT_EQ(text(Found.Backward->Site), "loss.backward()");
  ASSERT_TRUE(Found.Built);
  EXPECT_EQ(text(Found.Built->Site), "cell->forward(x, h)");
}

TEST_F(Recurrence, AnAlgorithmIsALoop) {
  CarriedState Found = one("repeated");
  ASSERT_TRUE(Found.Entry);
  EXPECT_EQ(Found.Outcome, CarriedState::Throws);
  const clang::Stmt *Loop = Found.Entry->loopStatement(*Found.Around);
  EXPECT_TRUE(clang::isa_and_nonnull<clang::CallExpr>(Loop));
}

TEST_F(Recurrence, ElementsOfAContainer) {
  CarriedState Found = one("layers");
  ASSERT_TRUE(Found.Entry);
  EXPECT_EQ(Found.Outcome, CarriedState::Throws);
  EXPECT_EQ(Found.Entry->places().name(Found.Place), "states");
  EXPECT_EQ(Found.Around, Found.Entry->loopsAround(Found.Store->Point).front());
}

TEST_F(Recurrence, TheClosureOfAnOptimizerIsExpanded) {
  Entry W = entry("closure");
  EXPECT_EQ(W.sites<ForwardEvent>(),
            std::vector<std::string>{"cell->forward(x, h)"});
  EXPECT_EQ(W.sites<BackwardEvent>(),
            std::vector<std::string>{"loss.backward()"});
  const ForwardEvent &Forward = *W.all<ForwardEvent>().front();
  EXPECT_TRUE(Forward.In->Caller) << "an activation of the lambda";
  CarriedState Found = one("closure");
  ASSERT_TRUE(Found.Entry);
  EXPECT_EQ(Found.Outcome, CarriedState::Throws);
}

TEST_F(Recurrence, OneSequence) {
  EXPECT_TRUE(ask("sequence").empty());
  EXPECT_TRUE(ask("afresh").empty());
  EXPECT_TRUE(ask("summed").empty()) << "a sum of losses is no state";
}

TEST_F(Recurrence, MadeAfresh) {
  EXPECT_TRUE(ask("reset").empty());
  EXPECT_TRUE(ask("unread").empty()) << "nothing reads what is stored";
}

TEST_F(Recurrence, UnderAGuard) { EXPECT_TRUE(ask("guarded").empty()); }

TEST_F(Recurrence, LeavesWhatIsAnalysed) {
  EXPECT_TRUE(ask("returned").empty());
  EXPECT_TRUE(ask("handedOut").empty()) << "it may detach it";
}

TEST_F(Recurrence, TheOriginOfABackward) {
  Entry W = entry("throwing");
  const BackwardEvent &Backward = *W.all<BackwardEvent>().front();
  const StoreEvent &Store = W.event<StoreEvent>("h = cell->forward(x, h)");
  EXPECT_EQ(W->origin(Backward.Origin).Of, Origin::Backwarded);
  EXPECT_EQ(W->origin(Backward.Origin).Site, Backward.Site);
  EXPECT_TRUE(Store.Stored.hasOrigin(Backward.Origin))
      << "what is stored was backwarded in the iteration before";
  EXPECT_TRUE(Backward.Root.hasOrigin(Store.Origin));
  EXPECT_EQ(W->origin(Store.Origin).Of, Origin::Through);

  Entry Reset = entry("reset");
  const BackwardEvent &Again = *Reset.all<BackwardEvent>().front();
  EXPECT_FALSE(Reset.event<StoreEvent>("h = cell->forward(x, h)")
                   .Stored.hasOrigin(Again.Origin));
}

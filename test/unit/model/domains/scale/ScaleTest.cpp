// On which scale the numbers of a tensor are.
#include "model/Model.h"

using namespace torchtidy::model;
using namespace torchtidy::test;
using torchtidy::torch::Scale;

namespace {

struct ScaleTest : ModelTest<ScaleTest> {
  static const char Code[];
};

const char ScaleTest::Code[] = R"cpp(
using torch::Tensor;
namespace F = torch::nn::functional;

struct NetImpl : torch::nn::Module {
  torch::nn::Linear out{register_module("out", torch::nn::Linear(8, 4))};
  torch::nn::LogSoftmax end{1};
  Tensor forward(Tensor x, bool done) {
    x = out->forward(x);
    return done ? end(x) : x;
  }
};
TORCH_MODULE(Net);

void made(Tensor x, torch::nn::Linear layer) {
  observe("unknown", x);
  observe("softmax", x.softmax(1));
  observe("functional", F::softmax(x, F::SoftmaxFuncOptions(1)));
  observe("sigmoid", torch::sigmoid(x));
  observe("log softmax", torch::log_softmax(x, 1));
  observe("logarithm", x.softmax(1).log());
  observe("exponential", x.log_softmax(1).exp());
  observe("layer", layer(x));
  observe("product", torch::matmul(x, x));
  observe("activation", torch::relu(layer(x)));
}
void kept(Tensor x, Tensor rows, bool b) {
  Tensor p = torch::softmax(x, 1);
  observe("view", p.view({-1}));
  observe("chosen", p.gather(1, rows));
  observe("index", p[0]);
  observe("copy", p.clone().to(torch::kDouble).detach());
  observe("joined", torch::cat({p, p}));
  observe("joined with others", torch::cat({p, x}));
  observe("changed", p * 2);
  observe("mean", p.mean(0));
  Tensor either = x;
  if (b)
    either = p;
  observe("either", either);
  Tensor written = p.clone();
  written.mul_(3);
  observe("written", written);
  Tensor inPlace = torch::matmul(x, x);
  inPlace.sigmoid_();
  observe("in place", inPlace);
}
void network(Net net, Tensor x, bool done) {
  observe("on both ways", net->forward(x, done));
}
)cpp";

} // namespace

using Expected = std::vector<std::pair<const char *, std::optional<Scale>>>;

static void expectScales(Entry W, const Expected &All) {
  for (const auto &[Label, On] : All)
    EXPECT_EQ(W.observed(Label).OnScale.get(), On) << Label;
}

TEST_F(ScaleTest, Made) {
  expectScales(entry("made"), {{"unknown", std::nullopt},
                               {"softmax", Scale::Probabilities},
                               {"functional", Scale::Probabilities},
                               {"sigmoid", Scale::Sigmoids},
                               {"log softmax", Scale::LogProbabilities},
                               {"logarithm", Scale::LogProbabilities},
                               {"exponential", Scale::Probabilities},
                               {"layer", Scale::Scores},
                               {"product", Scale::Scores},
                               {"activation", std::nullopt}});
}

TEST_F(ScaleTest, Kept) {
  expectScales(entry("kept"), {{"view", Scale::Probabilities},
                               {"chosen", Scale::Probabilities},
                               {"index", Scale::Probabilities},
                               {"copy", Scale::Probabilities},
                               {"joined", Scale::Probabilities},
                               {"in place", Scale::Sigmoids}});
}

TEST_F(ScaleTest, Lost) {
  expectScales(entry("kept"), {{"joined with others", std::nullopt},
                               {"changed", std::nullopt},
                               {"mean", std::nullopt},
                               {"either", std::nullopt},
                               {"written", std::nullopt}});
  expectScales(entry("network"), {{"on both ways", std::nullopt}});
}

// One training loop for every recurrent cell and every source of windows: the cell's kind
// of state is hidden behind StateTraits, the data behind a type with next().
#include <torch/torch.h>

#include <cstdio>
#include <tuple>
#include <utility>

namespace {

constexpr int64_t kSteps = 64, kBatch = 64, kFeatures = 3, kHidden = 16;

template <class Cell>
struct StateTraits;

template <>
struct StateTraits<torch::nn::GRUCell> {
  using State = torch::Tensor;
  static State zeros() { return torch::zeros({kBatch, kHidden}); }
  static torch::Tensor output(const State& state) { return state; }
  static State cut(const State& state) { return state.detach(); }
};

template <>
struct StateTraits<torch::nn::LSTMCell> {
  using State = std::tuple<torch::Tensor, torch::Tensor>;
  static State zeros() { return {torch::zeros({kBatch, kHidden}), torch::zeros({kBatch, kHidden})}; }
  static torch::Tensor output(const State& state) { return std::get<0>(state); }
  static State cut(const State& state) { return {std::get<0>(state).detach(), std::get<1>(state).detach()}; }
};

template <class Cell>
class Forecaster : public torch::nn::Module {
 public:
  using Traits = StateTraits<Cell>;
  using State = typename Traits::State;

  Forecaster()
      : cell_(register_module("cell", Cell(kFeatures, kHidden))),
        head_(register_module("head", torch::nn::Linear(kHidden, 1))) {}

  std::pair<torch::Tensor, State> forward(const torch::Tensor& x, const State& state) {
    State next = cell_->forward(x, state);
    return {head_(act_(norm_(Traits::output(next)))).squeeze(1), next};
  }

 private:
  Cell cell_;
  torch::nn::Linear head_;
  torch::nn::LayerNorm norm_{torch::nn::LayerNormOptions({kHidden})};  // EXPECT: torch-unregistered-module
  torch::nn::GELU act_{};  // RIGHT: torch-unregistered-module no parameters, and the same in either mode
};

struct Window {
  torch::Tensor x, y;
};

struct Sine { static torch::Tensor at(const torch::Tensor& t) { return t.sin(); } };
struct Square { static torch::Tensor at(const torch::Tensor& t) { return t.sin().sign(); } };

template <class Wave>
class WindowSource {
 public:
  explicit WindowSource(double rate) : rate_(rate) {}
  Window next() {
    auto t = (torch::arange(kSteps + 1) + double(position_)).mul(rate_).unsqueeze(1) + torch::rand({1, kBatch});
    position_ += kSteps;
    auto wave = Wave::at(t);
    auto x = torch::stack({wave, t.cos(), torch::randn({kSteps + 1, kBatch})}, 2);
    return {x.slice(0, 0, kSteps), wave.slice(0, 1)};
  }

 private:
  double rate_;
  int64_t position_ = 0;
};
struct Options {
  torch::Device device;
  torch::Tensor gain;  // one factor for each feature, from the calibration
  int64_t windows;
  double lr;
};

template <class Net, class Source>
double train(Net& net, Source& source, const Options& opt) {
  torch::optim::SGD optimizer(net.parameters(), torch::optim::SGDOptions(opt.lr));
  auto state = Net::Traits::zeros();
  double last = 0;
  for (int64_t w = 0; w < opt.windows; ++w) {
    auto window = source.next();
    window.x.to(opt.device);  // EXPECT: torch-discarded-result
    window.y.clamp_(-3, 3);  // RIGHT: torch-discarded-result in place
    auto x = window.x * opt.gain.to(torch::kFloat);  // EXPECT: torch-repeated-transfer
    auto forecast = torch::zeros({kSteps, kBatch});  // RIGHT: torch-allocation-in-loop part of this window's graph
    auto ceiling = torch::full({kSteps, kBatch}, 2.5);  // EXPECT: torch-allocation-in-loop
    optimizer.zero_grad();
    for (int64_t t = 0; t < kSteps; ++t) {
      auto [y, next] = net.forward(x[t], state);
      forecast[t] = y;
      state = next;  // EXPECT: torch-undetached-hidden-state
    }
    auto loss = torch::mse_loss(torch::min(forecast, ceiling), window.y);
    loss.backward({}, /*retain_graph=*/true);
    optimizer.step();
    last = loss.template item<double>();
  }
  return last;
}

// A few steps on the newest windows; the state of the first one goes on into the next.
template <class Net, class Source>
void refresh(Net& net, Source& source, const Options& opt) {
  torch::optim::Adam optimizer(net.parameters(), torch::optim::AdamOptions(1e-3));
  auto gain = opt.gain;
  auto state = Net::Traits::zeros();
  for (int64_t w = 0; w < 2; ++w) {
    auto window = source.next();
    gain = gain.to(torch::kFloat);  // RIGHT: torch-repeated-transfer only the first iteration converts
    auto x = window.x * gain;
    auto loss = torch::zeros({});
    for (int64_t t = 0; t < kSteps; ++t) {
      auto [y, next] = net.forward(x[t], state);
      loss = loss + torch::mse_loss(y, window.y[t]);
      state = next;  // RIGHT: torch-undetached-hidden-state steps of one window; it is cut below
    }
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    state = Net::Traits::cut(state);
  }
}

template <class Cell, class Wave>
void run(const char* name, const Options& opt) {
  Forecaster<Cell> net;
  WindowSource<Wave> source(0.1);
  double loss = train(net, source, opt);
  refresh(net, source, opt);
  std::printf("%s: mse %.4f\n", name, loss);
}

}  // namespace

int main() {
  torch::manual_seed(3);
  torch::set_num_threads(1);
  Options opt{torch::kCPU, torch::tensor({0.5, 1.0, 0.1}, torch::kDouble), 4, 0.05};
  run<torch::nn::GRUCell, Sine>("gru on sine", opt);
  run<torch::nn::LSTMCell, Square>("lstm on square", opt);
}

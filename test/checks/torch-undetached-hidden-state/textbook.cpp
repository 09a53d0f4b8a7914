// RUN: %check_torch %s torch-undetached-hidden-state %t
//
// A network written out as in textbooks: a function unrolls the sequence that it
// is given, and its callers carry the state from one sequence to the next.

#include <torch/torch.h>

using torch::Tensor;
using torch::nn::LSTMCell;
using torch::optim::SGD;

static std::vector<Tensor> makeParameters() {
  std::vector<Tensor> parameters{torch::randn({8, 8}), torch::randn({8, 8}),
                                 torch::zeros({8}), torch::randn({8, 8})};
  for (auto &p : parameters)
    p.requires_grad_(true);
  return parameters;
}

// Quiet: the steps of one sequence, whoever calls. The outputs are the result.
static std::tuple<Tensor, Tensor>
unroll(const Tensor &inputs, Tensor state,
       const std::vector<Tensor> &parameters) {
  std::vector<Tensor> outputs;
  for (int64_t t = 0; t < inputs.size(0); ++t) {
    state = torch::tanh(torch::mm(inputs[t], parameters[0]) +
                        torch::mm(state, parameters[1]) + parameters[2]);
    outputs.push_back(torch::mm(state, parameters[3]));
  }
  return {torch::stack(outputs), state};
}

class Network {
public:
  std::tuple<Tensor, Tensor> forward(const Tensor &x, const Tensor &state) {
    return unroll(x, state, parameters);
  }
  Tensor beginState() const { return torch::zeros({4, 8}); }

  std::vector<Tensor> parameters = makeParameters();
};

static void trainDetached(Network &net, SGD &opt, const std::vector<Tensor> &xs,
                          const Tensor &y, bool randomBatches) {
  Tensor output, state;
  for (const auto &x : xs) {
    if (!state.defined() || randomBatches)
      state = net.beginState();
    else
      state.detach_();
    std::tie(output, state) = net.forward(x, state);
    auto loss = torch::mse_loss(output, y);
    opt.zero_grad();
    loss.backward();
    opt.step();
  }
}

static void train(Network &net, SGD &opt, const std::vector<Tensor> &xs,
                  const Tensor &y) {
  Tensor output, state = net.beginState();
  for (const auto &x : xs) {
    std::tie(output, state) = net.forward(x, state);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: recurrent state 'state' carries what its backward() needs (its autograd graph) into the next iteration: the next backward() goes on into what this one has freed, and throws
    auto loss = torch::mse_loss(output, y);
    opt.zero_grad();
    loss.backward();
    opt.step();
  }
}

// Each call makes one more part of the text, without a guard.
static float predict(Network &net, int steps) {
  Tensor output, state = net.beginState();
  Tensor input = torch::zeros({1, 4, 8});
  float sum = 0;
  for (int i = 0; i < steps; ++i) {
    std::tie(output, state) = net.forward(input, state);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: recurrent state 'state' carries what its backward() needs (its autograd graph) into the next iteration: no backward() frees it, so memory grows
    const float mean = output.mean().item<float>();
    input = torch::full({1, 4, 8}, mean);
    sum += mean;
  }
  return sum;
}

// Quiet: each sequence begins anew, and its graph dies with its result. Without a
// guard that is waste, but nothing grows.
static float evaluate(Network &net, const std::vector<Tensor> &xs,
                      const Tensor &y) {
  float sum = 0;
  for (const auto &x : xs) {
    auto [output, state] = net.forward(x, net.beginState());
    sum += torch::mse_loss(output, y).item<float>();
  }
  return sum;
}

// Quiet inside, where the window is unrolled; the state goes from window to window
// outside.
static Tensor lastState(const Tensor &window, Tensor state,
                        const Tensor &weight) {
  for (int64_t t = 0; t < window.size(0); ++t)
    state = torch::tanh(torch::mm(window[t] + state, weight));
  return state;
}

static float watch(const std::vector<Tensor> &windows) {
  const auto weight = torch::randn({8, 8}, torch::requires_grad());
  auto state = torch::zeros({4, 8});
  float sum = 0;
  for (const auto &window : windows) {
    state = lastState(window, state, weight);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: recurrent state 'state' carries what its backward() needs (its autograd graph) into the next iteration: no backward() frees it, so memory grows
    sum += state.mean().item<float>();
  }
  return sum;
}

// Quiet at both places: what goes on is detached.
static Tensor lastOf(const Tensor &window, Tensor state, const Tensor &weight) {
  for (int64_t t = 0; t < window.size(0); ++t)
    state = torch::tanh(torch::mm(window[t] + state, weight));
  return state;
}

static float watchDetached(const std::vector<Tensor> &windows) {
  const auto weight = torch::randn({8, 8}, torch::requires_grad());
  auto state = torch::zeros({4, 8});
  float sum = 0;
  for (const auto &window : windows) {
    state = lastOf(window, state, weight).detach();
    sum += state.mean().item<float>();
  }
  return sum;
}

// The same of a module.
struct EncoderImpl : torch::nn::Module {
  EncoderImpl() { cell = register_module("cell", LSTMCell(8, 8)); }
  Tensor forward(const Tensor &sequence) {
    auto h = torch::zeros({sequence.size(1), 8});
    auto c = torch::zeros({sequence.size(1), 8});
    for (int64_t t = 0; t < sequence.size(0); ++t)
      std::tie(h, c) = cell->forward(sequence[t], std::make_tuple(h, c));
    return h;
  }
  LSTMCell cell{nullptr};
};
TORCH_MODULE(Encoder);

static float evaluateEncoder(const std::vector<Tensor> &xs) {
  Encoder encoder;
  encoder->eval();
  float sum = 0;
  for (const auto &x : xs)
    sum += encoder->forward(x).mean().item<float>();
  return sum;
}

int main() {
  Network net;
  SGD opt(net.parameters, 0.1);
  std::vector<Tensor> xs{torch::rand({5, 4, 8}), torch::rand({5, 4, 8})};
  const auto y = torch::rand({5, 4, 8});
  trainDetached(net, opt, xs, y, false);
  train(net, opt, xs, y);
  std::cout << predict(net, 100) << evaluate(net, xs, y) << evaluateEncoder(xs)
            << watch(xs) << watchDetached(xs) << '\n';
}

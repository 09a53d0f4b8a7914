// A character model on consecutive windows of a text: an LSTM, truncated backpropagation
// through time, a meter for the log-likelihood, and a sampler.
#include <torch/torch.h>

#include <cmath>
#include <cstdio>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace F = torch::nn::functional;

namespace {

constexpr int64_t kSteps = 16, kBatch = 16, kVocab = 40, kHidden = 24;
using State = std::tuple<torch::Tensor, torch::Tensor>;

struct CharModelImpl : torch::nn::Module {
  CharModelImpl()
      : lstm(register_module("lstm", torch::nn::LSTM(kVocab, kHidden))),
        head(register_module("head", torch::nn::Linear(kHidden, kVocab))) {}
  std::pair<torch::Tensor, State> forward(const torch::Tensor& onehot, const std::optional<State>& state) {
    auto [y, next] = lstm->forward(onehot, state);
    return {head(y), next};
  }
  torch::nn::LSTM lstm;
  torch::nn::Linear head;
};
TORCH_MODULE(CharModel);

class LikelihoodMeter {
 public:
  void add(const torch::Tensor& loss, int64_t characters) {
    sum_ = sum_ + loss * characters;  // EXPECT: torch-retained-graph
    characters_ += characters;
  }
  double perplexity() const { return std::exp(sum_.item<double>() / double(characters_)); }

 private:
  torch::Tensor sum_ = torch::zeros({});
  int64_t characters_ = 0;
};

torch::Tensor encode(const torch::Tensor& window) {
  return F::one_hot(window.narrow(0, 0, kSteps), kVocab).to(torch::kFloat);
}

torch::Tensor loss_of(const torch::Tensor& logits, const torch::Tensor& window) {
  return F::cross_entropy(logits.reshape({-1, kVocab}), window.narrow(0, 1, kSteps).reshape({-1}));
}

// kSteps + 1 characters of each of kBatch lines, one window after the other.
std::vector<torch::Tensor> windows_of(const std::string& text, int64_t count) {
  std::vector<torch::Tensor> windows;
  for (int64_t w = 0; w < count; ++w) {
    auto window = torch::empty({kSteps + 1, kBatch}, torch::kLong);
    auto cell = window.accessor<int64_t, 2>();
    for (int64_t t = 0; t <= kSteps; ++t)
      for (int64_t b = 0; b < kBatch; ++b)
        cell[t][b] = text[(w * kSteps + t + 37 * b) % text.size()] % kVocab;
    windows.push_back(window);  // RIGHT: torch-fill-alias each window is a tensor of its own
  }
  return windows;
}

double train(CharModel& net, std::vector<torch::Tensor> windows, torch::Device device) {
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(0.5));
  for (auto window : windows)
    window = window.to(device);  // EXPECT: torch-parameter-copy
  LikelihoodMeter meter;
  std::optional<State> state;
  for (const auto& window : windows) {
    auto [logits, next] = net->forward(encode(window), state);
    auto loss = loss_of(logits, window);
    optimizer.zero_grad();
    loss.backward({}, /*retain_graph=*/true);
    optimizer.step();  // RIGHT: torch-missing-zero-grad cleared between the forward pass and backward()
    meter.add(loss, kSteps * kBatch);
    state = next;  // EXPECT: torch-undetached-hidden-state
  }
  return meter.perplexity();
}

// Goes on learning from what is read, one window at a time.
double adapt(CharModel& net, std::vector<torch::Tensor> windows, torch::Device device) {
  torch::optim::Adam optimizer(net->parameters(), torch::optim::AdamOptions(1e-3));
  for (auto& window : windows)
    window = window.to(device);  // RIGHT: torch-parameter-copy the element itself, by reference
  std::optional<State> state;
  auto total = torch::zeros({}, device);
  for (const auto& window : windows) {
    auto [logits, next] = net->forward(encode(window), state);
    auto loss = loss_of(logits, window);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    total += loss.detach();  // RIGHT: torch-retained-graph without its graph
    state = std::make_tuple(std::get<0>(next).detach(), std::get<1>(next).detach());  // RIGHT: torch-undetached-hidden-state detached
  }
  return total.item<double>() / double(windows.size());
}

double evaluate(CharModel& net, const std::vector<torch::Tensor>& windows) {
  torch::NoGradGuard no_grad;
  net->eval();
  std::optional<State> state;
  double sum = 0;
  for (const auto& window : windows) {
    auto onehot = torch::zeros({kSteps, kBatch, kVocab});  // EXPECT: torch-allocation-in-loop
    onehot.scatter_(2, window.narrow(0, 0, kSteps).unsqueeze(2), 1.0);
    auto [logits, next] = net->forward(onehot, state);
    sum += loss_of(logits, window).item<double>();
    state = next;
  }
  return sum / double(windows.size());
}

std::string sample(CharModel& net, int64_t length) {
  torch::NoGradGuard no_grad;
  std::string text;
  std::optional<State> state;
  int64_t last = 1;
  for (int64_t i = 0; i < length; ++i) {
    auto x = torch::zeros({1, 1, kVocab});  // RIGHT: torch-allocation-in-loop forty numbers
    x[0][0][last] = 1;
    auto [logits, next] = net->forward(x, state);  // RIGHT: torch-missing-no-grad a sequence is generated, under a guard
    last = logits.flatten().softmax(0).multinomial(1).item<int64_t>();
    text += char('0' + last);
    state = next;
  }
  return text;
}

}  // namespace

int main() {
  torch::manual_seed(5);
  torch::set_num_threads(1);
  const std::string text = "the quick brown fox jumps over the lazy dog while the cat looks on. ";
  CharModel net;
  auto perplexity = train(net, windows_of(text, 12), torch::kCPU);
  auto adapted = adapt(net, windows_of(text, 20), torch::kCPU);
  auto held_out = evaluate(net, windows_of(text, 6));
  std::printf("perplexity %.2f, adapted %.3f, held out %.3f\n%s\n", perplexity, adapted, held_out, sample(net, 40).c_str());
}

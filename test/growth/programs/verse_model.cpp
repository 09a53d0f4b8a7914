// A character model with an LSTM, trained by truncated backpropagation on a
// synthetic text in verses. The window follows the verse, so its length varies;
// the state is carried from window to window.
#include <torch/torch.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <list>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace {

constexpr int64_t kSymbols = 28;
constexpr int64_t kStreams = 24;
constexpr int64_t kWidth = 48;
constexpr int64_t kHidden = 160;

// Verses of a toy language: words come from a fixed list, and a verse ends
// after three to seven of them. Returns symbols as numbers below kSymbols.
std::vector<int64_t> writeText(std::mt19937 &random, size_t length) {
  std::vector<std::string> words;
  for (int i = 0; i < 60; ++i) {
    std::string word;
    const int letters = 2 + static_cast<int>(random() % 6);
    for (int j = 0; j < letters; ++j)
      word += static_cast<char>('a' + (random() % 13) * (j % 2 ? 1 : 2) % 26);
    words.push_back(word);
  }
  std::vector<int64_t> text;
  while (text.size() < length) {
    const int count = 3 + static_cast<int>(random() % 5);
    for (int i = 0; i < count; ++i) {
      for (const char letter : words[random() % words.size()])
        text.push_back(letter - 'a');
      text.push_back(i + 1 < count ? 26 : 27);
    }
  }
  text.resize(length);
  return text;
}

// Position features for a window, by its length. They are cheap to keep and
// not cheap to make, so the most recently used ones stay.
class PositionCache {
public:
  explicit PositionCache(size_t limit) : limit_(limit) {}

  torch::Tensor get(int64_t length) {
    const auto found = tables_.find(length);
    if (found != tables_.end()) {
      recent_.splice(recent_.begin(), recent_, found->second.second);
      return found->second.first;
    }
    recent_.push_front(length);
    tables_.emplace(length, std::make_pair(make(length), recent_.begin()));
    if (recent_.size() > limit_) {
      tables_.erase(recent_.back());
      recent_.pop_back();
    }
    return tables_.at(length).first;
  }

  size_t size() const { return tables_.size(); }

private:
  static torch::Tensor make(int64_t length) {
    const torch::Tensor at = torch::arange(length, torch::kFloat).unsqueeze(1);
    const torch::Tensor rate =
        torch::exp(torch::arange(kWidth / 2, torch::kFloat) * -0.35);
    const torch::Tensor angle = at * rate.unsqueeze(0);
    return torch::cat({angle.sin(), angle.cos()}, 1)
        .unsqueeze(1)
        .repeat({1, kStreams, 1});
  }

  using Order = std::list<int64_t>;
  size_t limit_;
  Order recent_;
  std::map<int64_t, std::pair<torch::Tensor, Order::iterator>> tables_;
};

using State = std::tuple<torch::Tensor, torch::Tensor>;

struct VerseModelImpl : torch::nn::Module {
  VerseModelImpl()
      : symbols(kSymbols, kWidth),
        lstm(torch::nn::LSTMOptions(kWidth, kHidden)), drop(0.1),
        out(kHidden, kSymbols) {
    register_module("symbols", symbols);
    register_module("lstm", lstm);
    register_module("drop", drop);
    register_module("out", out);
  }

  torch::Tensor forward(const torch::Tensor &text,
                        const torch::Tensor &position) {
    const torch::Tensor x = symbols(text) + position * 0.1;
    auto [y, next] = lstm->forward(x, state_);
    state_ = State(std::get<0>(next).detach(), std::get<1>(next).detach());
    return out(drop(y));
  }

  void forget() { state_.reset(); }

  torch::nn::Embedding symbols;
  torch::nn::LSTM lstm;
  torch::nn::Dropout drop;
  torch::nn::Linear out;

private:
  std::optional<State> state_;
};
TORCH_MODULE(VerseModel);

struct History {
  std::vector<double> loss;
  std::vector<double> norm;

  double recentLoss(size_t count) const {
    double sum = 0.0;
    const size_t used = std::min(count, loss.size());
    for (size_t i = loss.size() - used; i < loss.size(); ++i)
      sum += loss[i];
    return sum / static_cast<double>(used);
  }
};

} // namespace

int main(int argc, char **argv) {
  int64_t iterations = 416;
  for (int i = 1; i + 1 < argc; ++i)
    if (std::strcmp(argv[i], "--iterations") == 0)
      iterations = std::atoll(argv[i + 1]);

  torch::manual_seed(3);
  std::mt19937 random(3);
  const int64_t stream_length = 6000;
  const torch::Tensor text =
      torch::tensor(writeText(random, kStreams * stream_length))
          .view({kStreams, stream_length})
          .t()
          .contiguous();

  VerseModel model;
  torch::optim::Adam optimizer(model->parameters(),
                               torch::optim::AdamOptions(3e-3));
  PositionCache positions(12);
  History history;

  int64_t at = 0;
  for (int64_t step = 1; step <= iterations; ++step) {
    const int64_t length = 14 + static_cast<int64_t>(random() % 35);
    if (at + length + 1 > stream_length) {
      at = 0;
      model->forget();
    }
    const torch::Tensor input = text.narrow(0, at, length);
    const torch::Tensor target = text.narrow(0, at + 1, length);
    at += length;

    optimizer.zero_grad();
    const torch::Tensor scores = model->forward(input, positions.get(length));
    const torch::Tensor loss = torch::nn::functional::cross_entropy(
        scores.reshape({-1, kSymbols}), target.reshape({-1}));
    loss.backward();
    history.norm.push_back(
        torch::nn::utils::clip_grad_norm_(model->parameters(), 1.0));
    optimizer.step();
    history.loss.push_back(loss.item<double>());

    if (step % 52 == 0)
      std::printf("step %4lld  loss %.4f  perplexity %.2f  norm %.3f\n",
                  static_cast<long long>(step), history.recentLoss(52),
                  std::exp(history.recentLoss(52)), history.norm.back());
  }
  std::printf("%zu position tables kept\n", positions.size());
  return 0;
}

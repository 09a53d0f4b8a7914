// Recurrent networks that read a text letter by letter.

#include <torch/torch.h>

#include <iostream>
#include <string>
#include <tuple>
#include <vector>

namespace {

constexpr int64_t kLetters = 8;
constexpr int64_t kWindow = 5;
constexpr int64_t kHidden = 12;

std::string makeText(size_t length) {
  std::string text;
  for (size_t i = 0; i < length; ++i)
    text.push_back(static_cast<char>('a' + (i * i + i / 7) % kLetters));
  return text;
}

torch::Tensor encode(const std::string& text) {
  const auto length = static_cast<int64_t>(text.size());
  auto rows = torch::zeros({length, kLetters});
  for (int64_t i = 0; i < length; ++i) {  // AT E
    // PLANT true torch-element-access-in-loop/writes loop=E: each letter sets one element
    rows[i][text[i] - 'a'] = 1;
  }
  return rows;
}

void forget(torch::Tensor& state) { state = state.detach(); }

std::vector<torch::Tensor> parametersOf(const torch::nn::Module& first, const torch::nn::Module& second) {
  auto all = first.parameters();
  const auto others = second.parameters();
  all.insert(all.end(), others.begin(), others.end());
  return all;
}

struct Truncated {
  torch::nn::GRUCell cell{kLetters, kHidden};
  torch::nn::Linear head{kHidden, kLetters};
  torch::optim::Adam optimizer{parametersOf(*cell, *head), 0.01};
  torch::Tensor state = torch::zeros({1, kHidden});

  double learn(const torch::Tensor& window) {
    optimizer.zero_grad();
    torch::Tensor loss = torch::zeros({});
    for (int64_t t = 0; t < kWindow; ++t) {
      // PLANT innocent torch-undetached-hidden-state/throws loop=W also=B: forget() detaches it behind each window
      state = cell->forward(window.narrow(0, t, 1), state);
      loss = loss + torch::mse_loss(torch::sigmoid(head->forward(state)), window.narrow(0, t + 1, 1));
    }
    loss.backward();  // AT B
    optimizer.step();
    forget(state);
    return loss.item<double>();
  }
};

class Reader {
 public:
  double learn(const torch::Tensor& window) {
    optimizer_.zero_grad();
    auto [outputs, next] = gru_->forward(window.narrow(0, 0, kWindow).unsqueeze(1), state_);  // AT U
    const auto guess = torch::sigmoid(head_->forward(outputs.squeeze(1)));
    const auto loss = torch::mse_loss(guess, window.narrow(0, 1, kWindow));
    // PLANT true torch-undetached-hidden-state/chains loop=W built=U: each backward goes through all windows so far
    state_ = next;
    loss.backward({}, /*retain_graph=*/true);
    optimizer_.step();
    return loss.item<double>();
  }

 private:
  torch::nn::GRU gru_{kLetters, kHidden};
  torch::nn::Linear head_{kHidden, kLetters};
  torch::optim::SGD optimizer_{parametersOf(*gru_, *head_), 0.1};
  torch::Tensor state_ = torch::zeros({1, 1, kHidden});
};

template <typename Read>
std::vector<torch::Tensor> summarise(const std::vector<torch::Tensor>& texts, Read read) {
  torch::NoGradGuard no_grad;
  std::vector<torch::Tensor> features;
  for (const auto& text : texts) {  // AT S
    const auto outputs = read(text);
    // PLANT true torch-view-pins-storage/kept loop=S also=M: the outputs of all steps stay with the last one
    features.push_back(outputs.select(1, -1));
  }
  return features;
}

}  // namespace

int main() {
  torch::set_num_threads(1);
  torch::manual_seed(0);

  const auto letters = encode(makeText(320));
  Truncated truncated;
  Reader reader;
  double truncated_sum = 0;
  double reader_sum = 0;
  int windows = 0;
  for (int64_t begin = 0; begin + kWindow < 230; begin += kWindow) {  // AT W
    const auto window = letters.narrow(0, begin, kWindow + 1);
    truncated_sum += truncated.learn(window);
    reader_sum += reader.learn(window);
    ++windows;
  }
  std::cout << windows << " windows, truncated " << truncated_sum / windows << ", reader " << reader_sum / windows
            << '\n';

  torch::nn::GRU encoder(torch::nn::GRUOptions(kLetters, 16).batch_first(true));
  std::vector<torch::Tensor> texts;
  for (int64_t i = 0; i < 48; ++i)
    texts.push_back(letters.narrow(0, i, 64).expand({8, 64, kLetters}));
  const auto features = summarise(texts, [&encoder](const torch::Tensor& text) {
    return std::get<0>(encoder->forward(text));  // AT M
  });
  std::cout << features.size() << " features, spread " << torch::stack(features).std().item<double>() << '\n';
  return 0;
}

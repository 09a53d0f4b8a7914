// A word-level LSTM language model, trained by truncated backpropagation.
#include <torch/torch.h>

#include <cmath>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

using torch::Tensor;
using torch::indexing::Slice;

class RNNLMImpl : public torch::nn::Module {
 public:
  RNNLMImpl(int64_t vocab_size, int64_t embed_size, int64_t hidden_size, int64_t layers)
      : embed(vocab_size, embed_size),
        lstm(torch::nn::LSTMOptions(embed_size, hidden_size)
                 .num_layers(layers)
                 .batch_first(true)),
        linear(hidden_size, vocab_size) {
    register_module("embed", embed);
    register_module("lstm", lstm);
    register_module("linear", linear);
  }

  std::tuple<Tensor, std::tuple<Tensor, Tensor>> forward(
      Tensor x, std::tuple<Tensor, Tensor> hx) {
    Tensor output;
    std::tie(output, hx) = lstm->forward(embed->forward(x), hx);
    output = output.reshape({-1, output.size(2)});
    return std::make_tuple(linear->forward(output), hx);
  }

 private:
  torch::nn::Embedding embed;
  torch::nn::LSTM lstm;
  torch::nn::Linear linear;
};
TORCH_MODULE(RNNLM);

struct Vocabulary {
  int64_t id(const std::string& word) {
    auto [it, inserted] = ids.emplace(word, words.size());
    if (inserted)
      words.push_back(word);
    return it->second;
  }
  std::unordered_map<std::string, int64_t> ids;
  std::vector<std::string> words;
};

static Tensor read_corpus(const std::string& path, Vocabulary& vocabulary, int64_t batch) {
  std::ifstream file(path);
  std::vector<int64_t> ids;
  for (std::string word; file >> word;)
    ids.push_back(vocabulary.id(word));
  auto all = torch::tensor(ids, torch::kInt64);
  const auto columns = all.size(0) / batch;
  return all.index({Slice(0, columns * batch)}).view({batch, columns});
}

int main() {
  const int64_t kEmbed = 128, kHidden = 1024, kLayers = 1, kBatch = 20, kTime = 30;
  auto device = torch::cuda::is_available() ? torch::Device(torch::kCUDA)
                                            : torch::Device(torch::kCPU);
  Vocabulary vocabulary;
  auto corpus = read_corpus("train.txt", vocabulary, kBatch);
  auto held_out = read_corpus("valid.txt", vocabulary, kBatch);
  const auto vocab_size = static_cast<int64_t>(vocabulary.words.size());

  RNNLM model(vocab_size, kEmbed, kHidden, kLayers);
  model->to(device);
  torch::optim::Adam optimizer(model->parameters(), torch::optim::AdamOptions(0.002));

  auto ids = corpus.to(device);
  const auto text = held_out.to(device);
  double best = 1e9;
  for (int epoch = 0; epoch != 5; ++epoch) {
    model->train();
    auto h = torch::zeros({kLayers, kBatch, kHidden}, device);
    auto c = torch::zeros({kLayers, kBatch, kHidden}, device);
    double running_perplexity = 0.0;
    double running_loss = 0.0;
    size_t steps = 0;
    for (int64_t i = 0; i + kTime < ids.size(1); i += kTime) {
      auto x = ids.index({Slice(), Slice(i, i + kTime)});
      auto y = ids.index({Slice(), Slice(i + 1, i + 1 + kTime)}).reshape(-1);
      Tensor output;
      std::tuple<Tensor, Tensor> hx;
      h = h.detach();
      c.detach_();
      std::tie(output, hx) = model->forward(x, std::make_tuple(h, c));
      std::tie(h, c) = hx;
      auto loss = torch::nn::functional::cross_entropy(output, y);

      running_loss += loss.item<double>() * x.size(0);
      running_perplexity += std::exp(loss.item<double>());

      optimizer.zero_grad();
      loss.backward();
      torch::nn::utils::clip_grad_norm_(model->parameters(), 0.5);
      optimizer.step();
      ++steps;
    }

    // Perplexity of text that was not trained on.
    model->eval();
    double total = 0;
    int64_t chunks = 0;
    {
      torch::NoGradGuard no_grad;
      std::tuple<Tensor, Tensor> state{torch::zeros({kLayers, kBatch, kHidden}, device),
                                       torch::zeros({kLayers, kBatch, kHidden}, device)};
      for (int64_t i = 0; i + kTime < text.size(1); i += kTime, ++chunks) {
        auto [logits, next] =
            model->forward(text.index({Slice(), Slice(i, i + kTime)}), state);
        state = next;
        auto y = text.index({Slice(), Slice(i + 1, i + 1 + kTime)}).reshape(-1);
        total += torch::nn::functional::cross_entropy(logits, y).item<double>();
      }
    }
    std::cout << "Epoch " << epoch << " loss " << running_loss / steps << " perplexity "
              << running_perplexity / steps << " held out " << std::exp(total / chunks)
              << '\n';
    if (total / chunks < best) {
      best = total / chunks;
      torch::save(model, "language_model.pt");
    }
  }

  // Samples words one at a time.
  torch::InferenceMode inference;
  model->eval();
  std::ofstream out("sample.txt");
  auto h = torch::zeros({kLayers, 1, kHidden}, device);
  auto c = torch::zeros({kLayers, 1, kHidden}, device);
  auto prob = torch::ones(vocab_size, device);
  auto input = torch::multinomial(prob, 1).unsqueeze(1);
  for (int i = 0; i < 1000; ++i) {
    auto [output, state] = model->forward(input, std::make_tuple(h, c));
    std::tie(h, c) = state;
    auto id = torch::multinomial(output.exp().flatten(), 1).item<int64_t>();
    input.fill_(id);
    out << vocabulary.words[id] << (i % 20 == 19 ? '\n' : ' ');
  }
}

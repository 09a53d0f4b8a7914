#include <torch/torch.h>

#include <cstdio>
#include <utility>
#include <vector>

using namespace torch::indexing;

namespace {

constexpr int64_t kVocab = 40, kWidth = 64, kHeads = 4, kSpan = 32;

struct WriterImpl : torch::nn::Module {
  WriterImpl() {
    table = register_module("table", torch::nn::Embedding(kVocab, 24));
    cell = register_module("cell", torch::nn::GRUCell(24, 32));
    project = register_module("project", torch::nn::Linear(32, kVocab));
  }
  std::pair<torch::Tensor, torch::Tensor> step(int64_t token, const torch::Tensor& state) {
    auto next = cell(table(torch::full({1}, token, torch::kInt64)), state);
    return {project(next), next};
  }
  torch::nn::Embedding table{nullptr};
  torch::nn::GRUCell cell{nullptr};
  torch::nn::Linear project{nullptr};
};
TORCH_MODULE(Writer);

struct Session {
  torch::Tensor state = torch::zeros({1, 32});
  std::vector<int64_t> tokens{1};
};

void write_on(Writer& writer, Session& session, int length) {
  writer->eval();
  for (int i = 0; i < length; ++i) {  // AT tokens
    auto [logits, next] = writer->step(session.tokens.back(), session.state);  // AT step
    session.tokens.push_back((logits.argmax(1).item<int64_t>() + i) % kVocab);
    // PLANT true torch-undetached-hidden-state/grows loop=tokens built=step: the session keeps the graphs of all tokens
    session.state = std::move(next);
  }
}

struct AttentionImpl : torch::nn::Module {
  AttentionImpl() { qkv = register_module("qkv", torch::nn::Linear(kWidth, 3 * kWidth)); }
  torch::nn::Linear qkv{nullptr};
};
TORCH_MODULE(Attention);

torch::Tensor attend(Attention& attention, const torch::Tensor& inputs) {
  torch::NoGradGuard guard;
  const int64_t depth = kWidth / kHeads;
  auto keys = torch::empty({kHeads, 0, depth});
  auto values = torch::empty({kHeads, 0, depth});
  auto timeline = torch::empty({0, kWidth});
  for (int64_t t = 0; t < inputs.size(0); ++t) {  // AT positions
    auto parts = attention->qkv(inputs[t]).view({3, kHeads, 1, depth});
    // PLANT innocent torch-cat-in-loop/grows loop=positions: the cache is read whole each time and stops at its span
    keys = torch::cat({keys, parts[1]}, 1);
    values = torch::cat({values, parts[2]}, 1);
    if (keys.size(1) > kSpan) {
      keys = keys.slice(1, keys.size(1) - kSpan);
      values = values.slice(1, values.size(1) - kSpan);
    }
    auto weights = torch::softmax(parts[0].matmul(keys.transpose(1, 2)) / 4.0, -1);
    auto mixed = weights.matmul(values).reshape({1, kWidth});
    // PLANT true torch-cat-in-loop/grows loop=positions: all rows so far are copied for one more
    timeline = torch::vstack({timeline, mixed});
  }
  return timeline;
}

class Index {
 public:
  explicit Index(torch::nn::LSTM reader) : reader_(std::move(reader)) {}

  void add(const std::vector<torch::Tensor>& texts) {
    torch::NoGradGuard guard;
    for (const auto& text : texts) {  // AT texts
      auto states = std::get<0>(reader_->forward(text.unsqueeze(0)));  // AT reading
      // PLANT true torch-view-pins-storage/kept loop=texts also=reading: the last row is a view of the states of all steps
      entries_.push_back(states.index({0, -1}).contiguous());
    }
  }

  size_t nearest(const torch::Tensor& query) const {
    size_t best = 0;
    double most = -1e30;
    for (size_t i = 0; i < entries_.size(); ++i) {
      double score = entries_[i].dot(query).item<double>();
      if (score > most) {
        most = score;
        best = i;
      }
    }
    return best;
  }

  const std::vector<torch::Tensor>& entries() const { return entries_; }

 private:
  torch::nn::LSTM reader_;
  std::vector<torch::Tensor> entries_;
};

}  // namespace

int main() {
  torch::set_num_threads(1);
  torch::manual_seed(0);

  Writer writer;
  Session session;
  write_on(writer, session, 90);
  int64_t sum = 0;
  for (auto token : session.tokens) sum += token;
  std::printf("tokens %zu sum %ld state %.5f\n", session.tokens.size(), static_cast<long>(sum),
              session.state.sum().item<double>());

  Attention attention;
  auto timeline = attend(attention, torch::randn({150, kWidth}));
  std::printf("timeline %ld rows, %.5f\n", static_cast<long>(timeline.size(0)),
              timeline.abs().mean().item<double>());

  Index index(torch::nn::LSTM(torch::nn::LSTMOptions(12, 48).batch_first(true)));
  std::vector<torch::Tensor> texts;
  for (int i = 0; i < 64; ++i) texts.push_back(torch::randn({96 + i % 5, 12}));
  index.add(texts);
  std::printf("nearest %zu of %zu\n", index.nearest(torch::randn({48})), index.entries().size());
  return 0;
}

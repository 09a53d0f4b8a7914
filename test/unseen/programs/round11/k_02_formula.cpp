// Recognition of handwritten formulas: an image of ink goes in, a row of LaTeX
// tokens comes out. Convolutional encoder, recurrent decoder with attention.
#include <torch/torch.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

namespace formula {

constexpr int64_t kPad = 0;
constexpr int64_t kBos = 1;
constexpr int64_t kFirstSymbol = 2;

struct Settings {
  int64_t vocabulary = 18;
  int64_t length = 6;
  int64_t height = 12;
  int64_t glyph = 8;
  int64_t hidden = 32;
  int64_t batch = 32;
  int64_t samples = 192;
  int pretrain_epochs = 1;
  int epochs = 3;
  bool calibrate = false;
  torch::Device device = torch::cuda::is_available() ? torch::Device(torch::kCUDA, 0) : torch::Device(torch::kCPU);
};

class InkSet {
 public:
  InkSet(const Settings& s, int64_t samples, const torch::Tensor& glyphs) {
    const auto longs = torch::TensorOptions().dtype(torch::kLong).device(s.device);
    targets_ = torch::randint(kFirstSymbol, s.vocabulary, {samples, s.length}, longs);
    auto paper = torch::linspace(0.0, 0.1, s.length * s.glyph, torch::TensorOptions().device(s.device));
    images_ = paper.repeat({samples, 1, s.height, 1});  // RIGHT: torch-repeat-for-broadcast
    for (int64_t at = 0; at < s.length; ++at) {
      auto ink = glyphs.index_select(0, targets_.select(1, at));
      images_.narrow(3, at * s.glyph, s.glyph).add_(ink.unsqueeze(1));
    }
    lengths_ = (targets_ > kFirstSymbol + 4).sum(1);
  }

  int64_t size() const { return targets_.size(0); }
  torch::Tensor images(const torch::Tensor& rows) const { return images_.index_select(0, rows); }
  torch::Tensor targets(const torch::Tensor& rows) const { return targets_.index_select(0, rows); }
  torch::Tensor lengths(const torch::Tensor& rows) const { return lengths_.index_select(0, rows); }
  const torch::Tensor& all_targets() const { return targets_; }

 private:
  torch::Tensor images_, targets_, lengths_;
};

class EncoderImpl : public torch::nn::Module {
 public:
  EncoderImpl(int64_t hidden, int64_t columns) {
    add_stage(1, 16, 1);
    add_stage(16, 32, 2);
    add_stage(32, hidden, 2);
    position_ = register_parameter("position", torch::randn({columns, hidden}) * 0.02);  // RIGHT: torch-non-leaf-parameter
    drop_ = register_module("drop", torch::nn::Dropout(0.2));
  }

  // [batch, 1, height, width] -> [batch, columns, hidden]
  torch::Tensor forward(torch::Tensor x) {
    for (size_t i = 0; i < stages_.size(); ++i) {
      x = norms_[i]->forward(stages_[i]->forward(x)).relu_();
    }
    auto columns = x.mean(2).transpose(1, 2);
    return drop_->forward(columns + position_);
  }

 private:
  void add_stage(int64_t in, int64_t out, int64_t stride) {
    const auto name = "norm" + std::to_string(norms_.size());
    const auto options = torch::nn::Conv2dOptions(in, out, 3).padding(1).stride(stride);
    stages_.push_back(torch::nn::Conv2d(options));  // EXPECT: torch-unregistered-module
    norms_.push_back(register_module(name, torch::nn::BatchNorm2d(out)));  // RIGHT: torch-unregistered-module
  }

  std::vector<torch::nn::Conv2d> stages_;
  std::vector<torch::nn::BatchNorm2d> norms_;
  torch::Tensor position_;
  torch::nn::Dropout drop_{nullptr};
};
TORCH_MODULE(Encoder);

class AttentionImpl : public torch::nn::Module {
 public:
  explicit AttentionImpl(int64_t hidden) {
    query_ = register_module("query", torch::nn::Linear(hidden, hidden));
    key_ = register_module("key", torch::nn::Linear(hidden, hidden));
    energy_ = register_module("energy", torch::nn::Linear(hidden, 1));
  }

  torch::Tensor keys(const torch::Tensor& memory) { return key_->forward(memory); }

  torch::Tensor forward(const torch::Tensor& state, const torch::Tensor& keys, const torch::Tensor& memory) {
    auto query = query_->forward(state).unsqueeze(1).repeat({1, keys.size(1), 1});  // EXPECT: torch-repeat-for-broadcast
    auto weights = torch::softmax(energy_->forward(torch::tanh(keys + query)), 1);
    return torch::bmm(weights.transpose(1, 2), memory).squeeze(1);
  }

 private:
  torch::nn::Linear query_{nullptr}, key_{nullptr}, energy_{nullptr};
};
TORCH_MODULE(Attention);

class DecoderImpl : public torch::nn::Module {
 public:
  explicit DecoderImpl(const Settings& s) : hidden_(s.hidden) {
    embed_ = register_module("embed", torch::nn::Embedding(s.vocabulary, s.hidden));
    init_ = register_module("init", torch::nn::Linear(s.hidden, s.hidden));
    cell_ = register_module("cell", torch::nn::GRUCell(2 * s.hidden, s.hidden));
    attend_ = register_module("attend", Attention(s.hidden));
    head_ = register_module("head", torch::nn::Linear(s.hidden, s.vocabulary));
    log_prior_ = register_buffer("log_prior", torch::zeros({s.vocabulary}));
    start_ = register_buffer("start", torch::full({1}, kBos, torch::kLong));
    if (s.calibrate) {
      auto half = torch::ones({s.vocabulary}, torch::requires_grad()) * 0.5;
      scale_ = register_parameter("scale", half);  // EXPECT: torch-non-leaf-parameter
    }
    torch::NoGradGuard no_grad;
    auto silent = embed_->weight[kPad];
    silent.zero_();  // RIGHT: torch-parameter-copy
    for (auto& p : cell_->parameters()) p.uniform_(-0.1, 0.1);  // RIGHT: torch-leaf-inplace
  }

  // How often each token occurs in the corpus, as a bias of the output.
  void set_token_counts(const torch::Tensor& counts) {
    log_prior_ = torch::log_softmax(counts.to(torch::kFloat32).log1p(), 0);  // EXPECT: torch-reassigned-member
  }

  void grow_vocabulary(int64_t size) {
    head_ = replace_module("head", torch::nn::Linear(hidden_, size));  // RIGHT: torch-reassigned-member
  }

  // Token probabilities of every step, fed with the tokens before it.
  torch::Tensor forward(const torch::Tensor& memory, const torch::Tensor& inputs) {
    auto keys = attend_->keys(memory);
    auto state = torch::tanh(init_->forward(memory.mean(1)));
    auto embedded = embed_->forward(inputs);
    std::vector<torch::Tensor> steps;
    for (int64_t t = 0; t < inputs.size(1); ++t) {
      auto context = attend_->forward(state, keys, memory);
      state = cell_->forward(torch::cat({embedded.select(1, t), context}, 1), state);  // RIGHT: torch-undetached-hidden-state
      steps.push_back(state);
    }
    return emit(torch::stack(steps, 1));
  }

  torch::Tensor greedy(const torch::Tensor& memory, int64_t length) {
    auto keys = attend_->keys(memory);  // RIGHT: torch-missing-no-grad
    auto state = torch::tanh(init_->forward(memory.mean(1)));
    auto token = start_.expand({memory.size(0)});
    std::vector<torch::Tensor> columns(static_cast<size_t>(length), torch::Tensor());  // RIGHT: torch-fill-alias
    for (auto& column : columns) {
      auto context = attend_->forward(state, keys, memory);
      state = cell_->forward(torch::cat({embed_->forward(token), context}, 1), state);
      token = emit(state).argmax(-1);
      column = token;
    }
    return torch::stack(columns, 1);
  }

 private:
  torch::Tensor emit(const torch::Tensor& state) {
    auto logits = head_->forward(state) + log_prior_;
    if (scale_.defined()) logits = logits * scale_;
    return torch::softmax(logits, -1);
  }

  int64_t hidden_;
  torch::nn::Embedding embed_{nullptr};
  torch::nn::Linear init_{nullptr}, head_{nullptr};
  torch::nn::GRUCell cell_{nullptr};
  Attention attend_{nullptr};
  torch::Tensor log_prior_, start_, scale_;
};
TORCH_MODULE(Decoder);

class FormulaNetImpl : public torch::nn::Module {
 public:
  explicit FormulaNetImpl(const Settings& s) {
    encoder = register_module("encoder", Encoder(s.hidden, s.length * s.glyph / 4));
    decoder = register_module("decoder", Decoder(s));
    length_head = register_module("length_head", torch::nn::Linear(s.hidden, s.length + 1));
  }

  torch::Tensor forward(const torch::Tensor& images, const torch::Tensor& inputs) {
    return decoder->forward(encoder->forward(images), inputs);
  }

  torch::Tensor log_lengths(const torch::Tensor& images) {
    return torch::log_softmax(length_head->forward(encoder->forward(images).mean(1)), 1);
  }

  Encoder encoder{nullptr};
  Decoder decoder{nullptr};
  torch::nn::Linear length_head{nullptr};
};
TORCH_MODULE(FormulaNet);

// Evaluation mode for as long as the object lives.
class EvalScope {
 public:
  explicit EvalScope(torch::nn::Module& module) : module_(module), was_training_(module.is_training()) {
    module_.eval();  // RIGHT: torch-eval-mode-not-restored
  }
  ~EvalScope() { module_.train(was_training_); }

 private:
  torch::nn::Module& module_;
  bool was_training_;
};

class Trainer {
 public:
  Trainer(FormulaNet net, const Settings& s) : net_(std::move(net)), settings_(s) {}
  virtual ~Trainer() = default;

  void fit(const InkSet& train, const InkSet& test, int epochs) {
    torch::optim::Adam optimizer(trained(), torch::optim::AdamOptions(3e-3));
    net_->train();
    for (int epoch = 0; epoch < epochs; ++epoch) {
      run_epoch(optimizer, train);
      report(epoch, test);
    }
  }

 protected:
  virtual std::vector<torch::Tensor> trained() = 0;
  virtual void run_epoch(torch::optim::Optimizer& optimizer, const InkSet& train) = 0;
  virtual void report(int epoch, const InkSet& test) = 0;

  std::vector<torch::Tensor> shuffled(int64_t rows) const {
    const auto longs = torch::TensorOptions().dtype(torch::kLong).device(settings_.device);
    return torch::randperm(rows, longs).split(settings_.batch);
  }

  FormulaNet net_;
  Settings settings_;
};

// Warms the encoder up on an easier task: the number of operators in the ink.
class LengthTrainer : public Trainer {
 public:
  using Trainer::Trainer;

 protected:
  std::vector<torch::Tensor> trained() override {
    auto list = net_->encoder->parameters();
    for (auto& p : net_->length_head->parameters()) list.push_back(p);
    return list;
  }

  void run_epoch(torch::optim::Optimizer& optimizer, const InkSet& train) override {
    int step = 0;
    for (const auto& rows : shuffled(train.size())) {
      optimizer.zero_grad();
      auto loss = torch::nll_loss(net_->log_lengths(train.images(rows)), train.lengths(rows));  // RIGHT: torch-loss-input
      loss.backward();
      optimizer.step();
      if (step++ % 10 == 0) std::printf("  length loss %.4f\n", loss.item<double>());  // RIGHT: torch-sync-in-loop
    }
  }

  void report(int epoch, const InkSet& test) override {
    torch::NoGradGuard no_grad;
    EvalScope scope(*net_);
    auto rows = torch::arange(test.size(), torch::TensorOptions().dtype(torch::kLong).device(settings_.device));
    auto error = net_->log_lengths(test.images(rows)).argmax(1).ne(test.lengths(rows)).sum();
    std::printf("length epoch %d  errors %ld\n", epoch, error.item<int64_t>());
  }
};

class TokenTrainer : public Trainer {
 public:
  using Trainer::Trainer;

  double mean_loss() const { return history_.empty() ? 0.0 : torch::stack(history_).mean().item<double>(); }

 protected:
  std::vector<torch::Tensor> trained() override { return net_->parameters(); }

  void run_epoch(torch::optim::Optimizer& optimizer, const InkSet& train) override {
    const auto longs = torch::TensorOptions().dtype(torch::kLong).device(settings_.device);
    double running = 0.0;
    for (const auto& rows : shuffled(train.size())) {
      optimizer.zero_grad();
      auto targets = train.targets(rows);
      auto start = torch::full({settings_.batch, 1}, kBos, longs);  // EXPECT: torch-allocation-in-loop
      auto inputs = torch::cat({start, targets.narrow(1, 0, settings_.length - 1)}, 1);
      auto output = net_->forward(train.images(rows), inputs);
      auto loss = torch::nn::functional::cross_entropy(output.flatten(0, 1), targets.flatten());  // EXPECT: torch-loss-input
      loss.backward();
      optimizer.step();
      running += loss.item<double>();  // EXPECT: torch-sync-in-loop
      history_.push_back(loss.detach());  // RIGHT: torch-retained-graph
    }
    std::printf("  token loss %.4f\n", running * settings_.batch / static_cast<double>(train.size()));
  }

  // Hits of every place of the formula, of all tokens and of the operators.
  void report(int epoch, const InkSet& test) override {
    torch::NoGradGuard no_grad;
    net_->eval();  // EXPECT: torch-eval-mode-not-restored
    const auto options = torch::TensorOptions().device(settings_.device);
    std::vector<torch::Tensor> tallies(2, torch::zeros({settings_.length}, options));  // EXPECT: torch-fill-alias
    for (const auto& rows : shuffled(test.size())) {
      auto targets = test.targets(rows);
      auto right = net_->decoder->greedy(net_->encoder->forward(test.images(rows)), settings_.length).eq(targets);
      tallies[0].add_(right.sum(0));
      tallies[1].add_(right.logical_and(targets.gt(kFirstSymbol + 4)).sum(0));
    }
    auto rates = torch::stack(tallies).div_(static_cast<double>(test.size())).flatten().to(torch::kCPU);
    std::printf("token epoch %d  all tokens and operators by place", epoch);
    const float* rate = rates.data_ptr<float>();
    for (int64_t at = 0; at < rates.numel(); ++at) std::printf(" %.3f", rate[at]);
    std::printf("\n");
  }
 private:
  std::vector<torch::Tensor> history_;
};

FormulaNet deploy(FormulaNet& net, const Settings& s) {
  std::stringstream file;
  torch::save(net, file);
  FormulaNet copy(s);
  copy->decoder->grow_vocabulary(s.vocabulary);
  torch::load(copy, file, s.device);
  copy->to(s.device);
  copy->eval();
  return copy;
}

}  // namespace formula

int main(int argc, char** argv) {
  using namespace formula;
  Settings s;
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    if (flag == "--calibrate") s.calibrate = true;
    if (flag == "--epochs" && i + 1 < argc) s.epochs = std::atoi(argv[++i]);
  }
  torch::set_num_threads(1);
  torch::manual_seed(3);
  auto glyphs = torch::rand({s.vocabulary, s.height, s.glyph}, torch::TensorOptions().device(s.device)).gt(0.6).to(torch::kFloat32);
  InkSet train(s, s.samples, glyphs);
  InkSet test(s, 64, glyphs);

  FormulaNet net(s);
  net->decoder->grow_vocabulary(s.vocabulary);
  net->to(s.device);
  net->decoder->set_token_counts(torch::bincount(train.all_targets().flatten(), {}, s.vocabulary));

  LengthTrainer(net, s).fit(train, test, s.pretrain_epochs);
  TokenTrainer trainer(net, s);
  trainer.fit(train, test, s.epochs);

  torch::NoGradGuard no_grad;
  auto served = deploy(net, s);
  auto rows = torch::arange(8, torch::TensorOptions().dtype(torch::kLong).device(s.device));
  auto read = served->decoder->greedy(served->encoder->forward(test.images(rows)), s.length);
  std::printf("mean loss %.4f  served %ld formulas\n", trainer.mean_loss(), static_cast<long>(read.size(0)));
  return 0;
}

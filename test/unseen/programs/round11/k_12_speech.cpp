// Contrastive pre-training of a speech encoder with a momentum teacher.
//
// A queue of teacher embeddings serves as negatives; an adversarial critic takes
// the recording channel out of the embeddings.

#include <ATen/autocast_mode.h>
#include <torch/torch.h>

#include <iostream>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace speech {

struct Settings {
  int64_t utterances = 160, frames = 64, mels = 20;
  int64_t width = 24, embedding = 16;
  int64_t queue = 128, hard = 16;
  int64_t batch = 16, epochs = 2;
  double momentum = 0.99, temperature = 0.1;
  bool warm_queue = false, bounded_scale = false, split_views = false, amp_probe = false;
  torch::Device device = torch::kCPU;
};

// Swish that recomputes the gate in the backward pass.
class Swish : public torch::autograd::Function<Swish> {
 public:
  static torch::Tensor forward(torch::autograd::AutogradContext* ctx, const torch::Tensor& x) {
    ctx->save_for_backward({x});  // RIGHT: torch-saved-data
    return torch::silu(x);
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 torch::autograd::variable_list grads) {
    torch::Tensor x = ctx->get_saved_variables()[0];
    return {torch::silu_backward(grads[0], x)};
  }
};

// Square root compression of the energies; its output gives the derivative.
class Compress : public torch::autograd::Function<Compress> {
 public:
  static torch::Tensor forward(torch::autograd::AutogradContext* ctx, const torch::Tensor& x) {
    torch::Tensor y = torch::sqrt(x + 1e-4);
    ctx->saved_data["root"] = y;  // EXPECT: torch-saved-data
    return y;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 torch::autograd::variable_list grads) {
    return {grads[0] / (2.0 * ctx->saved_data["root"].toTensor())};
  }
};

class Encoder : public torch::nn::Module {
 public:
  virtual torch::Tensor forward(const torch::Tensor& features) = 0;

 protected:
  static torch::Tensor unit(const torch::Tensor& x) {
    return torch::nn::functional::normalize(x, torch::nn::functional::NormalizeFuncOptions().dim(1));
  }
};

class ConvEncoder : public Encoder {
 public:
  explicit ConvEncoder(const Settings& s) {
    gain_ = register_parameter("gain", torch::ones({1, s.mels, 1}));
    first_ = register_module("first", torch::nn::Conv1d(torch::nn::Conv1dOptions(s.mels, s.width, 5).stride(2)));
    second_ = register_module("second", torch::nn::Conv1d(torch::nn::Conv1dOptions(s.width, s.width, 3).stride(2)));
    drop_ = register_module("drop", torch::nn::Dropout(0.1));
    out_ = register_module("out", torch::nn::Linear(s.width, s.embedding));
  }

  torch::Tensor forward(const torch::Tensor& features) override {
    torch::Tensor x = Compress::apply((features * gain_).abs());
    x = Swish::apply(second_->forward(Swish::apply(first_->forward(x))));
    return unit(out_->forward(drop_->forward(x.mean(2))));
  }

  torch::Tensor project(const torch::Tensor& pooled) { return out_->forward(pooled); }

  // Keeps the gains of the bands in their range.
  void bound_gain() { gain_.clamp_(0.1, 10.0); }  // EXPECT: torch-leaf-inplace

  void damp_output(double factor) {
    torch::NoGradGuard guard;
    out_->weight.mul_(factor);  // RIGHT: torch-leaf-inplace
  }
 private:
  torch::Tensor gain_;
  torch::nn::Conv1d first_{nullptr}, second_{nullptr};
  torch::nn::Dropout drop_{nullptr};
  torch::nn::Linear out_{nullptr};
};

// The input statistics of an older production model; it is not trained here.
class LegacyFrontEnd : public torch::nn::Module {
 public:
  explicit LegacyFrontEnd(int64_t mels) {
    mix_ = register_module("mix", torch::nn::Conv1d(torch::nn::Conv1dOptions(mels, mels, 1)));
  }

  torch::Tensor forward(const torch::Tensor& features) { return features + torch::tanh(mix_->forward(features)); }

  void freeze() {
    for (torch::Tensor& p : parameters()) p.requires_grad_(false);
  }
 private:
  torch::nn::Conv1d mix_{nullptr};
};

class Critic : public torch::nn::Module {
 public:
  explicit Critic(int64_t embedding) {
    net_ = register_module("net", torch::nn::Sequential(torch::nn::Linear(embedding, 16), torch::nn::ReLU(),
                                                        torch::nn::Linear(16, 1)));
  }

  torch::Tensor forward(const torch::Tensor& z) { return net_->forward(z).squeeze(1); }
 private:
  torch::nn::Sequential net_{nullptr};
};

struct Corpus {
  torch::Tensor features;  // [utterances, mels, frames]
  torch::Tensor channel;   // one when recorded over the telephone
};

Corpus make_corpus(const Settings& s) {
  Corpus corpus;
  torch::Tensor speakers = torch::rand({s.utterances, s.mels, 1}, s.device);
  corpus.channel = torch::rand({s.utterances}, s.device).lt(0.5).to(torch::kFloat);
  corpus.features = torch::rand({s.utterances, s.mels, s.frames}, s.device).mul_(speakers);
  corpus.features.slice(1, s.mels / 2).mul_(corpus.channel.mul(-0.7).add_(1.0).view({-1, 1, 1}));
  return corpus;
}

torch::Tensor augment(const torch::Tensor& features) {
  torch::Tensor keep = torch::rand({features.size(0), features.size(1), 1}, features.options()).gt_(0.1);
  return torch::mul(features, keep).add_(torch::rand_like(features), 0.05);
}

class Queue {
 public:
  Queue(const Settings& s)
      : keys_(torch::randn({s.queue, s.embedding}, s.device)), rows_(torch::arange(s.queue, s.device)) {}

  void push(const torch::Tensor& keys) {
    keys_.index_copy_(0, rows_.narrow(0, position_, keys.size(0)), keys.detach());
    position_ = (position_ + keys.size(0)) % keys_.size(0);
  }

  torch::Tensor hardest(const torch::Tensor& query, int64_t count) const {
    torch::Tensor score = torch::mv(keys_, query.detach().mean(0));
    torch::Tensor order = std::get<1>(score.cpu().topk(count)).to(query.device());  // EXPECT: torch-device-round-trip
    return keys_.index_select(0, order);
  }

  const torch::Tensor& keys() const { return keys_; }
 private:
  torch::Tensor keys_, rows_;
  int64_t position_ = 0;
};

class Trainer {
 public:
  Trainer(const Settings& s, Corpus corpus) : settings_(s), corpus_(std::move(corpus)) {}
  virtual ~Trainer() = default;

  double epoch() {
    torch::Tensor total = torch::zeros({}, settings_.device);
    torch::Tensor order = torch::randperm(corpus_.features.size(0), settings_.device);
    for (const torch::Tensor& rows : order.split(settings_.batch)) {
      total.add_(step(corpus_.features.index_select(0, rows), corpus_.channel.index_select(0, rows)));  // RIGHT: torch-retained-graph
    }
    return total.item<double>();
  }

 protected:
  virtual torch::Tensor step(const torch::Tensor& features, const torch::Tensor& channel) = 0;

  Settings settings_;
  Corpus corpus_;
};

class MomentumTrainer : public Trainer {
 public:
  MomentumTrainer(const Settings& s, Corpus corpus)
      : Trainer(s, std::move(corpus)), student_(std::make_shared<ConvEncoder>(s)),
        teacher_(std::make_shared<ConvEncoder>(s)), front_(std::make_shared<LegacyFrontEnd>(s.mels)),
        reference_(std::make_shared<LegacyFrontEnd>(s.mels)), critic_(std::make_shared<Critic>(s.embedding)),
        queue_(s), labels_(torch::zeros({s.batch}, torch::TensorOptions(torch::kLong).device(s.device))) {
    const std::vector<std::shared_ptr<torch::nn::Module>> all = {student_, teacher_, front_, reference_, critic_};
    for (const auto& module : all) module->to(s.device);
    copy_weights();
    reference_->freeze();
    optimizer_ = std::make_unique<torch::optim::Adam>(student_->parameters(), torch::optim::AdamOptions(2e-3));
    critic_optimizer_ = std::make_unique<torch::optim::Adam>(critic_->parameters(), torch::optim::AdamOptions(2e-3));
  }

  // Fills the queue with teacher embeddings before the first step.
  void warm_up() {
    torch::GradMode::set_enabled(false);  // EXPECT: torch-grad-mode-not-restored
    for (const torch::Tensor& part : corpus_.features.split(settings_.batch)) {
      queue_.push(teacher_->forward(part));
    }
  }

  // Mean similarity of the two views, without dropout.
  double agreement() {
    const bool before = torch::GradMode::is_enabled();
    torch::GradMode::set_enabled(false);  // RIGHT: torch-grad-mode-not-restored
    const double value = similarity();
    torch::GradMode::set_enabled(before);
    return value;
  }

  // Spread, or highest similarity, of the embeddings as they are deployed.
  double probe() {
    torch::NoGradGuard guard;
    const auto type = settings_.device.type();
    at::autocast::set_autocast_dtype(type, torch::kBFloat16);
    at::autocast::set_autocast_enabled(type, true);
    torch::Tensor pooled = corpus_.features.slice(0, 0, settings_.batch).mean(2);
    pooled = torch::nn::functional::pad(pooled, torch::nn::functional::PadFuncOptions({0, settings_.width - settings_.mels}));
    torch::Tensor query = student_->project(pooled);
    at::autocast::clear_cache();
    at::autocast::set_autocast_enabled(type, false);
    const double spread = query.to(torch::kFloat).sub_(queue_.keys().mean(0)).norm().item<double>();  // RIGHT: torch-autocast-boundary
    if (!settings_.amp_probe) return spread;
    return torch::mm(query, queue_.keys().t()).amax().item<double>();  // EXPECT: torch-autocast-boundary
  }

  // Speaker channels over which the queue is unbalanced, as a host side set.
  std::set<int64_t> crowded() const {
    torch::Tensor nearest = queue_.keys().argmax(1).cpu();  // RIGHT: torch-device-round-trip
    const int64_t* value = nearest.data_ptr<int64_t>();
    return std::set<int64_t>(value, value + nearest.numel());
  }

 protected:
  torch::Tensor step(const torch::Tensor& features, const torch::Tensor& channel) override {
    train_critic(features, channel);
    torch::Tensor query = student_->forward(front_->forward(augment(features)));  // EXPECT: torch-unused-gradients
    torch::Tensor key = teach(augment(features));
    torch::Tensor loss = contrast(query, key);
    if (settings_.split_views) {
      torch::Tensor mirrored = contrast(student_->forward(augment(features)), key);
      optimizer_->zero_grad();
      loss.backward();
      optimizer_->step();
      optimizer_->zero_grad();
      mirrored.backward();  // EXPECT: torch-stale-graph
      optimizer_->step();
    } else {
      torch::Tensor confused = torch::binary_cross_entropy_with_logits(critic_->forward(query), 1.0 - channel);
      loss = loss + 0.1 * confused + 0.05 * drift(query, features);
      optimizer_->zero_grad();
      loss.backward();
      optimizer_->step();
      student_->damp_output(0.999);
    }
    if (settings_.bounded_scale) student_->bound_gain();
    update_teacher();
    queue_.push(key);
    return loss.detach();
  }

 private:
  torch::Tensor teach(const torch::Tensor& features) {
    torch::NoGradGuard guard;
    return teacher_->forward(reference_->forward(features));
  }

  void train_critic(const torch::Tensor& features, const torch::Tensor& channel) {
    torch::Tensor fresh = student_->forward(features);
    torch::Tensor loss = torch::binary_cross_entropy_with_logits(critic_->forward(fresh), channel);  // EXPECT: torch-undetached-generator-output
    critic_optimizer_->zero_grad();
    loss.backward();
    critic_optimizer_->step();

    // A second step on embeddings of the queue, which count as clean speech.
    torch::Tensor clean = critic_->forward(queue_.hardest(fresh, settings_.hard));  // RIGHT: torch-undetached-generator-output
    torch::Tensor second = torch::softplus(clean).mean();
    critic_optimizer_->zero_grad();
    second.backward();  // RIGHT: torch-stale-graph
    critic_optimizer_->step();
  }

  torch::Tensor contrast(const torch::Tensor& query, const torch::Tensor& key) {
    torch::Tensor hard = queue_.hardest(query, settings_.hard);
    torch::Tensor positive = torch::linalg_vecdot(query, key, 1).unsqueeze(1);
    torch::Tensor logits = torch::cat({positive, torch::mm(query, hard.t())}, 1).div_(settings_.temperature);
    return torch::cross_entropy_loss(logits, labels_);
  }

  // Distance to the embedding behind the reference front end.
  torch::Tensor drift(const torch::Tensor& query, const torch::Tensor& features) {
    return torch::mse_loss(query, student_->forward(reference_->forward(features)));  // RIGHT: torch-unused-gradients
  }

  void copy_weights() {
    torch::NoGradGuard guard;
    const auto from = student_->parameters();
    auto to = teacher_->parameters();
    for (size_t i = 0; i < to.size(); ++i) {
      torch::Tensor target = to[i];
      target.copy_(from[i]);  // RIGHT: torch-parameter-copy
    }
  }

  void update_teacher() {
    torch::NoGradGuard guard;
    const auto from = student_->parameters();
    auto to = teacher_->parameters();
    for (size_t i = 0; i < to.size(); ++i) {
      torch::Tensor target = to[i];
      target = torch::lerp(target, from[i], 1.0 - settings_.momentum);  // EXPECT: torch-parameter-copy
    }
  }

  double similarity() {
    student_->eval();  // RIGHT: torch-partial-eval-mode
    teacher_->eval();
    torch::Tensor a = student_->forward(corpus_.features);  // RIGHT: torch-missing-no-grad
    torch::Tensor b = teacher_->forward(corpus_.features);
    student_->train();
    teacher_->train();
    return torch::linalg_vecdot(a, b, 1).mean().item<double>();
  }

  std::shared_ptr<ConvEncoder> student_, teacher_;
  std::shared_ptr<LegacyFrontEnd> front_, reference_;
  std::shared_ptr<Critic> critic_;
  Queue queue_;
  torch::Tensor labels_;
  std::unique_ptr<torch::optim::Adam> optimizer_, critic_optimizer_;
};

Settings parse(int argc, char** argv) {
  Settings s;
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    s.warm_queue = s.warm_queue || arg == "--warm-queue";
    s.bounded_scale = s.bounded_scale || arg == "--bound-gain";
    s.split_views = s.split_views || arg == "--split-views";
    s.amp_probe = s.amp_probe || arg == "--amp-probe";
  }
  s.device = torch::cuda::is_available() ? torch::kCUDA : torch::kCPU;
  return s;
}

}  // namespace speech

int main(int argc, char** argv) {
  torch::manual_seed(12);
  torch::set_num_threads(1);
  const speech::Settings settings = speech::parse(argc, argv);
  speech::MomentumTrainer trainer(settings, speech::make_corpus(settings));
  if (settings.warm_queue) trainer.warm_up();
  for (int64_t epoch = 0; epoch < settings.epochs; ++epoch) {
    const double loss = trainer.epoch();
    std::cout << "epoch " << epoch << " loss " << loss << " agreement " << trainer.agreement() << "\n";
  }
  std::cout << "probe " << trainer.probe() << " crowded dimensions " << trainer.crowded().size() << "\n";
  return 0;
}

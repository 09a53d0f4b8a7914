// Fabric textures: several mills train a small GAN each on their own pictures and exchange weights
// with a coordinator. A classifier of weaves is trained beside it to judge what comes out.
#include <torch/torch.h>

#include <cstdint>
#include <cstring>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace nn = torch::nn;

namespace {

constexpr int64_t kNoise = 24;
constexpr int64_t kSide = 16;
constexpr int64_t kFeatures = 32 * 4 * 4;

struct Options {
  int rounds = 2;
  int steps = 3;
  int64_t batch = 12;
  double penalty = 5.0;
  bool raw_preview = false;
};

// ---------------------------------------------------------------- networks

struct WeaverImpl : nn::Module {
  nn::Linear seed{nullptr};
  nn::Sequential up{nullptr};

  WeaverImpl() {
    seed = register_module("seed", nn::Linear(kNoise, kFeatures));
    up = register_module(
        "up", nn::Sequential(nn::ConvTranspose2d(nn::ConvTranspose2dOptions(32, 16, 4).stride(2).padding(1)),
                             nn::BatchNorm2d(16), nn::ReLU(),
                             nn::ConvTranspose2d(nn::ConvTranspose2dOptions(16, 1, 4).stride(2).padding(1)), nn::Tanh()));
  }
  torch::Tensor forward(const torch::Tensor& z) { return up->forward(torch::relu(seed(z)).view({-1, 32, 4, 4})); }
};
TORCH_MODULE(Weaver);

struct InspectorImpl : nn::Module {
  nn::Sequential body{nullptr};
  nn::Linear verdict{nullptr};

  InspectorImpl() {
    body = register_module("body", nn::Sequential(nn::Conv2d(nn::Conv2dOptions(1, 16, 4).stride(2).padding(1)),
                                                  nn::LeakyReLU(nn::LeakyReLUOptions().negative_slope(0.2)),
                                                  nn::Conv2d(nn::Conv2dOptions(16, 32, 4).stride(2).padding(1)),
                                                  nn::LeakyReLU(nn::LeakyReLUOptions().negative_slope(0.2)),
                                                  nn::Flatten()));
    verdict = register_module("verdict", nn::Linear(kFeatures, 1));
  }
  torch::Tensor features(const torch::Tensor& x) { return body->forward(x); }
  torch::Tensor forward(const torch::Tensor& x) { return verdict(features(x)); }
};
TORCH_MODULE(Inspector);

// Names the weave; keeps running statistics of what it has been shown.
class WeaveNamerImpl : public nn::Module {
 public:
  explicit WeaveNamerImpl(int64_t weaves) {
    hidden_ = register_module("hidden", nn::Linear(kSide * kSide, 64));
    names_ = register_module("names", nn::Linear(64, weaves));
    centre_ = register_buffer("centre", torch::zeros({kSide * kSide}));
    seen_ = register_buffer("seen", torch::zeros({}, torch::kLong));
  }

  torch::Tensor forward(const torch::Tensor& x) {
    const auto flat = x.flatten(1);
    if (is_training()) observe(flat.detach());
    return names_(torch::relu(hidden_(flat - centre_)));
  }

  // a mill with another assortment
  void relabel(int64_t weaves) {
    names_ = replace_module("names", nn::Linear(64, weaves));  // RIGHT: torch-reassigned-member
  }

  int64_t seen() const { return seen_.item<int64_t>(); }

 private:
  void observe(const torch::Tensor& flat) {
    centre_ = torch::lerp(centre_, flat.mean(0), 0.1);  // EXPECT: torch-reassigned-member
    seen_ += flat.size(0);  // RIGHT: torch-reassigned-member
  }

  nn::Linear hidden_{nullptr}, names_{nullptr};
  torch::Tensor centre_, seen_;
};
TORCH_MODULE(WeaveNamer);

// ---------------------------------------------------------------- losses

torch::Tensor passes(const torch::Tensor& score) {
  return torch::binary_cross_entropy_with_logits(score, torch::full(score.sizes(), 0.9f));  // EXPECT: torch-device-mismatch
}

torch::Tensor fails(const torch::Tensor& score) {
  static const torch::Tensor half = torch::tensor(0.5f);
  return torch::softplus(score).mean() * half;  // RIGHT: torch-device-mismatch
}

torch::Tensor gradient_penalty(Inspector& inspector, const torch::Tensor& real, const torch::Tensor& fake) {
  const auto mix = torch::rand({real.size(0), 1, 1, 1}, real.options());
  const auto between = torch::lerp(real, fake, mix).detach().requires_grad_(true);
  const auto score = inspector->forward(between).sum();
  const auto grads = torch::autograd::grad({score}, {between}, {}, /*retain_graph=*/true,  // RIGHT: torch-retain-graph-in-loop
                                           /*create_graph=*/true);
  return (grads[0].flatten(1).norm(2, 1) - 1.0).square().mean();
}

// ---------------------------------------------------------------- one mill

class Mill {
 public:
  Mill(std::string name, Options options, torch::Device device)
      : name_(std::move(name)),
        options_(options),
        device_(device),
        pictures_(torch::rand({options.batch * 4, 1, kSide, kSide}, torch::device(device)) * 2.0 - 1.0) {
    weaver_->to(device_);
    inspector_->to(device_);
    weaver_opt_ = std::make_unique<torch::optim::Adam>(weaver_->parameters(), torch::optim::AdamOptions(2e-4));
    inspector_opt_ = std::make_unique<torch::optim::Adam>(inspector_->parameters(), torch::optim::AdamOptions(4e-4));
  }

  void work() {
    statistics_ = torch::Tensor();
    for (int step = 0; step < options_.steps; ++step) {
      const auto real = pictures_.narrow(0, (step % 4) * options_.batch, options_.batch);
      teach_inspector(real);
      teach_weaver();
    }
  }

  torch::Tensor preview(int64_t count) {
    const auto z = noise(count);
    torch::GradMode::set_enabled(false);  // EXPECT: torch-grad-mode-not-restored
    auto out = weaver_->forward(z);
    if (options_.raw_preview) return out;
    out = out.add_(1.0).mul_(127.5).to(torch::kUInt8);
    torch::GradMode::set_enabled(true);
    return out;
  }

  torch::Tensor realism(int64_t count) {
    const bool before = torch::GradMode::is_enabled();
    torch::GradMode::set_enabled(false);  // RIGHT: torch-grad-mode-not-restored
    const auto score = torch::sigmoid(inspector_->forward(weaver_->forward(noise(count)))).mean();
    torch::GradMode::set_enabled(before);
    return score;
  }

  // Statistics of the pictures, computed where the network is.
  const torch::Tensor& statistics() {
    if (statistics_.defined() && statistics_.device() == device_) return statistics_;  // EXPECT: torch-device-comparison
    torch::NoGradGuard no_grad;
    const auto features = inspector_->features(pictures_);
    statistics_ = torch::mm(features.t(), features) / static_cast<double>(features.size(0));
    return statistics_;
  }

  bool holds(const torch::Tensor& t) const {
    return t.device() == pictures_.device();  // RIGHT: torch-device-comparison
  }

  Weaver weaver() const { return weaver_; }
  Inspector inspector() const { return inspector_; }
  const torch::Tensor& pictures() const { return pictures_; }
  const std::string& name() const { return name_; }

 private:
  torch::Tensor noise(int64_t count) const { return torch::randn({count, kNoise}, torch::device(device_)); }

  void teach_inspector(const torch::Tensor& real) {
    const auto made = weaver_->forward(noise(options_.batch));
    const auto loss = passes(inspector_->forward(real)) + fails(inspector_->forward(made)) +  // EXPECT: torch-undetached-generator-output
                      options_.penalty * gradient_penalty(inspector_, real, made);
    inspector_opt_->zero_grad();
    loss.backward();
    inspector_opt_->step();
  }

  void teach_weaver() {
    const auto loss = passes(inspector_->forward(weaver_->forward(noise(options_.batch))));  // RIGHT: torch-undetached-generator-output
    weaver_opt_->zero_grad();
    loss.backward({}, /*retain_graph=*/true);  // EXPECT: torch-retain-graph-in-loop
    weaver_opt_->step();
  }

  std::string name_;
  Options options_;
  torch::Device device_;
  torch::Tensor pictures_;
  torch::Tensor statistics_;
  Weaver weaver_;
  Inspector inspector_;
  std::unique_ptr<torch::optim::Adam> weaver_opt_, inspector_opt_;
};

// ---------------------------------------------------------------- exchange

using Message = std::map<std::string, std::vector<char>>;

Message pack(const nn::Module& module) {
  Message message;
  for (const auto& item : module.named_parameters()) {
    const auto host = item.value().detach().cpu().contiguous();  // RIGHT: torch-noncontiguous-operand
    const size_t length = static_cast<size_t>(host.numel()) * sizeof(host.scalar_type());  // EXPECT: torch-sizeof-dtype
    const char* from = static_cast<const char*>(host.const_data_ptr());
    message[item.key()].assign(from, from + length);
  }
  return message;
}

size_t expected_bytes(const nn::Module& module) {
  size_t total = 0;
  for (const auto& p : module.parameters()) {
    total += static_cast<size_t>(p.numel()) * c10::elementSize(p.scalar_type());  // RIGHT: torch-sizeof-dtype
  }
  return total;
}

size_t actual_bytes(const Message& message) {
  size_t total = 0;
  for (const auto& item : message) total += item.second.size();
  return total;
}

void average(std::vector<Mill>& mills) {
  torch::NoGradGuard no_grad;
  std::vector<std::vector<torch::Tensor>> all;
  for (auto& m : mills) all.push_back(m.weaver()->parameters());
  for (size_t p = 0; p < all.front().size(); ++p) {
    std::vector<torch::Tensor> versions;
    for (auto& one : all) versions.push_back(one[p]);
    const auto mean = torch::stack(versions).mean(0);
    for (auto& v : versions) v.copy_(mean);
  }
}

// ---------------------------------------------------------------- judging

// How much of each mill's pictures lies in the space that the basis spans.
std::vector<torch::Tensor> spanned(std::vector<Mill>& mills, const torch::Tensor& basis) {
  torch::NoGradGuard no_grad;
  std::vector<torch::Tensor> out;
  for (auto& mill : mills) {
    const auto features = mill.inspector()->features(mill.pictures());
    const auto codes = torch::mm(features, basis.t().contiguous());  // EXPECT: torch-noncontiguous-operand
    out.push_back(codes.norm(2, 1).mean());
  }
  return out;
}

struct Swatches {
  torch::Tensor images, weaves;
};

Swatches swatches(int64_t count, int64_t weaves, torch::Device device) {
  return {torch::rand({count, 1, kSide, kSide}, torch::device(device)),
          torch::randint(weaves, {count}, torch::device(device).dtype(torch::kLong))};
}

torch::Tensor descend(WeaveNamer& namer, torch::optim::Optimizer& optimizer, const Swatches& s, int64_t batch) {
  torch::Tensor last;
  for (int64_t at = 0; at + batch <= s.images.size(0); at += batch) {
    optimizer.zero_grad();
    const auto loss = torch::nn::functional::cross_entropy(namer->forward(s.images.narrow(0, at, batch)),
                                                           s.weaves.narrow(0, at, batch));
    loss.backward();
    optimizer.step();
    last = loss.detach();
  }
  return last;
}

torch::Tensor learn_once(WeaveNamer& namer, const Swatches& s, int64_t batch) {
  torch::optim::Adam optimizer(namer->parameters(), torch::optim::AdamOptions(1e-3));  // EXPECT: torch-optimizer-in-loop
  namer->train();
  return descend(namer, optimizer, s, batch);
}

torch::Tensor learn(WeaveNamer& namer, const Swatches& s, int64_t batch, int epochs) {
  torch::Tensor last;
  for (int e = 0; e < epochs; ++e) last = learn_once(namer, s, batch);
  return last;
}

double best_rate(const Swatches& s, int64_t weaves, int64_t batch, torch::Device device) {
  double best = 0.0, lowest = 1e9;
  for (double rate : {1e-4, 1e-3, 1e-2}) {
    WeaveNamer fresh(weaves);
    fresh->to(device);
    torch::optim::Adam optimizer(fresh->parameters(), torch::optim::AdamOptions(rate));  // RIGHT: torch-optimizer-in-loop
    const double loss = descend(fresh, optimizer, s, batch).item<double>();
    if (loss < lowest) {
      lowest = loss;
      best = rate;
    }
  }
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  torch::set_num_threads(1);
  torch::manual_seed(41);
  Options options;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--raw") == 0) options.raw_preview = true;
  }
  const torch::Device device(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU);

  std::vector<Mill> mills;
  for (const char* name : {"north", "south", "harbour"}) mills.emplace_back(name, options, device);

  for (int round = 0; round < options.rounds; ++round) {
    for (auto& mill : mills) {
      mill.work();
      const auto sheet = mill.preview(4);
      std::cout << mill.name() << " round " << round << ": sheet " << sheet.sizes() << ", statistics "
                << mill.statistics().trace().item<float>() << " / " << mill.statistics().norm().item<float>() << "\n";
    }
    average(mills);
  }

  for (auto& mill : mills) {
    const auto message = pack(*mill.weaver());
    std::cout << mill.name() << ": sent " << actual_bytes(message) << " of " << expected_bytes(*mill.weaver())
              << " bytes, realism " << mill.realism(16).item<float>() << ", local " << mill.holds(mill.pictures()) << "\n";
  }

  const auto basis = torch::randn({128, kFeatures}, torch::device(device));
  for (const auto& s : spanned(mills, basis)) std::cout << "spanned " << s.item<float>() << "\n";

  const auto set = swatches(96, 5, device);
  WeaveNamer namer(5);
  namer->to(device);
  std::cout << "loss " << learn(namer, set, options.batch, 3).item<float>() << " after " << namer->seen()
            << " swatches, best rate " << best_rate(set, 5, options.batch, device) << "\n";
  namer->relabel(8);
  namer->to(device);
  std::cout << "relabelled: " << namer->parameters().size() << " parameters\n";
  return 0;
}

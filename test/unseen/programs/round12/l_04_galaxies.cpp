// Galaxy images: an adversarial generator of mock galaxies for a survey pipeline, a
// morphology classifier, inversion of observed stamps and a denoiser, behind one command line.
#include <torch/torch.h>

#include <ATen/DeviceAccelerator.h>

#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <vector>

struct SurveyConfig {
  int64_t stamps = 96;
  int64_t side = 16;
  int64_t latent = 12;
  int64_t batch = 24;
  int epochs = 2;
  bool stars = false;
  std::string device = "auto";
  std::vector<std::string> commands;
};

static torch::Device choose(const std::string& name) {
  if (name == "auto") return torch::cuda::is_available() ? torch::kCUDA : torch::kCPU;
  return torch::Device(name);
}

struct Catalogue {
  torch::Tensor images;  // [N, 1, side, side] in [-1, 1]
  torch::Tensor morphology;
};

// Round, edge-on and barred profiles with noise of the sky.
static Catalogue mock_catalogue(const SurveyConfig& c, torch::Device device) {
  auto options = torch::TensorOptions().device(device);
  auto axis = torch::linspace(-1, 1, c.side, options);
  auto x = axis.view({1, 1, -1}), y = axis.view({1, -1, 1});
  auto kind = torch::randint(3, {c.stamps}, options.dtype(torch::kLong));
  auto ratio = torch::where(kind == 1, 0.25, 0.9).view({-1, 1, 1});
  auto angle = torch::rand({c.stamps, 1, 1}, options) * 3.14159;
  auto u = x * angle.cos() + y * angle.sin(), v = (y * angle.cos() - x * angle.sin()) / ratio;
  auto radius = (u.square() + v.square()).sqrt();
  auto profile = torch::exp(-4 * radius);
  auto bar = torch::exp(-40 * v.square() - 6 * u.square()) * (kind == 2).view({-1, 1, 1});
  auto image = (profile + 0.6 * bar + 0.03 * torch::randn_like(profile)).clamp(0, 1) * 2 - 1;
  return {image.unsqueeze(1).to(torch::kFloat), kind};
}

struct GeneratorImpl : torch::nn::Module {
  GeneratorImpl(const SurveyConfig& c, torch::Device device) : quarter(c.side / 4) {
    seed = register_module("seed", torch::nn::Linear(c.latent, 32 * quarter * quarter));
    up1 = register_module("up1", torch::nn::ConvTranspose2d(torch::nn::ConvTranspose2dOptions(32, 16, 4).stride(2).padding(1)));
    refine = register_module("refine", torch::nn::ModuleList());
    for (int i = 0; i < 2; ++i) refine->push_back(torch::nn::Conv2d(torch::nn::Conv2dOptions(16, 16, 3).padding(1)));
    up2 = register_module("up2", torch::nn::ConvTranspose2d(torch::nn::ConvTranspose2dOptions(16, 1, 4).stride(2).padding(1)));
    if (c.stars) stars = register_buffer("stars", torch::rand({c.side, c.side}, device).gt(0.98).to(torch::kFloat));
  }

  torch::Tensor forward(const torch::Tensor& z) {
    auto h = torch::relu(seed->forward(z)).view({-1, 32, quarter, quarter});
    h = up1->forward(h).relu_();  // RIGHT: torch-inplace-saved (a convolution does not keep its output)
    for (auto& layer : *refine) {
      h = h + 0.5 * torch::tanh(layer->as<torch::nn::Conv2d>()->forward(h));  // RIGHT: torch-inplace-opportunity (backward needs the old h)
    }
    auto image = torch::tanh(up2->forward(h));
    if (stars.defined()) image.add_(stars);  // EXPECT: torch-inplace-saved
    return image;
  }

  int64_t quarter;
  torch::nn::Linear seed{nullptr};
  torch::nn::ConvTranspose2d up1{nullptr}, up2{nullptr};
  torch::nn::ModuleList refine{nullptr};
  torch::Tensor stars;
};
TORCH_MODULE(Generator);

struct CriticImpl : torch::nn::Module {
  explicit CriticImpl(const SurveyConfig& c) {
    conv1 = register_module("conv1", torch::nn::Conv2d(torch::nn::Conv2dOptions(1, 16, 4).stride(2).padding(1)));
    conv2 = register_module("conv2", torch::nn::Conv2d(torch::nn::Conv2dOptions(16, 32, 4).stride(2).padding(1)));
    out = register_module("out", torch::nn::Linear(2 * c.side * c.side, 1));
    sky = register_buffer("sky", torch::zeros({1}));
    spread = register_buffer("spread", torch::ones({1}));
  }

  torch::Tensor forward(const torch::Tensor& image) {
    if (is_training()) {
      sky = 0.95 * sky + 0.05 * image.detach().mean();  // EXPECT: torch-reassigned-member
      spread.mul_(0.95).add_(image.detach().std(), 0.05);  // RIGHT: torch-reassigned-member (in place)
    }
    auto h = torch::leaky_relu(conv1->forward((image - sky) / spread.clone()), 0.2);
    h = torch::leaky_relu(conv2->forward(h), 0.2);
    return out->forward(h.flatten(1)).squeeze(1);
  }

  torch::nn::Conv2d conv1{nullptr}, conv2{nullptr};
  torch::nn::Linear out{nullptr};
  torch::Tensor sky, spread;
};
TORCH_MODULE(Critic);

struct ClassifierImpl : torch::nn::Module {
  explicit ClassifierImpl(int64_t side)
      : body(register_module("body", torch::nn::Sequential(
                                         torch::nn::Conv2d(torch::nn::Conv2dOptions(1, 12, 3).stride(2).padding(1)), torch::nn::ReLU(),
                                         torch::nn::Conv2d(torch::nn::Conv2dOptions(12, 24, 3).stride(2).padding(1)), torch::nn::ReLU(), torch::nn::Flatten()))),
        head(register_module("head", torch::nn::Linear(24 * side * side / 16, 3))) {}

  torch::Tensor features(const torch::Tensor& x) { return body->forward(x); }
  torch::Tensor forward(const torch::Tensor& x) { return head->forward(features(x)); }

  torch::nn::Sequential body;
  torch::nn::Linear head;
};
TORCH_MODULE(Classifier);

template <typename Module>
void set_trainable(Module& m, bool on) {
  for (auto& p : m->parameters()) p.requires_grad_(on);
}

// The pipeline hides its networks behind this class; other stages only see the commands.
class Pipeline {
 public:
  explicit Pipeline(const SurveyConfig& config);
  ~Pipeline();
  void train();
  void classify();
  void finetune();
  void invert();
  void denoise();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

struct Pipeline::Impl {
  explicit Impl(const SurveyConfig& c)
      : config(c), device(choose(c.device)), catalogue(mock_catalogue(c, device)), generator(c, device), critic(c), classifiers{Classifier(c.side), Classifier(c.side)} {
    generator->to(device);
    critic->to(device);
    for (auto& m : classifiers) m->to(device);
  }

  template <typename F>
  void batches(F&& use) {
    auto order = torch::randperm(config.stamps, torch::TensorOptions().dtype(torch::kLong).device(device));
    for (int64_t from = 0; from + config.batch <= config.stamps; from += config.batch) {
      auto pick = order.narrow(0, from, config.batch);
      use(catalogue.images.index_select(0, pick), catalogue.morphology.index_select(0, pick));
    }
  }

  SurveyConfig config;
  torch::Device device;
  Catalogue catalogue;
  Generator generator;
  Critic critic;
  std::vector<Classifier> classifiers;
};

Pipeline::Pipeline(const SurveyConfig& config) : impl_(std::make_unique<Impl>(config)) {}
Pipeline::~Pipeline() = default;

void Pipeline::train() {
  auto& m = *impl_;
  torch::optim::Adam g_opt(m.generator->parameters(), torch::optim::AdamOptions(2e-4).betas({0.5, 0.999}));
  torch::optim::Adam d_opt(m.critic->parameters(), torch::optim::AdamOptions(2e-4).betas({0.5, 0.999}));
  auto z = torch::empty({m.config.batch, m.config.latent}, m.device);
  auto real_label = torch::full({m.config.batch}, 0.9, m.device), fake_label = torch::zeros({m.config.batch}, m.device);
  auto d_sum = torch::zeros({}, m.device), g_sum = torch::zeros({}, m.device), steepest = torch::zeros({}, m.device);
  auto final_layer = m.generator->up2->weight;

  for (int epoch = 0; epoch < m.config.epochs; ++epoch) {
    m.batches([&](const torch::Tensor& real, const torch::Tensor&) {
      auto fake = m.generator->forward(z.normal_());
      auto d_real = torch::binary_cross_entropy_with_logits(m.critic->forward(real), real_label);
      auto d_fake = torch::binary_cross_entropy_with_logits(m.critic->forward(fake), fake_label);  // EXPECT: torch-undetached-generator-output
      auto d_loss = d_real + d_fake;
      d_opt.zero_grad();
      d_loss.backward();
      d_opt.step();

      set_trainable(m.critic, false);
      auto mock = m.generator->forward(z.normal_());
      mock.register_hook([&steepest](const torch::Tensor& g) { steepest = torch::max(steepest, g.abs().max()); });  // RIGHT: torch-hook-in-loop (mock is new each time)
      auto g_loss = torch::binary_cross_entropy_with_logits(m.critic->forward(mock), real_label);  // RIGHT: torch-undetached-generator-output (the generator is trained here)
      g_opt.zero_grad();
      g_loss.backward();
      g_opt.step();
      set_trainable(m.critic, true);

      d_sum += d_loss.detach();  // RIGHT: torch-retained-graph (detached)
      g_sum += g_loss.detach();
      if (m.device.is_cuda()) at::accelerator::emptyCache();  // EXPECT: torch-empty-cache-in-loop
    });
    final_layer.register_hook([](const torch::Tensor& g) { return g.clamp(-1, 1); });  // EXPECT: torch-hook-in-loop
    const double steps = m.config.stamps / m.config.batch;
    std::cout << "epoch " << epoch << " critic " << d_sum.item<double>() / steps << " generator " << g_sum.item<double>() / steps << "\n";  // RIGHT: torch-sync-in-loop (once an epoch)
    d_sum.zero_();
    g_sum.zero_();
  }
  std::cout << "steepest " << steepest.item<float>() << "\n";
  if (m.device.is_cuda()) at::accelerator::emptyCache();  // RIGHT: torch-empty-cache-in-loop (once, before the next stage)
}

// The volunteers' votes are fractions, so the labels are smoothed by hand.
static torch::Tensor vote_loss(const torch::Tensor& logits, const torch::Tensor& votes) {
  auto log_belief = torch::log(torch::softmax(logits, 1));  // EXPECT: torch-unfused-operation
  return -(votes * log_belief).sum(1).mean();
}

void Pipeline::classify() {
  auto& m = *impl_;
  for (auto& net : m.classifiers) {
    torch::optim::Adam opt(net->parameters(), torch::optim::AdamOptions(3e-3));  // RIGHT: torch-optimizer-in-loop (each network has its own)
    for (int epoch = 0; epoch < m.config.epochs; ++epoch) {
      m.batches([&](const torch::Tensor& image, const torch::Tensor& kind) {
        auto votes = torch::one_hot(kind, 3).to(torch::kFloat) * 0.85 + 0.05;
        auto loss = vote_loss(net->forward(image), votes);
        opt.zero_grad();
        loss.backward();
        opt.step();
      });
    }
  }

  torch::NoGradGuard no_grad;
  std::vector<torch::Tensor> beliefs;
  for (auto& net : m.classifiers) beliefs.push_back(torch::softmax(net->forward(m.catalogue.images), 1));
  auto log_mean = torch::log(torch::stack(beliefs).mean(0));  // RIGHT: torch-unfused-operation (the mean lies between)
  auto correct = (log_mean.argmax(1) == m.catalogue.morphology).to(torch::kFloat).mean();
  std::cout << "morphology " << correct.item<double>() << " nll " << torch::nll_loss(log_mean, m.catalogue.morphology).item<double>() << "\n";
}

// Adapts a classifier to a new filter band, with the class centres of the old one as the aim.
void Pipeline::finetune() {
  auto& m = *impl_;
  auto& net = m.classifiers.front();
  torch::Tensor centres, scale;
  {
    c10::InferenceMode guard;
    auto f = net->features(m.catalogue.images);
    auto member = torch::one_hot(m.catalogue.morphology, 3).to(torch::kFloat);
    centres = member.t().mm(f) / member.sum(0).clamp_min(1).unsqueeze(1);
    scale = f.std(0) + 1e-3;
  }
  auto fixed_scale = scale.clone();  // RIGHT: torch-inference-tensor (cloned outside of it)
  torch::optim::SGD opt(net->body->parameters(), torch::optim::SGDOptions(1e-2));
  m.batches([&](const torch::Tensor& image, const torch::Tensor& kind) {
    auto f = net->features(image * 0.8) / fixed_scale;
    auto similarity = f.mm(centres.t());  // EXPECT: torch-inference-tensor
    auto loss = torch::cross_entropy_loss(similarity, kind);
    opt.zero_grad();
    loss.backward();
    opt.step();
  });
}

// Finds the latent vector whose mock galaxy looks like an observed stamp.
void Pipeline::invert() {
  auto& m = *impl_;
  const int64_t n = 4;
  set_trainable(m.generator, false);
  auto observed = m.catalogue.images.slice(0, 0, n);
  auto z = torch::randn({n, m.config.latent}, torch::requires_grad()).to(m.device);
  auto brightness = torch::zeros({n, 1, 1, 1}, torch::TensorOptions().device(m.device).requires_grad(true));
  torch::optim::Adam z_opt({z}, torch::optim::AdamOptions(5e-2));  // EXPECT: torch-non-leaf-parameter
  torch::optim::SGD b_opt({brightness}, torch::optim::SGDOptions(1e-1));  // RIGHT: torch-non-leaf-parameter (a leaf, made on the device)
  torch::Tensor error;
  for (int step = 0; step < 20; ++step) {
    auto mock = m.generator->forward(z) + brightness;
    auto loss = torch::mse_loss(mock, observed) + 1e-3 * z.square().mean();
    z_opt.zero_grad();
    b_opt.zero_grad();
    loss.backward();
    z_opt.step();
    b_opt.step();
    error = loss.detach();
  }
  set_trainable(m.generator, true);
  std::cout << "inversion error " << error.item<double>() << "\n";
}

// Iterated smoothing that keeps bright structure; the stack of all stamps at once.
void Pipeline::denoise() {
  auto& m = *impl_;
  torch::NoGradGuard no_grad;
  auto kernel = torch::full({1, 1, 3, 3}, 1.0 / 9, m.device);
  auto frame = m.catalogue.images.clone();  // RIGHT: torch-redundant-transfer (the loop must not change the catalogue)
  for (int i = 0; i < 12; ++i) {
    auto smooth = torch::conv2d(frame, kernel, {}, 1, 1);
    frame = frame * 0.8 + smooth * 0.2;  // EXPECT: torch-inplace-opportunity
  }
  frame.clamp_(-1, 1);
  const auto change = (frame - m.catalogue.images).abs().mean();
  std::cout << "denoised, mean change " << change.item<double>() << "\n";
}

int main(int argc, char** argv) {
  torch::manual_seed(21);
  SurveyConfig config;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--stars") config.stars = true;
    else if (word == "--cpu") config.device = "cpu";
    else if (word.rfind("--epochs=", 0) == 0) config.epochs = std::stoi(word.substr(9));
    else config.commands.push_back(word);
  }
  if (config.commands.empty()) config.commands = {"train", "classify", "invert", "denoise"};

  Pipeline pipeline(config);
  const std::map<std::string, std::function<void()>> dispatch = {
      {"train", [&] { pipeline.train(); }},   {"classify", [&] { pipeline.classify(); }}, {"finetune", [&] { pipeline.finetune(); }},
      {"invert", [&] { pipeline.invert(); }}, {"denoise", [&] { pipeline.denoise(); }},
  };
  for (const auto& command : config.commands) {
    const auto found = dispatch.find(command);
    if (found == dispatch.end()) {
      std::cerr << "unknown command " << command << "\n";
      return 2;
    }
    found->second();
  }
  return 0;
}

// Super-resolution of seismic traces with an adversarial student and a frozen teacher.
#include <torch/torch.h>

#include <cstdlib>
#include <cstring>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <vector>

using torch::Tensor;
namespace nn = torch::nn;

struct Config {
  int64_t len = 64, latent = 6, batch = 8, steps = 6, ch = 8;
  torch::Device dev{torch::kCPU};
  std::map<std::string, int> flags;
};

static nn::Sequential conv_stack(int64_t in, int64_t ch, int64_t out, double p) {
  return nn::Sequential(nn::Conv1d(nn::Conv1dOptions(in, ch, 5).padding(2)), nn::BatchNorm1d(ch),
                        nn::ReLU(), nn::Dropout(p),
                        nn::Conv1d(nn::Conv1dOptions(ch, out, 5).padding(2)));
}

// ---- networks --------------------------------------------------------------

struct GenImpl : nn::Module {
  GenImpl(const Config& c)
      : body(register_module("body", conv_stack(2, c.ch, 1, 0.1))),
        gate(register_module("gate", nn::Conv1d(nn::Conv1dOptions(1, 1, 3).padding(1)))),
        lift(register_module("lift", nn::Linear(c.latent, c.len))) {}

  Tensor forward(const Tensor& coarse, const Tensor& z) {
    auto h = body->forward(torch::cat({coarse, lift(z).unsqueeze(1)}, 1));
    if (sharpen) {
      auto g = torch::sigmoid(gate(coarse));
      auto open = g.detach() > 0.5;
      auto out = h * g;
      g.masked_fill_(open, 1.0);  // EXPECT: torch-inplace-saved
      return out + coarse * g;
    }
    auto s = gate(coarse) + h;
    s.mul_(0.5);  // RIGHT: torch-inplace-saved
    return coarse + s;
  }

  bool sharpen = false;
  nn::Sequential body;
  nn::Conv1d gate;
  nn::Linear lift;
};
TORCH_MODULE(Gen);

struct CriticImpl : nn::Module {
  CriticImpl(int64_t ch) : net(register_module("net", conv_stack(1, ch, 1, 0.2))) {}
  Tensor forward(const Tensor& x) { return net->forward(x).mean({1, 2}); }
  nn::Sequential net;
};
TORCH_MODULE(Critic);

struct TeacherImpl : nn::Module {
  TeacherImpl(int64_t ch)
      : trunk(register_module("trunk", conv_stack(1, 4 * ch, ch, 0.1))),
        out(register_module("out", nn::Conv1d(nn::Conv1dOptions(ch, 1, 1)))) {}
  Tensor features(const Tensor& x) { return torch::relu(trunk->forward(x)); }
  Tensor forward(const Tensor& x) { return x + out(features(x)); }
  nn::Sequential trunk;
  nn::Conv1d out;
};
TORCH_MODULE(Teacher);

// ---- data ------------------------------------------------------------------

struct Pair {
  Tensor coarse, fine;
};

struct Survey {
  Survey(const Config& c) {
    auto t = torch::linspace(0, 12, c.len, c.dev);
    auto phase = torch::rand({c.batch * c.steps, 1}, c.dev) * 6;
    auto freq = torch::rand({c.batch * c.steps, 1}, c.dev) * 4 + 1;
    fine = torch::sin(freq * t + phase).unsqueeze(1);
    coarse = torch::avg_pool1d(fine, 5, 1, 2);
  }
  Pair at(int64_t i, int64_t n) const { return {coarse.narrow(0, i * n, n), fine.narrow(0, i * n, n)}; }
  Tensor coarse, fine;
};

static Tensor hinge_real(const Tensor& s) { return torch::relu(1 - s).mean(); }
static Tensor hinge_fake(const Tensor& s) { return torch::relu(1 + s).mean(); }

// ---- stages ----------------------------------------------------------------

// Plain regression of the teacher.
void fit_teacher(Teacher& teacher, const Survey& data, const Config& c) {
  torch::optim::Adam opt(teacher->parameters(), 1e-3);
  teacher->train();
  for (int64_t i = 0; i < c.steps; ++i) {
    auto p = data.at(i, c.batch);
    auto loss = torch::mse_loss(teacher->forward(p.coarse), p.fine);
    opt.zero_grad(/*set_to_none=*/false);  // EXPECT: torch-zero-grad-in-place
    loss.backward();
    opt.step();
  }
}

class Distiller {
 public:
  Distiller(Gen g, Teacher t, const Config& c)
      : gen(g), teacher(t), cfg(c), opt(gen->parameters(), torch::optim::AdamOptions(1e-3)) {}

  void watch() {
    auto sink = norms;
    gen->lift->weight.register_hook([sink](const Tensor& g) { sink->push_back(g.detach().norm()); });  // RIGHT: torch-hook-in-loop
  }

  void run(const Survey& data) {
    teacher->eval();
    gen->train();
    for (int64_t i = 0; i < cfg.steps; ++i) {
      auto p = data.at(i, cfg.batch);
      auto z = torch::randn({cfg.batch, cfg.latent}, cfg.dev);
      auto soft = teacher->forward(p.coarse);  // EXPECT: torch-unused-gradients
      auto mine = gen->forward(p.coarse, z);
      auto loss = torch::mse_loss(mine, soft) + 0.1 * torch::l1_loss(mine, p.fine);
      opt.zero_grad();  // RIGHT: torch-zero-grad-in-place
      loss.backward();
      opt.step();
    }
  }

  // As run(), but with the features of a frozen teacher.
  void run_features(const Survey& data) {
    for (auto& w : teacher->parameters()) w.requires_grad_(false);
    for (int64_t i = 0; i < cfg.steps; ++i) {
      auto p = data.at(i, cfg.batch);
      auto z = torch::randn({cfg.batch, cfg.latent}, cfg.dev);
      Tensor want;
      {
        torch::NoGradGuard off;
        want = teacher->features(p.fine);
      }
      auto have = teacher->features(gen->forward(p.coarse, z));  // RIGHT: torch-unused-gradients
      have.register_hook([](const Tensor& g) { return g.clamp(-1, 1); });  // RIGHT: torch-hook-in-loop
      auto loss = torch::mse_loss(have, want);
      opt.zero_grad();
      loss.backward();
      opt.step();
    }
    for (auto& w : teacher->parameters()) w.requires_grad_(true);
  }

  void print() const {
    if (norms->empty()) return;
    std::cout << "lift grad " << torch::stack(*norms).mean().item<float>() << " over " << norms->size() << "\n";
  }

 private:
  Gen gen;
  Teacher teacher;
  Config cfg;
  torch::optim::Adam opt;
  std::shared_ptr<std::vector<Tensor>> norms = std::make_shared<std::vector<Tensor>>();
};

void adversarial(Gen& gen, Critic& critic, const Survey& data, const Config& c) {
  torch::optim::Adam g_opt(gen->parameters(), torch::optim::AdamOptions(2e-4).betas({0.5, 0.9}));
  torch::optim::Adam d_opt(critic->parameters(), torch::optim::AdamOptions(2e-4).betas({0.5, 0.9}));
  auto d_sum = torch::zeros({}, c.dev);
  for (int64_t i = 0; i < c.steps; ++i) {
    auto p = data.at(i, c.batch);
    auto z = torch::randn({c.batch, c.latent}, c.dev);

    auto real = critic->forward(p.fine);
    auto fake = critic->forward(gen->forward(p.coarse, z));  // EXPECT: torch-undetached-generator-output
    auto d_loss = hinge_real(real) + hinge_fake(fake);
    d_opt.zero_grad();
    d_loss.backward();
    d_opt.step();
    d_sum += d_loss.detach();

    critic->net->ptr<nn::Conv1dImpl>(4)->weight.register_hook([](const Tensor& g) { return g * 0.5; });  // EXPECT: torch-hook-in-loop

    auto g_loss = -critic->forward(gen->forward(p.coarse, torch::randn_like(z))).mean();  // RIGHT: torch-undetached-generator-output
    g_opt.zero_grad();
    g_loss.backward({}, /*keep_graph=*/true);  // EXPECT: torch-retain-graph-in-loop
    g_opt.step();
  }
  std::cout << "critic " << d_sum.item<float>() / c.steps << "\n";
}

// Both losses from one forward pass of the generator.
void adversarial_shared(Gen& gen, Critic& critic, const Survey& data, const Config& c) {
  torch::optim::SGD g_opt(gen->parameters(), 1e-3);
  torch::optim::Adam d_opt(critic->parameters(), torch::optim::AdamOptions(2e-4));
  const bool critic_first = c.flags.count("--critic-first") != 0;
  for (int64_t i = 0; i < c.steps; ++i) {
    auto p = data.at(i, c.batch);
    auto made = gen->forward(p.coarse, torch::randn({c.batch, c.latent}, c.dev));
    auto verdict = critic->forward(made);
    auto g_loss = -verdict.mean();
    auto update_critic = [&] {
      auto d_loss = hinge_real(critic->forward(p.fine)) + hinge_fake(critic->forward(made.detach()));  // RIGHT: torch-undetached-generator-output
      d_opt.zero_grad();
      d_loss.backward();
      d_opt.step();
    };
    if (critic_first) {
      update_critic();
      g_opt.zero_grad();
      g_loss.backward();  // EXPECT: torch-stale-graph
      g_opt.step();
    } else {
      g_opt.zero_grad();
      auto anchor = 0.1 * torch::l1_loss(made, p.fine);
      g_loss.backward({}, /*keep_graph=*/true);  // RIGHT: torch-retain-graph-in-loop
      anchor.backward();  // RIGHT: torch-stale-graph
      g_opt.step();
      update_critic();
    }
  }
}

// Search for the latent codes that explain given traces best.
Tensor project(Gen& gen, const Pair& p, const Config& c) {
  auto z = torch::randn({p.fine.size(0), c.latent}, torch::requires_grad()).to(c.dev);  // EXPECT: torch-non-leaf-parameter
  auto gain = torch::ones({p.fine.size(0), 1, 1}, c.dev).set_requires_grad(true);  // RIGHT: torch-non-leaf-parameter
  torch::optim::Adam opt(std::vector<Tensor>{z, gain}, torch::optim::AdamOptions(0.05));
  for (auto& w : gen->parameters()) w.requires_grad_(false);
  for (int k = 0; k < 10; ++k) {
    auto loss = torch::mse_loss(gain * gen->forward(p.coarse, z), p.fine) + 1e-3 * z.square().mean();
    opt.zero_grad();
    loss.backward();
    opt.step();
  }
  for (auto& w : gen->parameters()) w.requires_grad_(true);
  return z.detach();
}

void report(Gen& gen, Teacher& teacher, const Survey& data, const Config& c) {
  gen->eval();
  gen->eval();  // EXPECT: torch-partial-eval-mode
  torch::NoGradGuard off;
  auto p = data.at(0, c.batch);
  auto z = torch::zeros({c.batch, c.latent}, c.dev);
  auto a = gen->forward(p.coarse, z), b = teacher->forward(p.coarse);
  std::cout << "gen " << torch::mse_loss(a, p.fine).item<float>() << " teacher "
            << torch::mse_loss(b, p.fine).item<float>() << "\n";
}

void compare(Gen& gen, Critic& critic, const Survey& data, const Config& c) {
  gen->eval();
  critic->eval();  // RIGHT: torch-partial-eval-mode
  torch::NoGradGuard off;
  auto p = data.at(1, c.batch);
  auto made = gen->forward(p.coarse, torch::zeros({c.batch, c.latent}, c.dev));
  std::cout << "margin " << (critic->forward(p.fine) - critic->forward(made)).mean().item<float>() << "\n";
}

int main(int argc, char** argv) {
  torch::manual_seed(5);
  torch::set_num_threads(1);
  Config c;
  for (int i = 1; i < argc; ++i) c.flags[argv[i]] = 1;
  if (c.flags.count("--full")) {
    c.len = 4096;
    c.batch = 64;
    c.steps = 500;
    c.ch = 64;
  }
  if (torch::cuda::is_available()) c.dev = torch::Device(torch::kCUDA, 0);

  Survey data(c);
  Gen gen(c);
  Critic critic(c.ch);
  Teacher teacher(c.ch);
  gen->to(c.dev);
  critic->to(c.dev);
  teacher->to(c.dev);
  gen->sharpen = c.flags.count("--sharpen") != 0;

  fit_teacher(teacher, data, c);

  Distiller distiller(gen, teacher, c);
  distiller.watch();
  distiller.run(data);
  distiller.run_features(data);
  distiller.print();

  adversarial(gen, critic, data, c);
  adversarial_shared(gen, critic, data, c);
  auto codes = project(gen, data.at(0, c.batch), c);
  std::cout << "codes " << codes.norm().item<float>() << "\n";

  fit_teacher(teacher, data, c);
  report(gen, teacher, data, c);
  compare(gen, critic, data, c);
  return 0;
}

// Surface defect inspection: a generator that paints defects on clean steel,
// a critic, a teacher that labels them, a small student for the camera.
#include <torch/torch.h>

#include <cstdint>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace inspect {

using torch::Tensor;
using torch::indexing::Slice;

struct Sizes {
  int64_t side = 16;
  int64_t latent = 12;
  int64_t width = 12;
  int64_t classes = 4;
  int64_t batch = 16;
};

// ---------------------------------------------------------------------------
// layers

inline torch::nn::Conv2d conv3(int64_t in, int64_t out, int64_t stride = 1) {
  return torch::nn::Conv2d(torch::nn::Conv2dOptions(in, out, 3).stride(stride).padding(1));
}

/// Base of the nets: names what is added by a counter.
class Net : public torch::nn::Module {
 protected:
  template <typename Holder>
  Holder add(Holder h) {
    return register_module("m" + std::to_string(count_++), std::move(h));
  }

 private:
  int count_ = 0;
};

class ResidualImpl : public Net {
 public:
  ResidualImpl(int64_t in, int64_t out) : first_(conv3(in, out)), second_(conv3(out, out)) {
    add(first_);
    add(second_);  // RIGHT: torch-unregistered-module
    if (in != out) {
      skip_ = torch::nn::Conv2d(torch::nn::Conv2dOptions(in, out, 1).bias(false));  // EXPECT: torch-unregistered-module
    }
  }
  Tensor forward(const Tensor& x) {
    auto h = second_->forward(act_->forward(first_->forward(x)));
    return act_->forward(h + (skip_ ? skip_->forward(x) : x));
  }

 private:
  torch::nn::Conv2d first_, second_;
  torch::nn::Conv2d skip_{nullptr};
  torch::nn::LeakyReLU act_;  // RIGHT: torch-unregistered-module
};
TORCH_MODULE(Residual);

class GeneratorImpl : public Net {
 public:
  explicit GeneratorImpl(const Sizes& s) : s_(s) {
    fc_ = add(torch::nn::Linear(s.latent, s.width * s.side * s.side / 4));
    up_ = add(torch::nn::Conv2d(conv3(s.width, s.width)));
    out_ = add(conv3(s.width, 1));
  }
  Tensor forward(const Tensor& z) {
    auto h = torch::relu(fc_->forward(z)).view({-1, s_.width, s_.side / 2, s_.side / 2});
    h = torch::upsample_nearest2d(h, {s_.side, s_.side});
    return torch::tanh(out_->forward(torch::relu(up_->forward(h))));
  }

 private:
  Sizes s_;
  torch::nn::Linear fc_{nullptr};
  torch::nn::Conv2d up_{nullptr}, out_{nullptr};
};
TORCH_MODULE(Generator);

class BackboneImpl : public Net {
 public:
  BackboneImpl(int64_t width, int64_t outputs) {
    stem_ = add(conv3(1, width, 2));
    block_ = add(Residual(width, 2 * width));
    head = register_module("head", torch::nn::Linear(2 * width, outputs));
  }
  Tensor features(const Tensor& x) { return block_->forward(torch::relu(stem_->forward(x))).mean({2, 3}); }
  Tensor forward(const Tensor& x) { return head->forward(features(x)); }

  torch::nn::Linear head{nullptr};

 private:
  torch::nn::Conv2d stem_{nullptr};
  Residual block_{nullptr};
};
TORCH_MODULE(Backbone);

/// The teacher of the last plant knew other classes.
void adaptHead(Backbone& net, int64_t classes) {
  const auto in = net->head->options.in_features();
  net->head = torch::nn::Linear(in, classes);  // EXPECT: torch-reassigned-member
}

void exchangeHead(Backbone& net, int64_t classes) {
  const auto in = net->head->options.in_features();
  net->head = torch::nn::Linear(net->replace_module("head", torch::nn::Linear(in, classes)));  // RIGHT: torch-reassigned-member
}

void freeze(torch::nn::Module& m) {
  for (auto& p : m.parameters()) p.requires_grad_(false);
}

// ---------------------------------------------------------------------------
// images

Tensor illumination(const Tensor& images, const Tensor& flat) {
  auto field = flat.repeat({images.size(0), 1, 1, 1});  // EXPECT: torch-repeat-for-broadcast
  return (images - field) / (field.abs() + 1.0);
}

Tensor withBorders(const Tensor& frame, int64_t n) {
  auto many = frame.repeat({n, 1, 1, 1});  // RIGHT: torch-repeat-for-broadcast
  for (int64_t i = 0; i < n; ++i) {
    many[i].index({Slice(), Slice(0, i % 3)}).zero_();  // RIGHT: torch-discarded-result
  }
  return many;
}

/// Saturated pixels come from the lamp.
Tensor suppress(const Tensor& images, double limit) {
  auto out = images.clone();
  auto hot = out.abs() > limit;
  out.index({hot}).fill_(0);  // EXPECT: torch-discarded-result
  return out;
}

Tensor cutDark(Tensor images, double limit) {
  images.masked_fill_(images < -limit, -limit);  // RIGHT: torch-discarded-result
  return images;
}

// ---------------------------------------------------------------------------
// adversarial part

class Duel {
 public:
  Duel(const Sizes& s, torch::Device device)
      : s_(s),
        device_(device),
        gen_(s),
        critic_(s.width, 1),
        genOpt_((gen_->to(device), gen_->parameters()), torch::optim::AdamOptions(2e-4)),
        criticOpt_((critic_->to(device), critic_->parameters()), torch::optim::AdamOptions(2e-4)) {}

  Tensor noise() const { return torch::randn({s_.batch, s_.latent}, device_); }

  void criticStep(const Tensor& real) {
    auto painted = gen_->forward(noise());
    criticOpt_.zero_grad();
    auto loss = torch::relu(1 - critic_->forward(real)).mean() +
                torch::relu(1 + critic_->forward(painted)).mean();  // EXPECT: torch-undetached-generator-output
    loss.backward();
    criticOpt_.step();
  }

  void criticWarmup(const Tensor& real) {
    auto painted = gen_->forward(noise()).detach();
    criticOpt_.zero_grad();
    auto both = critic_->forward(torch::cat({real, painted}));  // RIGHT: torch-undetached-generator-output
    auto loss = torch::relu(1 - both.slice(0, 0, real.size(0))).mean() +
                torch::relu(1 + both.slice(0, real.size(0))).mean();
    loss.backward();
    criticOpt_.step();
  }

  void generatorStep() {
    genOpt_.zero_grad();
    auto loss = -critic_->forward(gen_->forward(noise())).mean();  // RIGHT: torch-unused-gradients
    loss.backward();
    genOpt_.step();
  }

  /// Both at once, with one pass through the generator.
  void jointStep(const Tensor& real) {
    auto painted = gen_->forward(noise());
    auto score = critic_->forward(painted);
    auto trueScore = critic_->forward(real);
    auto criticLoss = torch::relu(1 - trueScore).mean() + torch::relu(1 + critic_->forward(painted.detach())).mean();
    criticOpt_.zero_grad();
    criticLoss.backward();
    criticOpt_.step();
    genOpt_.zero_grad();
    (-score.mean()).backward();  // EXPECT: torch-stale-graph
    genOpt_.step();
  }

  void balancedStep(const Tensor& real) {
    auto painted = gen_->forward(noise());
    criticOpt_.zero_grad();
    auto loss = torch::relu(1 - critic_->forward(real)).mean() +
                torch::relu(1 + critic_->forward(painted.detach())).mean();
    loss.backward();
    criticOpt_.step();
    genOpt_.zero_grad();
    auto fooled = -critic_->forward(painted).mean();
    fooled.backward();  // RIGHT: torch-stale-graph
    genOpt_.step();
  }

  Tensor paint() {
    torch::NoGradGuard guard;
    return gen_->forward(noise());
  }

 private:
  Sizes s_;
  torch::Device device_;
  Generator gen_;
  Backbone critic_;
  torch::optim::Adam genOpt_, criticOpt_;
};

// ---------------------------------------------------------------------------
// teacher and student

using Source = std::function<Tensor()>;

void teachEpoch(Backbone& student, Backbone& teacher, const Source& next, int steps) {
  torch::optim::AdamW opt(student->parameters(), torch::optim::AdamWOptions(1e-3));  // EXPECT: torch-optimizer-in-loop
  for (int i = 0; i < steps; ++i) {
    auto x = next();
    auto wanted = torch::softmax(teacher->forward(x) / 2.0, 1);  // EXPECT: torch-unused-gradients
    auto got = torch::log_softmax(student->forward(x) / 2.0, 1);
    auto loss = torch::kl_div(got, wanted, at::Reduction::Sum) / x.size(0);
    opt.zero_grad();
    loss.backward();
    opt.step();
  }
}

double agreement(Backbone& a, Backbone& b, const Tensor& x) {
  torch::NoGradGuard guard;
  return (a->forward(x).argmax(1) == b->forward(x).argmax(1)).to(torch::kFloat32).mean().item<double>();
}

/// One student for every camera.
std::vector<Backbone> perCamera(const Sizes& s, torch::Device device, int cameras, const Tensor& x, const Tensor& y) {
  std::vector<Backbone> nets;
  for (int c = 0; c < cameras; ++c) {
    Backbone net(s.width / 2, s.classes);
    net->to(device);
    torch::optim::Adam opt(net->parameters(), torch::optim::AdamOptions(1e-3));  // RIGHT: torch-optimizer-in-loop
    for (int i = 0; i < 5; ++i) {
      opt.zero_grad();
      torch::nn::functional::cross_entropy(net->forward(x), y).backward();
      opt.step();
    }
    nets.push_back(net);
  }
  return nets;
}

/// Two heads on a trunk, of which the second is weighted by how the first did.
void alignFeatures(Backbone& student, Backbone& teacher, const Source& next, int steps) {
  freeze(*teacher);
  torch::optim::SGD opt(student->parameters(), torch::optim::SGDOptions(1e-2).momentum(0.9));
  for (int i = 0; i < steps; ++i) {
    auto x = next();
    auto f = student->features(x);
    auto wanted = teacher->features(x);  // RIGHT: torch-unused-gradients
    auto part = (f - wanted.slice(1, 0, f.size(1))).square().mean();
    auto spread = torch::relu(1 - f.std(0)).mean();
    opt.zero_grad();
    part.backward({}, /*keep_graph=*/true);  // RIGHT: torch-retain-graph-in-loop
    torch::nn::utils::clip_grad_norm_(student->parameters(), 1.0);
    spread.backward();
    opt.step();
  }
}

void fineTune(Backbone& net, const Tensor& x, const Tensor& y, int steps) {
  torch::optim::SGD opt(net->parameters(), torch::optim::SGDOptions(1e-2).momentum(0.9));
  for (int i = 0; i < steps; ++i) {
    auto logits = net->forward(x);
    auto loss = torch::nn::functional::cross_entropy(logits, y);
    opt.zero_grad();
    loss.backward({}, true);  // EXPECT: torch-retain-graph-in-loop
    opt.step();
  }
}

}  // namespace inspect

int main(int argc, char** argv) {
  using namespace inspect;
  torch::set_num_threads(1);
  torch::manual_seed(5);
  const bool joint = argc > 1 && std::string(argv[1]) == "--joint";
  const auto device = torch::cuda::is_available() ? torch::Device("cuda:0") : torch::Device("cpu");
  Sizes s;

  const auto flat = torch::rand({1, 1, s.side, s.side}, device) * 0.1;
  auto clean = torch::randn({s.batch, 1, s.side, s.side}, device) * 0.2;
  auto real = illumination(clean, flat);
  real = cutDark(suppress(real, 0.5), 0.4);
  auto borders = withBorders(clean.slice(0, 0, 1), 6);

  Duel duel(s, device);
  duel.criticWarmup(real);
  for (int i = 0; i < 6; ++i) {
    if (joint) {
      duel.jointStep(real);
    } else if (i % 2) {
      duel.balancedStep(real);
    } else {
      duel.criticStep(real);
      duel.generatorStep();
    }
  }

  Backbone teacher(2 * s.width, 7);
  exchangeHead(teacher, s.classes);
  teacher->to(device);
  Backbone student(s.width, 7);
  student->to(device);
  adaptHead(student, s.classes);
  student->head->to(device);

  Source painted = [&duel] { return duel.paint(); };
  for (int epoch = 0; epoch < 3; ++epoch) {
    teachEpoch(student, teacher, painted, 4);
    std::cout << "epoch " << epoch << " agreement " << agreement(student, teacher, real) << "\n";
  }
  auto labels = torch::randint(s.classes, {s.batch}, torch::TensorOptions().dtype(torch::kLong).device(device));
  fineTune(student, real, labels, 4);
  alignFeatures(student, teacher, painted, 4);
  auto nets = perCamera(s, device, 2, real, labels);
  std::cout << "borders " << borders.sizes() << " cameras " << nets.size() << " params " << student->parameters().size()
            << "\n";
  return 0;
}

// Value-based control of a fleet of simulated drones: replay, target network,
// a distilled on-board policy and threaded evaluation.
#include <torch/torch.h>

#include <atomic>
#include <deque>
#include <iostream>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace fleet {

using torch::Tensor;

constexpr int64_t kObs = 6, kActions = 5;

// ---- environment: all drones advance at once, on the device ----------------
class World {
 public:
  World(int64_t drones, torch::Device dev) : n_(drones), dev_(dev) {
    thrust_ = torch::tensor({{0.f, 0.f, 0.f}, {1.f, 0.f, 0.f}, {-1.f, 0.f, 0.f}, {0.f, 1.f, 0.f}, {0.f, -1.f, 0.f}}).to(dev_);
    reset();
  }
  void reset() {
    pos_ = torch::randn({n_, 3}, torch::TensorOptions().device(dev_));
    vel_ = torch::zeros_like(pos_);
  }
  Tensor observe() const { return torch::cat({pos_, vel_}, 1); }
  // actions that would leave the corridor are illegal
  Tensor legal() const {
    auto m = torch::ones({n_, kActions}, torch::TensorOptions(torch::kBool).device(dev_));
    m.index_put_({pos_.select(1, 0) > 2.0, 1}, false);  // RIGHT: torch-discarded-result
    return m;
  }
  std::pair<Tensor, Tensor> step(const Tensor& action) {
    vel_.mul_(0.9).add_(thrust_.index_select(0, action), 0.1);
    pos_.add_(vel_, 0.1);
    auto dist = pos_.norm(2, 1);
    return {-dist, dist > 4.0};
  }
  int64_t size() const { return n_; }

 private:
  int64_t n_;
  torch::Device dev_;
  Tensor thrust_, pos_, vel_;
};

// ---- networks ---------------------------------------------------------------
struct NormaliserImpl : torch::nn::Module {
  NormaliserImpl() {
    mean = register_buffer("mean", torch::zeros({kObs}));
    var = register_buffer("var", torch::ones({kObs}));
  }
  void observe(const Tensor& x) {
    torch::NoGradGuard g;
    const double a = 0.01;
    mean = torch::lerp(mean, x.mean(0), a);  // EXPECT: torch-reassigned-member
    var.lerp_(x.var(0), a);  // RIGHT: torch-reassigned-member
    last = x;
  }
  Tensor forward(const Tensor& x) { return (x - mean) * (var + 1e-5).rsqrt(); }
  Tensor mean, var, last;
};
TORCH_MODULE(Normaliser);

struct QNetImpl : torch::nn::Module {
  explicit QNetImpl(int64_t h) {
    norm = register_module("norm", Normaliser());
    trunk = register_module("trunk", torch::nn::Sequential(torch::nn::Linear(kObs, h), torch::nn::ReLU(),
                                                           torch::nn::Linear(h, h), torch::nn::ReLU()));
    head = register_module("head", torch::nn::Linear(h, kActions));
  }
  void reset_head() {
    auto fresh = torch::nn::Linear(head->options.in_features(), kActions);
    fresh->to(head->weight.device());
    head = replace_module("head", fresh);  // RIGHT: torch-reassigned-member
  }
  Tensor forward(const Tensor& x) { return head(trunk->forward(norm(x))); }
  Normaliser norm{nullptr};
  torch::nn::Sequential trunk{nullptr};
  torch::nn::Linear head{nullptr};
};
TORCH_MODULE(QNet);

// ---- replay -----------------------------------------------------------------
struct Transition {
  Tensor obs, action, reward, next, done;
};

class Replay {
 public:
  explicit Replay(size_t cap) : cap_(cap) {}
  void put(Transition t) {
    if (mem_.size() == cap_) {
      mem_.pop_front();
      prio_.pop_front();
    }
    mem_.push_back(std::move(t));
    prio_.push_back(1.f);
  }
  const Transition& draw(std::mt19937& rng, std::vector<float>& weights) const {
    std::discrete_distribution<size_t> d(prio_.begin(), prio_.end());
    const size_t i = d(rng);
    weights.assign(static_cast<size_t>(mem_[i].obs.size(0)), 1.f / prio_[i]);
    return mem_[i];
  }
  bool ready(size_t n) const { return mem_.size() >= n; }

 private:
  size_t cap_;
  std::deque<Transition> mem_;
  std::deque<float> prio_;
};

// ---- learner ----------------------------------------------------------------
class Learner {
 public:
  Learner(int64_t hidden, torch::Device dev)
      : q(hidden), target(hidden), opt(fresh_optimizer()), dev_(dev) {
    q->to(dev_);
    target->to(dev_);  // RIGHT: torch-discarded-result
    torch::NoGradGuard g;
    const auto src = q->parameters();
    auto dst = target->parameters();
    for (size_t i = 0; i < src.size(); ++i) {
      auto p = dst[i];
      p.copy_(src[i]);  // RIGHT: torch-parameter-copy
    }
    steps_ = torch::arange(kActions, torch::TensorOptions().device(dev_));
  }

  Tensor act(const Tensor& obs, const Tensor& legal, double eps) {
    torch::NoGradGuard g;
    q->norm->observe(obs);
    auto v = q(obs);
    v.masked_fill(legal.logical_not(), -1e9);  // EXPECT: torch-discarded-result
    auto best = v.argmax(1);
    auto coin = torch::rand({obs.size(0)}, obs.options()) < eps;
    return torch::where(coin, torch::randint_like(best, kActions), best);
  }

  Tensor greedy(const Tensor& obs, const Tensor& legal) {
    auto v = q(obs);
    v.masked_fill_(legal.logical_not(), -1e9);  // RIGHT: torch-discarded-result
    return v.argmax(1);
  }

  Tensor bootstrap(const Transition& t, double gamma) {
    auto pick = greedy_index(t.next);
    auto future = target(t.next).gather(1, pick).squeeze(1);  // EXPECT: torch-unused-gradients
    return torch::where(t.done, t.reward, t.reward.add(future, gamma));
  }

  Tensor update(const Transition& t, const std::vector<float>& weights) {
    auto y = bootstrap(t, 0.97);
    auto v = q(t.obs).gather(1, t.action.unsqueeze(1)).squeeze(1);
    auto td = torch::smooth_l1_loss(v, y, at::Reduction::None);
    auto loss = (td * torch::tensor(weights)).mean();  // EXPECT: torch-device-mismatch
    opt->zero_grad();
    loss.backward();
    opt->step();
    return loss.detach();
  }

  // prefers calm actions; the prices live beside the network
  void regularise(const Transition& t) {
    auto v = torch::softmax(q(t.obs), 1);
    q->zero_grad();
    (v * steps_).sum(1).mean().backward();  // RIGHT: torch-device-mismatch
    opt->step();  // RIGHT: torch-missing-zero-grad
  }

  void restart_head() {
    q->reset_head();
    opt = fresh_optimizer();
  }

  void soft_update(float tau) {
    torch::NoGradGuard g;
    auto from = q->parameters();
    size_t i = 0;
    for (auto slot : target->parameters()) {
      slot = torch::lerp(slot, from[i++], tau);  // EXPECT: torch-parameter-copy
    }
    auto to = target->buffers();
    i = 0;
    for (const auto& b : q->buffers()) to[i++].copy_(b);  // RIGHT: torch-parameter-copy
  }

  QNet q, target;
  std::unique_ptr<torch::optim::Adam> opt;

 private:
  std::unique_ptr<torch::optim::Adam> fresh_optimizer() {
    return std::make_unique<torch::optim::Adam>(q->parameters(), torch::optim::AdamOptions(1e-3));
  }
  Tensor greedy_index(const Tensor& obs) {
    torch::NoGradGuard g;
    return q(obs).argmax(1, /*keepdim=*/true);
  }
  torch::Device dev_;
  Tensor steps_;
};

// ---- distillation to the on-board computer -------------------------------------
struct OnboardImpl : torch::nn::Module {
  OnboardImpl() : enc(kObs, 12), out(12, kActions) {
    register_module("enc", enc);
    register_module("out", out);
  }
  Tensor forward(const Tensor& x) { return out(torch::tanh(enc(x))); }
  torch::nn::Linear enc, out;
};
TORCH_MODULE(Onboard);

class Distiller {
 public:
  Distiller(QNet teacher, torch::Device dev) : teacher_(teacher) {
    student->to(dev);
    for (auto& p : teacher_->parameters()) p.requires_grad_(false);
  }

  void match(const Tensor& obs) {
    torch::optim::Adam opt(student->parameters(), torch::optim::AdamOptions(2e-3));  // EXPECT: torch-optimizer-in-loop
    opt.zero_grad();
    auto want = torch::softmax(teacher_(obs), 1);  // RIGHT: torch-unused-gradients
    torch::cross_entropy_loss(student(obs), want).backward();
    opt.step();
  }

  void run(World& w, int rounds) {
    for (int r = 0; r < rounds; ++r) {
      w.reset();
      match(w.observe());
    }
  }

  // last layer and encoder learn at different rates
  void finish(World& w, int rounds) {
    torch::optim::SGD slow(student->enc->parameters(), torch::optim::SGDOptions(1e-3));
    torch::optim::SGD fast(student->out->parameters(), torch::optim::SGDOptions(1e-2));
    for (int r = 0; r < rounds; ++r) {
      w.reset();
      auto obs = w.observe();
      auto label = teacher_(obs).argmax(1);
      slow.zero_grad();
      torch::cross_entropy_loss(student(obs), label).backward();
      slow.step();
      fast.step();  // EXPECT: torch-missing-zero-grad
    }
  }

  Onboard student;

 private:
  QNet teacher_;
};

// one small student for every airframe, each from scratch
std::vector<Onboard> per_airframe(World& w, QNet teacher, int frames, torch::Device dev) {
  std::vector<Onboard> out;
  for (int f = 0; f < frames; ++f) {
    Onboard s;
    s->to(dev);
    torch::optim::RMSprop opt(s->parameters(), torch::optim::RMSpropOptions(1e-3));  // RIGHT: torch-optimizer-in-loop
    for (int k = 0; k < 8; ++k) {
      w.reset();
      auto obs = w.observe();
      Tensor want;
      {
        torch::NoGradGuard g;
        want = teacher(obs).argmax(1);
      }
      torch::cross_entropy_loss(s(obs), want).backward();
      if (k % 4 == 3) {
        opt.step();  // RIGHT: torch-missing-zero-grad
        opt.zero_grad();
      }
    }
    out.push_back(s);
  }
  return out;
}

// ---- evaluation -------------------------------------------------------------------
struct Score {
  double mean = 0;
  int64_t lost = 0;
};

// Flies until the horizon, or until every drone is lost.
Score fly(Learner& l, World& w, int horizon, bool stop_early) {
  torch::GradMode::set_enabled(false);  // EXPECT: torch-grad-mode-not-restored
  w.reset();
  Score s;
  for (int h = 0; h < horizon; h += 10) {
    Tensor r, done;
    for (int k = 0; k < 10; ++k) std::tie(r, done) = w.step(l.greedy(w.observe(), w.legal()));
    s.mean = r.mean().item<double>();
    s.lost = done.sum().item<int64_t>();
    if (stop_early && s.lost < w.size()) return s;
  }
  torch::GradMode::set_enabled(true);
  return s;
}

double regret(Learner& l, World& w) {
  const bool before = torch::GradMode::is_enabled();
  torch::GradMode::set_enabled(false);  // RIGHT: torch-grad-mode-not-restored
  auto v = l.q(w.observe());
  auto gap = (std::get<0>(v.max(1)) - v.mean(1)).mean().item<double>();
  torch::GradMode::set_enabled(before);
  return gap;
}

double swarm(Onboard pilot, torch::Device dev, int threads) {
  torch::NoGradGuard g;
  pilot->eval();
  std::vector<std::thread> pool;
  std::vector<double> sums(threads, 0.0);
  for (int i = 0; i < threads; ++i) {
    pool.emplace_back([&, i] {
      World w(64, dev);
      Tensor r;
      for (int h = 0; h < 20; ++h) {
        auto a = pilot(w.observe()).argmax(1);  // EXPECT: torch-thread-local-guard
        r = w.step(a).first;
      }
      sums[i] = r.mean().item<double>();
    });
  }
  for (auto& t : pool) t.join();
  double total = 0;
  for (double s : sums) total += s;
  return total / threads;
}

double duel(Onboard a, Onboard b, torch::Device dev) {
  std::vector<double> out(2, 0.0);
  auto side = [&](Onboard pilot, double& slot) {
    torch::NoGradGuard g;
    World w(64, dev);
    Tensor r;
    for (int h = 0; h < 20; ++h) r = w.step(pilot(w.observe()).argmax(1)).first;  // RIGHT: torch-thread-local-guard
    slot = r.mean().item<double>();
  };
  torch::NoGradGuard g;
  std::thread ta(side, a, std::ref(out[0])), tb(side, b, std::ref(out[1]));
  ta.join();
  tb.join();
  return out[0] - out[1];
}

}  // namespace fleet

int main(int argc, char** argv) {
  torch::set_num_threads(1);
  torch::manual_seed(1);
  using namespace fleet;
  const bool quick = argc > 1 && std::string(argv[1]) == "--quick-eval";
  torch::Device dev(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU);
  World world(64, dev), arena(64, dev);
  Learner learner(48, dev);
  Replay replay(200);
  std::mt19937 rng(9);
  std::vector<float> weights;

  auto total = torch::zeros({}, torch::TensorOptions().device(dev));
  for (int episode = 0; episode < 4; ++episode) {
    world.reset();
    for (int s = 0; s < 25; ++s) {
      auto obs = world.observe();
      auto a = learner.act(obs, world.legal(), 0.3);
      auto [r, done] = world.step(a);
      replay.put({obs, a, r, world.observe(), done});
      if (!replay.ready(8)) continue;
      const auto& t = replay.draw(rng, weights);
      total += learner.update(t, weights);
      if (s % 5 == 0) learner.regularise(t);
      learner.soft_update(0.02f);
    }
    if (episode == 2) learner.restart_head();
    auto s = fly(learner, arena, 40, quick);
    std::cout << "episode " << episode << " " << s.mean << " lost " << s.lost << "\n";
  }
  std::cout << "loss " << total.item<double>() << " regret " << regret(learner, world) << "\n";

  Distiller d(learner.q, dev);
  d.run(world, 20);
  d.finish(world, 20);
  auto crew = per_airframe(world, learner.q, 2, dev);
  std::cout << "swarm " << swarm(d.student, dev, 2) << " duel " << duel(crew[0], crew[1], dev) << "\n";
  return 0;
}

// Elevator dispatch with Q-learning: an ensemble of heads, target network,
// replay memory, a few simulator threads, periodic policy snapshots.
#include <torch/torch.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <deque>
#include <string>
#include <memory>
#include <future>
#include <iostream>
#include <random>
#include <thread>
#include <utility>
#include <vector>

struct hyper {
  int64_t obs = 20;
  int64_t actions = 5;
  int64_t width = 32;
  int64_t members = 3;
  int64_t batch = 16;
  int64_t rollout = 64;
  int64_t capacity = 1024;
  int rounds = 4;
  int updates = 6;
  double gamma = 0.97;
  bool bootstrap_actor = false;
  torch::Device dev{torch::kCPU};
};

// ------------------------------------------------------------ networks

struct q_net_impl : torch::nn::Cloneable<q_net_impl> {
  q_net_impl(int64_t obs, int64_t width, int64_t actions) : obs_(obs), width_(width), actions_(actions) { reset(); }

  void reset() override {
    fc1 = register_module("fc1", torch::nn::Linear(obs_, width_));
    fc2 = register_module("fc2", torch::nn::Linear(width_, width_));
    out = register_module("out", torch::nn::Linear(width_, actions_));
  }

  torch::Tensor forward(torch::Tensor x) {
    x = torch::relu(fc1(x));
    return out(torch::relu(fc2(x)));
  }

  torch::nn::Linear fc1{nullptr}, fc2{nullptr}, out{nullptr};
  int64_t obs_, width_, actions_;
};
using q_ptr = std::shared_ptr<q_net_impl>;

struct actor_impl : torch::nn::Module {
  actor_impl(int64_t obs, int64_t width, int64_t actions)
      : body(torch::nn::Linear(obs, width), torch::nn::Tanh(), torch::nn::Linear(width, actions)) {
    register_module("body", body);
  }
  torch::Tensor forward(const torch::Tensor& x) { return torch::log_softmax(body->forward(x), 1); }
  torch::nn::Sequential body;
};
TORCH_MODULE_IMPL(actor, actor_impl);

// ------------------------------------------------------------ memory

struct sample {
  torch::Tensor s, a, r, s2;
};

class replay {
 public:
  explicit replay(const hyper& h) : h_(h) {}

  // one block from a simulator: rollout x (obs + obs + 2)
  void absorb(const torch::Tensor& block) {
    auto r = block.select(1, 2 * h_.obs + 1);
    auto order = r.abs().argsort(0, true);
    for (int64_t k = 0; k < 4; ++k) {
      auto row = block.index_select(0, order.slice(0, k, k + 1)).squeeze(0);
      hard_.push_back(row);  // RIGHT: torch-view-pins-storage
    }
    firsts_.push_back(block[0]);  // EXPECT: torch-view-pins-storage
    rows_.push_back(block);
    if (static_cast<int64_t>(rows_.size()) * h_.rollout > h_.capacity) rows_.pop_front();
    while (hard_.size() > 256) hard_.pop_front();
  }

  sample draw(std::mt19937& rng) const {
    std::uniform_int_distribution<size_t> which(0, rows_.size() - 1);
    const auto& block = rows_[which(rng)];
    auto pick = torch::randint(0, block.size(0), {h_.batch}, torch::kLong);
    auto m = block.index_select(0, pick).to(h_.dev);
    sample b;
    b.s = m.slice(1, 0, h_.obs);
    b.s2 = m.slice(1, h_.obs, 2 * h_.obs);
    b.a = m.select(1, 2 * h_.obs).to(torch::kLong).unsqueeze(1);
    b.r = m.select(1, 2 * h_.obs + 1);
    return b;
  }

  size_t starts() const { return firsts_.size(); }
  torch::Tensor start_states(std::mt19937& rng) const {
    std::uniform_int_distribution<size_t> which(0, firsts_.size() - 1);
    std::vector<torch::Tensor> got;
    for (int64_t k = 0; k < h_.batch; ++k) got.push_back(firsts_[which(rng)].slice(0, 0, h_.obs));
    return torch::stack(got);
  }

 private:
  hyper h_;
  std::deque<torch::Tensor> rows_, hard_;
  std::vector<torch::Tensor> firsts_;
};

torch::Tensor simulate(const hyper& h, unsigned seed) {
  torch::NoGradGuard g;
  auto gen = at::detail::createCPUGenerator(seed);
  auto s = torch::randn({h.rollout + 1, h.obs}, gen);
  auto a = torch::randint(0, h.actions, {h.rollout, 1}, gen).to(torch::kFloat);
  auto r = -(s.slice(0, 1).narrow(1, 0, 3).abs().mean(1, true).sub_(a, 0.1)).abs_();
  return torch::cat({s.slice(0, 0, h.rollout), s.slice(0, 1), a, r}, 1);
}

// ------------------------------------------------------------ ensemble

class ensemble {
 public:
  explicit ensemble(const hyper& h) : h_(h) {
    auto seed_net = std::make_shared<q_net_impl>(h.obs, h.width, h.actions);
    seed_net->to(h.dev);
    online_.assign(h.members, seed_net);  // EXPECT: torch-fill-alias
    for (const auto& q : online_) {
      target_.push_back(std::dynamic_pointer_cast<q_net_impl>(q->clone()));  // RIGHT: torch-fill-alias
      opt_.push_back(std::make_unique<torch::optim::Adam>(q->parameters(), 1e-3));
    }
    for (auto& t : target_)
      for (auto& p : t->parameters()) p.set_requires_grad(false);
    td_ = std::vector<torch::Tensor>(h.members, torch::zeros({}, h.dev));  // RIGHT: torch-fill-alias
  }

  void update(const sample& b, size_t k) {
    auto discount = torch::full({h_.batch}, h_.gamma, torch::dtype(torch::kFloat).device(h_.dev));  // EXPECT: torch-allocation-in-loop
    auto q = online_[k]->forward(b.s).gather(1, b.a).squeeze(1);
    auto want = torch::addcmul(b.r, discount, std::get<0>(target_[k]->forward(b.s2).max(1)));
    auto loss = torch::smooth_l1_loss(q, want);
    opt_[k]->zero_grad();
    loss.backward();
    opt_[k]->step();
    td_[k] = loss.detach();
  }

  void track(double tau) {
    torch::NoGradGuard g;
    for (size_t k = 0; k < online_.size(); ++k) {
      auto src = online_[k]->parameters();
      auto dst = target_[k]->parameters();
      for (size_t i = 0; i < dst.size(); ++i) {
        dst[i] = dst[i] * (1 - tau) + src[i] * tau;  // EXPECT: torch-parameter-copy
      }
    }
  }

  // after a restart the targets start level with the networks
  void level() {
    torch::NoGradGuard g;
    for (size_t k = 0; k < online_.size(); ++k) {
      auto src = online_[k]->parameters();
      auto dst = target_[k]->parameters();
      for (size_t i = 0; i < dst.size(); ++i) dst[i].copy_(src[i]);  // RIGHT: torch-parameter-copy
    }
  }

  torch::Tensor value(const torch::Tensor& s) {
    torch::NoGradGuard g;
    std::vector<torch::Tensor> v;
    for (auto& q : online_) v.push_back(std::get<0>(q->forward(s).max(1)));
    return torch::stack(v).mean(0);
  }

  torch::Tensor td(size_t k) const { return td_[k]; }
  size_t size() const { return online_.size(); }

 private:
  hyper h_;
  std::vector<q_ptr> online_, target_;
  std::vector<std::unique_ptr<torch::optim::Adam>> opt_;
  std::vector<torch::Tensor> td_;
};

// ------------------------------------------------------------ actor/critic

class dispatcher {
 public:
  explicit dispatcher(const hyper& h)
      : h_(h),
        pi_(h.obs, h.width, h.actions),
        critic_(std::make_shared<q_net_impl>(h.obs, h.width, 1)) {
    pi_->to(h.dev);
    critic_->to(h.dev);
    opt_pi_ = std::make_unique<torch::optim::RMSprop>(pi_->parameters(), 1e-3);
    opt_v_ = std::make_unique<torch::optim::Adam>(critic_->parameters(), 1e-3);
  }

  void improve(const sample& b) {
    auto v = critic_->forward(b.s).squeeze(1);
    auto loss_v = torch::mse_loss(v, b.r);
    auto logp = pi_->forward(b.s).gather(1, b.a).squeeze(1);
    auto adv = b.r - v;
    if (!h_.bootstrap_actor) adv = adv.detach();

    opt_v_->zero_grad();
    loss_v.backward({}, /*retain_graph=*/h_.bootstrap_actor);
    opt_v_->step();

    auto loss_pi = -(logp * adv).mean();
    loss_pi.backward();  // EXPECT: torch-stale-graph
    opt_pi_->step();  // EXPECT: torch-missing-zero-grad
  }

  // imitation of the ensemble on the states where the episodes begin
  void imitate(const torch::Tensor& s, const torch::Tensor& value, int steps) {
    torch::optim::SGD opt(pi_->parameters(), 1e-2);  // RIGHT: torch-optimizer-in-loop
    for (int i = 0; i < steps; ++i) {
      for (auto& p : pi_->parameters()) p.mutable_grad() = torch::Tensor();  // RIGHT: torch-zero-grad-in-place
      auto loss = -(pi_->forward(s).mean(1) * value).mean();
      loss.backward();
      opt.step();  // RIGHT: torch-missing-zero-grad
    }
  }

  void refine_value(const torch::Tensor& s, const torch::Tensor& value, int steps) {
    for (int i = 0; i < steps; ++i) {
      auto loss = torch::mse_loss(critic_->forward(s).squeeze(1), value);
      opt_v_->zero_grad(/*set_to_none=*/false);  // EXPECT: torch-zero-grad-in-place
      loss.backward();
      opt_v_->step();
      auto again = torch::l1_loss(critic_->forward(s).squeeze(1), value);
      opt_v_->zero_grad();
      again.backward();  // RIGHT: torch-stale-graph
      opt_v_->step();
    }
  }

  // log probabilities for a batch of states, computed by two workers
  torch::Tensor survey(const torch::Tensor& states) {
    torch::NoGradGuard g;
    auto parts = states.chunk(2);
    std::vector<std::future<torch::Tensor>> jobs;
    for (auto& part : parts) {
      jobs.push_back(std::async(std::launch::async, [this, part] {
        return pi_->forward(part);  // EXPECT: torch-thread-local-guard
      }));
    }
    std::vector<torch::Tensor> got;
    for (auto& j : jobs) got.push_back(j.get());
    return torch::cat(got);
  }

  torch::Tensor appraise(const torch::Tensor& states) {
    torch::Tensor v;
    std::thread t([&] {
      torch::NoGradGuard g;
      v = critic_->forward(states);  // RIGHT: torch-thread-local-guard
    });
    t.join();
    return v;
  }

 private:
  hyper h_;
  actor pi_;
  q_ptr critic_;
  std::unique_ptr<torch::optim::RMSprop> opt_pi_;
  std::unique_ptr<torch::optim::Adam> opt_v_;
};

// ------------------------------------------------------------ main

static void summary(const torch::Tensor& logp, int round) {
  auto host = logp.to(torch::kCPU).contiguous().clone();  // EXPECT: torch-redundant-transfer
  auto best = host.argmax(1);
  auto entropy = -(host.exp() * host).sum(1).mean();
  std::printf("round %d: %ld states, entropy %.3f, first action %ld\n", round, static_cast<long>(host.size(0)),
              entropy.item<double>(), static_cast<long>(best[0].item<int64_t>()));
}

int main(int argc, char** argv) {
  torch::set_num_threads(1);
  torch::manual_seed(5);
  hyper h;
  for (int i = 1; i < argc; ++i) {
    if (std::string(argv[i]) == "--bootstrap-actor") h.bootstrap_actor = true;
  }
  if (torch::cuda::is_available()) {
    h.dev = torch::Device(torch::kCUDA, 0);
    h.width = 512;
    h.obs = 400;
    h.rollout = 4096;
    h.capacity = 1 << 20;
    h.rounds = 500;
    h.batch = 1024;
    h.updates = 64;
  }

  std::mt19937 rng(9);
  replay mem(h);
  ensemble ens(h);
  ens.level();
  dispatcher agent(h);

  for (int round = 0; round < h.rounds; ++round) {
    std::array<std::future<torch::Tensor>, 2> sims;
    for (unsigned k = 0; k < sims.size(); ++k)
      sims[k] = std::async(std::launch::async, [&h, round, k] { return simulate(h, 17 * round + k); });
    for (auto& f : sims) mem.absorb(f.get());

    for (int u = 0; u < h.updates; ++u) {
      auto b = mem.draw(rng);
      for (size_t k = 0; k < ens.size(); ++k) ens.update(b, k);
      agent.improve(b);
      ens.track(0.01);
    }
    auto starts = mem.start_states(rng).to(h.dev);  // RIGHT: torch-redundant-transfer
    auto value = ens.value(starts);
    agent.refine_value(starts, value, 2);
    agent.imitate(starts, value, 2);
    summary(agent.survey(starts), round);
    std::printf("  td %.4f value %.4f\n", ens.td(0).item<double>(), agent.appraise(starts).mean().item<double>());
  }
  std::cout << "starts kept: " << mem.starts() << "\n";
  return 0;
}

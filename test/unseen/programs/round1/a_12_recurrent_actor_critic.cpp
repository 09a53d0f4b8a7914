#include <torch/torch.h>
#include <array>
#include <iostream>
#include <random>
#include <vector>

// Actor-critic with memory: the cue is shown in the first step only.

namespace ac {

struct TMaze {
  int cue = 1, t = 0;
  std::array<float, 3> reset(std::mt19937& rng) {
    cue = (rng() & 1) ? 1 : -1;
    t = 0;
    return {static_cast<float>(cue), 0.f, 0.f};
  }
  std::array<float, 3> step(int64_t action, float& reward, bool& done) {
    ++t;
    done = t == 4;
    reward = done ? ((action == 1) == (cue == 1) ? 1.f : -1.f) : 0.f;
    return {0.f, t / 4.f, 1.f};
  }
};

struct BrainImpl : torch::nn::Module {
  BrainImpl() {
    core = register_module("core", torch::nn::GRUCell(3, 24));
    pi = register_module("pi", torch::nn::Linear(24, 2));
    v = register_module("v", torch::nn::Linear(24, 1));
  }
  torch::Tensor forward(const torch::Tensor& obs, const torch::Tensor& h) { return core(obs, h); }
  torch::nn::GRUCell core{nullptr};
  torch::nn::Linear pi{nullptr}, v{nullptr};
};
TORCH_MODULE(Brain);

struct Rollout {
  std::vector<torch::Tensor> logp, value;
  std::vector<float> reward;
};

struct Worker {
  TMaze maze;
  std::mt19937 rng{7};
  std::array<float, 3> obs{};
  torch::Tensor h;
  float total = 0;
};

void collect(Brain& brain, Worker& w, Rollout& out, int steps) {
  for (int i = 0; i < steps; ++i) {
    auto x = torch::from_blob(w.obs.data(), {1, 3});
    w.h = brain->forward(x.clone(), w.h);  // EXPECT: torch-undetached-hidden-state
    auto logits = torch::log_softmax(brain->pi(w.h), 1);
    auto a = logits.exp().multinomial(1).item<int64_t>();
    float r;
    bool done;
    w.obs = w.maze.step(a, r, done);
    out.logp.push_back(logits[0][a]);      // RIGHT: torch-retained-graph (the rollout is made anew for each update)
    out.value.push_back(brain->v(w.h).squeeze());
    out.reward.push_back(r);
    w.total += r;
    if (done) w.obs = w.maze.reset(w.rng);
  }
}

void update(Brain& brain, torch::optim::Optimizer& opt, const Rollout& ro) {
  std::vector<float> ret(ro.reward.size());
  float acc = 0;
  for (size_t i = ret.size(); i-- > 0;) ret[i] = acc = ro.reward[i] + 0.9f * acc;
  auto returns = torch::tensor(ret);
  returns.clamp(-1, 1);             // EXPECT: torch-discarded-result
  auto values = torch::stack(ro.value);
  auto advantage = returns - values;
  advantage.detach();               // EXPECT: torch-discarded-result
  auto actor = -(torch::stack(ro.logp) * advantage).mean();
  auto critic = torch::smooth_l1_loss(values, returns);
  opt.zero_grad();
  (actor + 0.5 * critic).backward();
  torch::nn::utils::clip_grad_norm_(brain->parameters(), 1.0);  // RIGHT: torch-discarded-result (clips in place, the norm is not wanted)
  opt.step();
}

}  // namespace ac

int main() {
  torch::manual_seed(10);
  ac::Brain brain;
  brain->to(torch::kFloat32);  // RIGHT: torch-discarded-result (moves the module itself)
  torch::optim::RMSprop opt(brain->parameters(), torch::optim::RMSpropOptions(2e-3));

  ac::Worker w;
  w.obs = w.maze.reset(w.rng);
  w.h = torch::zeros({1, 24});
  int updates = 0;
  try {
    for (; updates < 200; ++updates) {
      ac::Rollout ro;
      ac::collect(brain, w, ro, 8);
      ac::update(brain, opt, ro);
    }
  } catch (const c10::Error&) {
    std::cout << "stopped after " << updates << " updates\n";
  }
  std::cout << "reward " << w.total << "\n";

  // episodes by themselves: the memory begins anew
  torch::NoGradGuard no_grad;
  int good = 0;
  for (int episode = 0; episode < 20; ++episode) {
    auto obs = w.maze.reset(w.rng);
    auto h = torch::zeros({1, 24});  // RIGHT: torch-allocation-in-loop (24 numbers, once for each episode)
    float r = 0;
    for (bool done = false; !done;) {
      h = brain->forward(torch::tensor({{obs[0], obs[1], obs[2]}}), h);  // RIGHT: torch-undetached-hidden-state (no graph under the guard)
      obs = w.maze.step(brain->pi(h).argmax(1).item<int64_t>(), r, done);
    }
    good += r > 0;
  }
  std::cout << good << " of 20\n";
  return 0;
}

// lift dispatching, actor-critic port of my notebook (the numpy env became tensors too)
#include <torch/torch.h>

#include <cmath>
#include <iostream>
#include <map>
#include <string>
#include <tuple>
#include <vector>

using torch::Tensor;
using torch::indexing::Slice;
namespace F = torch::nn::functional;

struct Cfg {
  int64_t envs = 16;
  int64_t obs = 24;
  int64_t actions = 5;
  int64_t horizon = 20;
  int64_t hidden = 64;
  int updates = 12;
  int bc_steps = 8;
  double gamma = 0.97;
  double tau = 0.02;
  double adv_clip = 2.5;
  double lr = 1e-3;
};

// ------------------------------------------------------------------ networks

struct PolicyImpl : torch::nn::Module {
  torch::nn::Linear fc1{nullptr}, fc2{nullptr};

  PolicyImpl(const Cfg& c) {
    fc1 = register_module("fc1", torch::nn::Linear(c.obs, c.hidden));
    fc2 = register_module("fc2", torch::nn::Linear(c.hidden, c.actions));
    // small last layer, so that the first rollouts are almost uniform
    torch::NoGradGuard g;
    Tensor w = fc2->weight;
    w.mul_(0.01);  // RIGHT: torch-parameter-copy
  }
  Tensor scores(Tensor x) { return fc2(torch::tanh(fc1(x))); }
  Tensor log_probs(Tensor x) { return torch::log_softmax(scores(x), -1); }
  Tensor forward(Tensor x) { return torch::softmax(scores(x), -1); }
};
TORCH_MODULE(Policy);

struct CriticImpl : torch::nn::Module {
  torch::nn::Linear a{nullptr}, b{nullptr}, q{nullptr};

  CriticImpl(const Cfg& c) {
    a = register_module("a", torch::nn::Linear(c.obs, c.hidden));
    b = register_module("b", torch::nn::Linear(c.hidden, c.hidden));
    q = register_module("q", torch::nn::Linear(c.hidden, c.actions));
  }
  Tensor forward(Tensor x) { return q(torch::relu(b(torch::relu(a(x))))); }
};
TORCH_MODULE(Critic);

// one trunk, two heads: the variant from the appendix
struct SharedImpl : torch::nn::Module {
  torch::nn::Sequential trunk{nullptr};
  torch::nn::Linear pi{nullptr}, v{nullptr};

  SharedImpl(const Cfg& c) {
    trunk = register_module("trunk", torch::nn::Sequential(torch::nn::Linear(c.obs, c.hidden), torch::nn::Tanh(),
                                                           torch::nn::Linear(c.hidden, c.hidden), torch::nn::Tanh()));
    pi = register_module("pi", torch::nn::Linear(c.hidden, c.actions));
    v = register_module("v", torch::nn::Linear(c.hidden, 1));
  }
};
TORCH_MODULE(Shared);

// ------------------------------------------------------------------ environment

class LiftEnv {
 public:
  LiftEnv(const Cfg& c, torch::Device dev)
      : state_(torch::rand({c.envs, c.obs}, dev)), effect_(torch::randn({c.actions, c.obs}, dev).mul_(0.05)) {}

  const Tensor& state() const { return state_; }

  // reward: minus the people who wait
  Tensor step(const Tensor& action) {
    torch::NoGradGuard g;
    state_ = torch::add(effect_.index_select(0, action), state_, 0.95);
    return state_.abs().mean(1).neg();
  }

 private:
  Tensor state_, effect_;
};

// ------------------------------------------------------------------ storage

struct Batch {
  Tensor obs, act, rew, next;
};

class Replay {
 public:
  void add(const Tensor& o, const Tensor& a, const Tensor& r, const Tensor& n) {
    if (!obs_.defined()) {
      obs_ = o;
    } else {
      obs_ = torch::cat({obs_, o});  // EXPECT: torch-cat-in-loop
    }
    act_.push_back(a);
    rew_.push_back(r);
    next_.push_back(n);
  }

  void seal() {
    act_all_ = torch::cat(act_);  // RIGHT: torch-cat-in-loop
    rew_all_ = torch::cat(rew_);
    next_all_ = torch::cat(next_);
  }

  Batch sample(int64_t n) const {
    const auto idx = torch::randint(obs_.size(0), {n}, torch::dtype(torch::kLong).device(obs_.device()));
    return {obs_.index_select(0, idx), act_all_.index_select(0, idx), rew_all_.index_select(0, idx),
            next_all_.index_select(0, idx)};
  }

  Tensor rewards() const { return rew_all_; }
  Tensor observations() const { return obs_; }
  Tensor actions() const { return act_all_; }

 private:
  Tensor obs_, act_all_, rew_all_, next_all_;
  std::vector<Tensor> act_, rew_, next_;
};

static void rollout(LiftEnv& env, Policy& policy, const Cfg& c, Replay& out) {
  torch::NoGradGuard g;
  for (int64_t t = 0; t < c.horizon; t++) {
    Tensor before = env.state();
    Tensor act = policy->forward(before).multinomial(1).squeeze(1);
    Tensor rew = env.step(act);
    out.add(before, act, rew, env.state());
  }
  out.seal();
}

// G_t = r_t + gamma * G_{t+1}
static Tensor discounted(const Tensor& mean_rewards, double gamma) {
  const int64_t n = mean_rewards.size(0);
  std::vector<float> g(n);
  float acc = 0;
  for (int64_t t = n - 1; t >= 0; t--) {
    acc = mean_rewards[t].item<float>() + gamma * acc;  // EXPECT: torch-element-access-in-loop
    g[t] = acc;
  }
  return torch::tensor(g);
}

static Tensor discounted_host(const Tensor& mean_rewards, double gamma) {
  const auto host = mean_rewards.cpu();
  const auto r = host.accessor<float, 1>();
  std::vector<float> g(r.size(0));
  float acc = 0;
  for (int64_t t = r.size(0) - 1; t >= 0; t--) {
    acc = r[t] + gamma * acc;  // RIGHT: torch-element-access-in-loop
    g[t] = acc;
  }
  return torch::tensor(g);
}

// ------------------------------------------------------------------ eligibility traces

struct Traces {
  std::vector<Tensor> per_floor;
  std::vector<Tensor> baseline;

  void reset(size_t floors, int64_t dim, torch::Device dev) {
    per_floor.assign(floors, torch::zeros({dim}, dev));  // EXPECT: torch-fill-alias
    baseline.assign(floors, torch::zeros({dim}, dev));  // RIGHT: torch-fill-alias
  }

  void visit(size_t floor, const Tensor& feature, double decay) {
    per_floor[floor].mul_(decay).add_(feature);
    baseline[floor] = 0.5 * (baseline[floor] + feature);
  }

  Tensor spread() const { return torch::stack(per_floor).std(0).mean() + torch::stack(baseline).std(0).mean(); }
};

// ------------------------------------------------------------------ updates

static void blend(Tensor dst, const Tensor& src, double tau) {
  dst = dst * (1.0 - tau) + src * tau;  // EXPECT: torch-parameter-copy
}

static void soft_update(Critic& target, Critic& live, double tau) {
  torch::NoGradGuard g;
  auto dst = target->parameters();
  auto src = live->parameters();
  for (size_t i = 0; i < dst.size(); i++) blend(dst[i], src[i], tau);
}

static void hard_update(Critic& target, Critic& live) {
  torch::NoGradGuard g;
  auto src = live->named_parameters();
  for (auto& item : target->named_parameters()) {
    Tensor dst = item.value();
    dst.copy_(src[item.key()]);  // RIGHT: torch-parameter-copy
  }
}

struct History {
  std::vector<Tensor> td;
  std::vector<Tensor> pg;

  void record(const Tensor& td_loss, const Tensor& pg_loss) {
    td.push_back(td_loss);  // EXPECT: torch-retained-graph
    pg.push_back(pg_loss.detach());  // RIGHT: torch-retained-graph
  }
  void print() const {
    torch::NoGradGuard g;
    std::cout << "td " << torch::stack(td).mean().item<float>() << " pg " << torch::stack(pg).mean().item<float>()
              << " over " << td.size() << " updates\n";
  }
};

static Tensor masked_best(Tensor q, const Tensor& obs) {
  // a lift cannot go up from the top floor
  q.index({Slice(), -1}).masked_fill_(obs.select(1, 0) >= 0.8, -1e9);  // RIGHT: torch-discarded-result
  return std::get<0>(q.max(1));
}

static void train(Policy& policy, Critic& critic, Critic& target, const Replay& replay, const Cfg& c, History& hist) {
  torch::optim::Adam actor_opt(policy->parameters(), c.lr);
  torch::optim::Adam critic_opt(critic->parameters(), c.lr);
  for (int u = 0; u < c.updates; u++) {
    Batch b = replay.sample(64);

    Tensor goal;
    {
      torch::NoGradGuard g;
      goal = b.rew.add(masked_best(target->forward(b.next), b.next), c.gamma);
    }
    Tensor q = critic->forward(b.obs).gather(1, b.act.unsqueeze(1)).squeeze(1);
    Tensor td_loss = F::smooth_l1_loss(q, goal);
    actor_opt.zero_grad();
    td_loss.backward();
    critic_opt.step();  // EXPECT: torch-missing-zero-grad

    Tensor adv = (goal - q).detach();
    adv.index({adv.abs() > c.adv_clip}).fill_(0);  // EXPECT: torch-discarded-result
    Tensor logp = policy->log_probs(b.obs);
    Tensor picked = logp.gather(1, b.act.unsqueeze(1)).squeeze(1);
    Tensor pg_loss = -(picked * adv).mean();
    pg_loss.backward();
    actor_opt.step();  // RIGHT: torch-missing-zero-grad

    soft_update(target, critic, c.tau);
    hist.record(td_loss, pg_loss);
  }
}

// warm start from the controller that is in the building today
static Tensor clone_controller(Policy& policy, const Tensor& obs, const Tensor& act, const Cfg& c) {
  torch::optim::SGD opt(policy->parameters(), torch::optim::SGDOptions(0.1).momentum(0.9));
  Tensor last;
  for (int i = 0; i < c.bc_steps; i++) {
    Tensor p = policy->forward(obs);
    Tensor loss = F::cross_entropy(p, act);  // EXPECT: torch-loss-input
    opt.zero_grad();
    loss.backward();
    opt.step();
    last = loss.detach();
  }
  return last;
}

static Tensor controller_gap(Policy& policy, const Tensor& obs, const Tensor& act) {
  torch::NoGradGuard g;
  return F::nll_loss(policy->log_probs(obs), act);  // RIGHT: torch-loss-input
}

static void joint_first_try(Shared& net, torch::optim::Optimizer& opt, const Batch& b, int n) {
  for (int i = 0; i < n; i++) {
    Tensor h = net->trunk->forward(b.obs);
    Tensor value = net->v(h).squeeze(1);
    Tensor logp = torch::log_softmax(net->pi(h), 1);
    Tensor v_loss = F::mse_loss(value, b.rew);
    opt.zero_grad();
    v_loss.backward({}, /*retain_graph=*/true);
    opt.step();

    Tensor adv = (b.rew - value).detach();
    Tensor p_loss = -(logp.gather(1, b.act.unsqueeze(1)).squeeze(1) * adv).mean();
    opt.zero_grad();
    p_loss.backward();  // EXPECT: torch-stale-graph
    opt.step();
  }
}

static void joint(Shared& net, torch::optim::Optimizer& opt, const Batch& b, int n) {
  for (int i = 0; i < n; i++) {
    Tensor h = net->trunk->forward(b.obs);
    Tensor value = net->v(h).squeeze(1);
    Tensor logp = torch::log_softmax(net->pi(h), 1);
    Tensor adv = (b.rew - value).detach();
    opt.zero_grad();
    F::mse_loss(value, b.rew).backward({}, /*retain_graph=*/true);  // RIGHT: torch-retain-graph-in-loop
    Tensor p_loss = -(logp.gather(1, b.act.unsqueeze(1)).squeeze(1) * adv).mean();
    p_loss.backward();  // RIGHT: torch-stale-graph
    opt.step();
  }
}

int main(int argc, char** argv) {
  torch::set_num_threads(1);
  torch::manual_seed(0);
  std::map<std::string, bool> args;
  for (int i = 1; i < argc; i++) args[argv[i]] = true;

  Cfg c;
  auto dev = torch::cuda::is_available() ? torch::Device(torch::kCUDA) : torch::Device(torch::kCPU);

  Policy policy(c);
  Critic critic(c), target(c);
  policy->to(dev);
  critic->to(dev);
  target->to(dev);
  hard_update(target, critic);

  LiftEnv env(c, dev);
  Replay replay;
  rollout(env, policy, c, replay);
  std::cout << "controller loss " << clone_controller(policy, replay.observations(), replay.actions(), c).item<float>()
            << " gap " << controller_gap(policy, replay.observations(), replay.actions()).item<float>() << "\n";

  History hist;
  train(policy, critic, target, replay, c, hist);
  hist.print();

  const Tensor mean_rewards = replay.rewards().view({c.horizon, c.envs}).mean(1);
  std::cout << "return " << discounted(mean_rewards, c.gamma)[0].item<float>() << " check "
            << discounted_host(mean_rewards, c.gamma)[0].item<float>() << "\n";

  Traces traces;
  traces.reset(4, c.obs, dev);
  for (size_t t = 0; t < 8; t++) traces.visit(t % 4, replay.observations().select(0, t), 0.9);
  std::cout << "trace spread " << traces.spread().item<float>() << "\n";

  Shared shared(c);
  shared->to(dev);
  torch::optim::Adam shared_opt(shared->parameters(), c.lr);
  const Batch fixed = replay.sample(64);
  joint(shared, shared_opt, fixed, 3);
  if (args["--joint"]) joint_first_try(shared, shared_opt, fixed, 3);
  return 0;
}

#include <torch/torch.h>

#include <deque>
#include <iostream>
#include <random>

// A recurrent Q-learner on a tiny continuing corridor task. Replay holds single
// transitions together with the hidden state that the agent had at that time.

namespace rl {

struct QNetImpl : torch::nn::Module {
  QNetImpl(int obs, int hidden, int actions)
      : cell(register_module("cell", torch::nn::GRUCell(obs, hidden))),
        value(register_module("value", torch::nn::Linear(hidden, actions))) {}

  std::pair<torch::Tensor, torch::Tensor> forward(torch::Tensor obs, torch::Tensor h) {
    auto next = cell->forward(obs, h);
    return {value->forward(next), next};
  }
  torch::nn::GRUCell cell;
  torch::nn::Linear value;
};
TORCH_MODULE(QNet);

struct Transition {
  torch::Tensor obs, hidden, next_obs, next_hidden;
  int64_t action;
  float reward;
};

class Corridor {
 public:
  torch::Tensor observe() const {
    auto o = torch::zeros({1, 9});
    o[0][pos_] = 1;
    return o;
  }
  float act(int64_t a) {
    pos_ = std::clamp<int>(pos_ + (a == 1 ? 1 : -1), 0, 8);
    if (pos_ == 8) {
      pos_ = 0;
      return 1.f;
    }
    return -0.01f;
  }

 private:
  int pos_ = 0;
};

class Agent {
 public:
  Agent() : online_(9, 32, 2), target_(9, 32, 2), opt_(online_->parameters(), 1e-3) {
    torch::NoGradGuard g;
    auto src = online_->parameters();
    auto dst = target_->parameters();
    for (size_t i = 0; i < src.size(); ++i)
      dst[i].copy_(src[i]);  // RIGHT: torch-parameter-copy (written in place, under a guard)
    h_ = torch::zeros({1, 32});
  }

  int64_t choose(const torch::Tensor& obs, double eps) {
    auto [q, h] = online_->forward(obs, h_);  // EXPECT: torch-missing-no-grad
    h_ = h;  // EXPECT: torch-undetached-hidden-state
    if (coin_(rng_) < eps) return rng_() % 2;
    return q.argmax(1).item<int64_t>();
  }

  torch::Tensor hidden() const { return h_.detach(); }

  void learn(const std::vector<const Transition*>& batch, double gamma) {
    std::vector<torch::Tensor> obs, hid, nobs, nhid;
    std::vector<int64_t> act;
    std::vector<float> rew;
    for (auto* t : batch) {
      obs.push_back(t->obs);
      hid.push_back(t->hidden);
      nobs.push_back(t->next_obs);
      nhid.push_back(t->next_hidden);
      act.push_back(t->action);
      rew.push_back(t->reward);
    }
    auto a = torch::tensor(act).unsqueeze(1);
    auto r = torch::from_blob(rew.data(), {int64_t(rew.size())});  // RIGHT: torch-blob-lifetime (the vector outlives every use of the tensor), torch-blob-dtype (floats)
    auto q = online_->forward(torch::cat(obs), torch::cat(hid)).first.gather(1, a).squeeze(1);
    auto best = std::get<0>(target_->forward(torch::cat(nobs), torch::cat(nhid)).first.max(1)).detach();  // EXPECT: torch-missing-no-grad
    auto td = torch::smooth_l1_loss(q, r + gamma * best);
    opt_.zero_grad();
    td.backward();
    opt_.step();
    td_errors_.push_back(td);  // EXPECT: torch-retained-graph
  }

  void syncTarget(double tau) {
    torch::NoGradGuard g;
    auto src = online_->parameters();
    size_t i = 0;
    for (auto p : target_->parameters()) {
      p = p * (1 - tau) + src[i++] * tau;  // EXPECT: torch-parameter-copy
    }
  }

  double meanTd() const { return torch::stack(td_errors_).mean().item<double>(); }

 private:
  QNet online_, target_;
  torch::optim::Adam opt_;
  torch::Tensor h_;
  std::vector<torch::Tensor> td_errors_;
  std::mt19937 rng_{3};
  std::uniform_real_distribution<double> coin_{0.0, 1.0};
};

}  // namespace rl

int main() {
  torch::manual_seed(0);
  rl::Corridor env;
  rl::Agent agent;
  std::deque<rl::Transition> replay;
  std::mt19937 pick(1);
  float total = 0;
  for (int step = 0; step < 600; ++step) {
    rl::Transition t;
    t.obs = env.observe();
    t.hidden = agent.hidden();
    t.action = agent.choose(t.obs, std::max(0.1, 1.0 - step / 300.0));
    t.reward = env.act(t.action);
    t.next_obs = env.observe();
    t.next_hidden = agent.hidden();
    total += t.reward;
    replay.push_back(t);  // RIGHT: torch-retained-graph (observations have no graph and hidden() detaches)
    if (replay.size() > 500) replay.pop_front();
    if (replay.size() < 64 || step % 4) continue;
    std::vector<const rl::Transition*> batch;
    for (int k = 0; k < 32; ++k) batch.push_back(&replay[pick() % replay.size()]);
    agent.learn(batch, 0.95);
    agent.syncTarget(0.02);
  }
  std::cout << "reward " << total << ", mean td " << agent.meanTd() << std::endl;
}

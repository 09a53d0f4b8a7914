// Keeps a recurrent detector per client and feeds it samples as they come in.
#include <torch/torch.h>
#include <cmath>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <vector>

using namespace torch;

struct DetectorImpl : nn::Module {
  nn::LSTMCell cell{nullptr};
  nn::Linear score{nullptr};
  DetectorImpl(int64_t in, int64_t width) {
    cell = register_module("cell", nn::LSTMCell(in, width));
    score = register_module("score", nn::Linear(width, 1));
  }
  std::tuple<Tensor, Tensor> forward(const Tensor& x, std::tuple<Tensor, Tensor> hc) { return cell->forward(x, hc); }
};
TORCH_MODULE(Detector);

class Session {
 public:
  Session(Detector net, int64_t width) : net_(net), h_(torch::zeros({1, width})), c_(torch::zeros({1, width})) {}

  float push(const std::vector<float>& sample) {
    auto x = torch::tensor(sample).unsqueeze(0);
    std::tie(h_, c_) = net_->forward(x, std::make_tuple(h_, c_));  // EXPECT: torch-undetached-hidden-state, torch-missing-no-grad
    return torch::sigmoid(net_->score(h_)).item<float>();
  }

 private:
  Detector net_;
  Tensor h_, c_;
};

class GuardedSession {
 public:
  GuardedSession(Detector net, int64_t width) : net_(net), state_(torch::zeros({1, width}), torch::zeros({1, width})) {}

  float push(const std::vector<float>& sample) {
    NoGradGuard guard;
    state_ = net_->forward(torch::tensor(sample).unsqueeze(0), state_);  // RIGHT: torch-undetached-hidden-state (no graph under the guard)
    scores_.push_back(torch::sigmoid(net_->score(std::get<0>(state_))));  // RIGHT: torch-retained-graph (no graph under the guard)
    return scores_.back().item<float>();
  }

  float mean() const { return torch::cat(scores_).mean().item<float>(); }

 private:
  Detector net_;
  std::tuple<Tensor, Tensor> state_;
  std::vector<Tensor> scores_;
};

static std::vector<float> sample(int t, float phase) {
  return {std::sin(0.3f * t + phase), std::cos(0.21f * t), (t % 37 == 0) ? 3.f : 0.f};
}

// Learns to tell spikes, sequence by sequence.
static void learn(Detector& net, int sequences) {
  optim::Adam opt(net->parameters(), optim::AdamOptions(1e-2));
  for (int s = 0; s < sequences; ++s) {
    auto state = std::make_tuple(torch::zeros({1, 16}), torch::zeros({1, 16}));
    std::vector<Tensor> outputs;
    std::vector<float> wanted;
    for (int t = 0; t < 40; ++t) {
      auto v = sample(t + 11 * s, 0.1f * s);
      state = net->forward(torch::tensor(v).unsqueeze(0), state);  // RIGHT: torch-undetached-hidden-state (one sequence, backwarded as a whole)
      outputs.push_back(net->score(std::get<0>(state)).squeeze());
      wanted.push_back(v[2] > 1 ? 1.f : 0.f);
    }
    auto loss = binary_cross_entropy_with_logits(torch::stack(outputs), torch::tensor(wanted));
    opt.zero_grad();
    loss.backward();
    opt.step();
  }
}

int main() {
  torch::manual_seed(17);
  Detector net(3, 16);
  learn(net, 30);
  net->eval();

  std::map<std::string, std::unique_ptr<Session>> sessions;
  GuardedSession reference(net, 16);
  double worst = 0;
  for (int t = 0; t < 300; ++t) {
    for (const char* client : {"north", "south"}) {
      auto& s = sessions[client];
      if (!s) s = std::make_unique<Session>(net, 16);
      worst = std::max(worst, static_cast<double>(s->push(sample(t, client[0] == 'n' ? 0.f : 1.f))));
    }
    reference.push(sample(t, 0.f));
  }
  std::cout << sessions.size() << " sessions, highest " << worst << ", mean " << reference.mean() << std::endl;
}

#include <torch/torch.h>

#include <cstdio>
#include <map>
#include <string>
#include <tuple>

namespace {

constexpr int64_t kIn = 5, kHidden = 14, kLanes = 3;

struct TaggerImpl : torch::nn::Module {
  TaggerImpl() {
    cell = register_module("cell", torch::nn::LSTMCell(kIn, kHidden));
    trend = register_module("trend", torch::nn::GRUCell(kIn, kHidden));
    emit = register_module("emit", torch::nn::Linear(kHidden, 1));
    gate = register_parameter("gate", torch::randn({kHidden}));
  }
  torch::nn::LSTMCell cell{nullptr};
  torch::nn::GRUCell trend{nullptr};
  torch::nn::Linear emit{nullptr};
  torch::Tensor gate;
};
TORCH_MODULE(Tagger);

struct Memory {
  torch::Tensor h, c;
  void cut() {
    h.detach_();
    c = c.detach();
  }
};

Memory advance(Tagger& tagger, const torch::Tensor& x, const Memory& from) {
  Memory to;
  std::tie(to.h, to.c) = tagger->cell->forward(x, std::make_tuple(from.h, from.c));
  return to;
}

torch::Tensor wave(int64_t steps) {
  auto t = torch::arange(steps, torch::kFloat32).view({-1, 1, 1});
  return torch::sin(0.2 * t + torch::rand({1, kLanes, kIn}) * 6);
}

int train_windows(Tagger& tagger, const torch::Tensor& series, int64_t window) {
  torch::optim::Adam adam(tagger->parameters(), 3e-3);
  Memory carry{torch::zeros({kLanes, kHidden}), torch::zeros({kLanes, kHidden})};
  torch::Tensor pending = torch::zeros({});
  int skipped = 0;
  for (int64_t t = 0; t + 1 < series.size(0); ++t) {  // AT windows
    auto next = advance(tagger, series[t], carry);  // AT advance
    pending = pending + torch::mse_loss(tagger->emit->forward(next.h).squeeze(1),
                                        series[t + 1].mean(1));
    // PLANT innocent torch-undetached-hidden-state/throws loop=windows built=advance: the memory is cut after the backward() of each window
    carry = next;
    if ((t + 1) % window == 0) {
      adam.zero_grad();
      pending.backward();
      try {
        auto open = torch::sigmoid(tagger->gate);
        // PLANT true torch-inplace-saved/result loop=windows also=sparse: the result that sigmoid has saved is scaled
        open.mul_(0.5);
        auto sparsity = open.sum() + open.pow(2).sum();
        sparsity.backward();  // AT sparse
      } catch (const c10::Error&) {
        ++skipped;
      }
      adam.step();
      pending = torch::zeros({});
      carry.cut();
    }
  }
  return skipped;
}

double follow(Tagger& tagger, const torch::Tensor& series) {
  torch::optim::SGD sgd(tagger->parameters(), 0.01);
  double last = 0;
  auto level = torch::zeros({kLanes, kHidden});
  for (int64_t t = 0; t + 1 < series.size(0); ++t) {  // AT follow
    // PLANT true torch-undetached-hidden-state/chains loop=follow: every backward() goes back to the first step
    level = tagger->trend->forward(series[t], level);
    auto error = (tagger->emit->forward(level).squeeze(1) - series[t + 1].mean(1)).pow(2).mean();
    sgd.zero_grad();
    error.backward({}, /*retain_graph=*/true);
    sgd.step();
    last = error.item<double>();
  }
  return last;
}

int restore(Tagger& tagger, const std::map<std::string, torch::Tensor>& saved) {
  int misfits = 0;
  for (auto& named : tagger->named_parameters()) {
    auto found = saved.find(named.key());
    if (found == saved.end()) continue;
    auto& parameter = named.value();
    try {
      // PLANT innocent torch-leaf-inplace/leaf: the caller holds a guard, and what throws is a shape that does not fit
      parameter.copy_(found->second);
    } catch (const c10::Error&) {
      ++misfits;
    }
  }
  return misfits;
}

}  // namespace

int main() {
  torch::set_num_threads(1);
  torch::manual_seed(0);
  Tagger tagger;
  int misfits = 0;
  {
    torch::NoGradGuard guard;
    std::map<std::string, torch::Tensor> saved;
    for (auto& named : tagger->named_parameters()) saved[named.key()] = named.value() * 0.9;
    saved["emit.weight"] = torch::zeros({2, kHidden + 1});
    saved["gate"] = torch::zeros({kHidden - 1});
    misfits = restore(tagger, saved);
  }
  auto series = wave(361);
  int skipped = train_windows(tagger, series, 8);
  double last = follow(tagger, series.narrow(0, 0, 56));
  std::printf("misfits %d skipped %d last %.6f\n", misfits, skipped, last);
  return 0;
}

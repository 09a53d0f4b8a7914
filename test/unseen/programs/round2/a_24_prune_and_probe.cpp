// Prunes a network, watches its activations, and filters a signal with the result.
#include <torch/torch.h>
#include <iostream>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace {

struct CenterImpl : torch::nn::Module {
  explicit CenterImpl(int64_t n) { mean = register_buffer("mean", torch::zeros({n})); }

  torch::Tensor forward(const torch::Tensor& x) {
    if (is_training())
      mean = 0.9 * mean + 0.1 * x.detach().mean(0);  // EXPECT: torch-reassigned-member
    return x - mean;
  }

  torch::Tensor mean;
};
TORCH_MODULE(Center);

class FilterNetImpl : public torch::nn::Module {
 public:
  FilterNetImpl() {
    center = register_module("center", Center(4));
    in = register_module("in", torch::nn::Linear(4, 32));
    mix = register_module("mix", torch::nn::Linear(64, 32));
    out = register_module("out", torch::nn::Linear(32, 4));
  }

  torch::Tensor forward(torch::Tensor x) {
    auto h = torch::relu(in(center(x)));
    probes_["hidden"].push_back(h.mean(1));  // EXPECT: torch-retained-graph
    widest_ = std::max<int64_t>(widest_, h.size(1));
    return out(mix(torch::cat({h, torch::zeros_like(h)}, 1)));  // RIGHT: torch-allocation-in-loop (as large as the batch)
  }

  // One sample at a time, with a memory of what went before.
  torch::Tensor filter(const torch::Tensor& x) {
    auto h = torch::relu(in(center(x)));
    auto before = memory_.value_or(torch::zeros_like(h));
    memory_ = torch::tanh(mix(torch::cat({h, before}, 1)));  // EXPECT: torch-undetached-hidden-state
    return out(*memory_);
  }

  void report() const {
    for (const auto& [name, list] : probes_)
      std::cout << name << ": " << torch::cat(list).mean().item<float>() << " over " << list.size() << " batches\n";
  }

  Center center{nullptr};
  torch::nn::Linear in{nullptr}, mix{nullptr}, out{nullptr};

 private:
  std::map<std::string, std::vector<torch::Tensor>> probes_;
  std::optional<torch::Tensor> memory_;
  int64_t widest_ = 0;
};
TORCH_MODULE(FilterNet);

void prune(torch::nn::Linear layer, double threshold) {
  torch::NoGradGuard guard;
  auto keep = layer->weight.abs() > threshold;
  layer->weight = layer->weight * keep;  // EXPECT: torch-reassigned-member
  layer->bias.set_data(layer->bias.clamp(-1, 1));  // RIGHT: torch-reassigned-member (the registered tensor gets other data)
}

void initialise(FilterNet& net) {
  for (auto& p : net->parameters())
    if (p.dim() == 2)
      torch::nn::init::xavier_uniform_(p);  // RIGHT: torch-leaf-inplace (init has a guard of its own)
  torch::NoGradGuard guard;
  for (auto& p : net->parameters())
    if (p.dim() == 1)
      p.uniform_(-0.01, 0.01);  // RIGHT: torch-leaf-inplace (under the guard)
}

}  // namespace

int main() {
  torch::manual_seed(24);
  FilterNet net;
  initialise(net);

  auto clean = torch::sin(torch::arange(512 * 4).view({512, 4}) * 0.05);
  auto noisy = clean + 0.2 * torch::randn_like(clean);
  torch::optim::AdamW opt(net->parameters(), torch::optim::AdamWOptions(2e-3));
  for (int epoch = 0; epoch < 5; ++epoch)
    for (int64_t i = 0; i < 512; i += 64) {
      net->zero_grad();
      auto loss = torch::l1_loss(net->forward(noisy.slice(0, i, i + 64)), clean.slice(0, i, i + 64));
      loss.backward();
      opt.step();  // RIGHT: torch-missing-zero-grad (the module clears them)
    }
  net->report();
  prune(net->mix, 0.02);

  net->eval();
  double error = 0;
  for (int64_t i = 0; i < 200; ++i) {
    auto y = net->filter(noisy[i].unsqueeze(0));  // EXPECT: torch-missing-no-grad
    error += (y - clean[i]).abs().mean().item<double>();
  }
  std::cout << "filter error " << error / 200 << '\n';

  const auto last = net->parameters().back();  // RIGHT: torch-parameter-copy (a handle of its own)
  std::cout << last.sizes() << '\n';
}

// Helpers, templates and lambdas: a small library that trains any module, and two
// programs that use it.
#include <torch/torch.h>

#include <algorithm>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace lib {

class EvalScope {
 public:
  template <typename Module>
  explicit EvalScope(Module& module) : restore_([&module] { module->train(); }) {
    module->eval();
  }
  ~EvalScope() { restore_(); }

 private:
  torch::NoGradGuard guard_;
  std::function<void()> restore_;
};

class Meter {
 public:
  void update(const torch::Tensor& value, int64_t n = 1) {
    sum_ = sum_ + value.detach() * n;
    count_ += n;
  }
  double mean() const { return sum_.item<double>() / count_; }
  void reset() {
    sum_ = torch::zeros({});
    count_ = 0;
  }

 private:
  torch::Tensor sum_ = torch::zeros({});
  int64_t count_ = 0;
};

template <typename F>
auto without_gradients(F&& f) {
  torch::NoGradGuard no_grad;
  return f();
}

template <typename Optimizer>
void backward_and_step(Optimizer& optimizer, const torch::Tensor& loss) {
  optimizer.zero_grad();
  loss.backward();
  optimizer.step();
}

template <typename Module, typename Optimizer, typename Loss>
class Loop {
 public:
  Loop(Module module, Optimizer& optimizer, Loss loss)
      : module_(std::move(module)), optimizer_(optimizer), loss_(std::move(loss)) {}

  void epoch(const std::vector<std::pair<torch::Tensor, torch::Tensor>>& data) {
    meter_.reset();
    std::for_each(data.begin(), data.end(), [this](const auto& sample) {
      auto value = loss_(module_->forward(sample.first), sample.second);
      backward_and_step(optimizer_, value);
      meter_.update(value);
      history_["loss"].push_back(value.template item<double>());
    });
  }

  double mean() const { return meter_.mean(); }
  size_t steps() const { return history_.at("loss").size(); }

 private:
  Module module_;
  Optimizer& optimizer_;
  Loss loss_;
  Meter meter_;
  std::map<std::string, std::vector<double>> history_;
};

}  // namespace lib

struct MLPImpl : torch::nn::Module {
  MLPImpl(int64_t in, int64_t out) : a(in, 32), b(32, out) {
    register_module("a", a);
    register_module("b", b);
  }
  torch::Tensor forward(const torch::Tensor& x) { return b(torch::tanh(a(x))); }
  torch::nn::Linear a, b;
};
TORCH_MODULE(MLP);

using Data = std::vector<std::pair<torch::Tensor, torch::Tensor>>;

static Data waves(int batches, torch::Device device) {
  Data data;
  auto frequencies = torch::linspace(1, 8, 64).to(device);
  auto grid = torch::ones({64, 64}, device);
  for (int i = 0; i < batches; ++i) {
    auto x = torch::rand({64, 1}, device);
    data.emplace_back(x * grid, torch::sin(x * frequencies).sum(1, true));
  }
  return data;
}

static double evaluate(MLP& model, const Data& data) {
  lib::EvalScope scope(model);
  double sum = 0;
  for (const auto& [x, y] : data)
    sum += torch::l1_loss(model->forward(x), y).item<double>();
  return sum / data.size();
}

// A student learns what its teacher says.
static std::vector<torch::Tensor> distill(MLP teacher, MLP student, const Data& data,
                                          torch::Device device) {
  torch::optim::Adam adam(student->parameters(), 1e-3);
  teacher->eval();
  std::vector<torch::Tensor> gaps;
  auto temperature = torch::full({64, 1}, 2.0).to(device);
  do {
    for (auto&& [x, y] : data) {
      torch::Tensor wanted;
      {
        torch::NoGradGuard no_grad;
        wanted = teacher->forward(x) / temperature;
      }
      auto gap = torch::mse_loss(student->forward(x) / temperature, wanted);
      lib::backward_and_step(adam, gap);
      gaps.emplace_back(gap.detach());
    }
  } while (gaps.size() < 1000);
  return gaps;
}

int main() {
  torch::Device device(torch::kCPU);
  if (torch::cuda::is_available())
    device = torch::Device(torch::kCUDA, 0);
  MLP model(64, 1), student(64, 1);
  model->to(device);
  student->to(device);
  auto data = waves(50, device);

  torch::optim::Adam adam(model->parameters(), 1e-3);
  auto loss = [](const torch::Tensor& a, const torch::Tensor& b) {
    return torch::smooth_l1_loss(a, b);
  };
  lib::Loop<MLP, torch::optim::Adam, decltype(loss)> loop(model, adam, loss);
  for (int epoch = 0; epoch < 20; ++epoch) {
    loop.epoch(data);
    std::cout << epoch << " " << loop.mean() << " " << evaluate(model, data) << "\n";
  }

  auto gaps = distill(model, student, data, device);
  std::cout << gaps.size() << " " << torch::stack(gaps).mean().item<float>() << " of "
            << loop.steps() << "\n";
  auto answer = lib::without_gradients([&] { return student->forward(data[0].first); });
  std::cout << answer.mean().item<float>() << "\n";
}

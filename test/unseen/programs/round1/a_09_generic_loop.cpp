// Generic training loop: any network, any loader, any loss.
#include <torch/torch.h>
#include <iostream>
#include <string>
#include <utility>

namespace loop {

struct Report {
  double train = 0, test = 0;
};

template <class Net, class Loader, class Loss>
double train_epoch(Net& net, Loader& loader, torch::optim::Optimizer& opt, Loss&& criterion) {
  double sum = 0;
  size_t n = 0;
  net->train();
  opt.zero_grad();
  for (auto& batch : loader) {
    auto loss = criterion(net->forward(batch.data), batch.target);
    loss.backward();
    opt.step();  // EXPECT: torch-missing-zero-grad
    sum += loss.template item<double>();
    ++n;
  }
  return sum / n;
}

// Adds the gradients of `every` batches before it steps.
template <class Net, class Loader, class Loss>
double train_accumulated(Net& net, Loader& loader, torch::optim::Optimizer& opt, Loss&& criterion, size_t every) {
  double sum = 0;
  size_t n = 0;
  net->train();
  for (auto& batch : loader) {
    auto loss = criterion(net->forward(batch.data), batch.target) / static_cast<double>(every);
    loss.backward();
    if (++n % every == 0) {
      opt.step();  // RIGHT: torch-missing-zero-grad (accumulation: cleared after each step)
      opt.zero_grad();
    }
    sum += loss.template item<double>();
  }
  return sum * every / n;
}

template <class Net, class Loader, class Loss>
double evaluate(Net& net, Loader& loader, Loss&& criterion) {
  double sum = 0;
  size_t n = 0;
  net->eval();
  for (auto& batch : loader) {
    sum += criterion(net->forward(batch.data), batch.target).template item<double>();  // RIGHT: torch-missing-no-grad (the only caller, run(), holds a guard)
    ++n;
  }
  return sum / n;
}

template <class Net, class Train, class Test>
Report run(Net net, Train& train, Test& test, bool accumulate) {
  Report report;
  torch::optim::AdamW opt(net->parameters(), torch::optim::AdamWOptions(2e-3));
  for (int epoch = 0; epoch < 3; ++epoch)
    report.train = accumulate ? train_accumulated(net, train, opt, torch::nn::MSELoss(), 4)
                              : train_epoch(net, train, opt, torch::nn::MSELoss());
  {
    torch::NoGradGuard no_grad;
    report.test = evaluate(net, test, torch::nn::MSELoss());
  }
  return report;
}

}  // namespace loop

struct ResidualImpl : torch::nn::Module {
  explicit ResidualImpl(int64_t width) {
    in = register_module("in", torch::nn::Linear(4, width));
    mid = register_module("mid", torch::nn::Linear(width, width));
    out = register_module("out", torch::nn::Linear(width, 1));
  }
  torch::Tensor forward(torch::Tensor x) {
    x = torch::gelu(in(x));
    x = x + torch::gelu(mid(x));
    return out(x);
  }
  torch::nn::Linear in{nullptr}, mid{nullptr}, out{nullptr};
};
TORCH_MODULE(Residual);

class Rows : public torch::data::Dataset<Rows> {
  torch::Tensor x_, y_;

 public:
  explicit Rows(int64_t n) : x_(torch::rand({n, 4})) {
    y_ = (x_.slice(1, 0, 2).prod(1) + x_.slice(1, 2, 4).sin().sum(1)).unsqueeze(1);
  }
  torch::data::Example<> get(size_t i) override { return {x_[i], y_[i]}; }
  torch::optional<size_t> size() const override { return x_.size(0); }
};

int main(int argc, char** argv) {
  torch::manual_seed(1);
  using torch::data::transforms::Stack;
  auto train = torch::data::make_data_loader(Rows(640).map(Stack<>()), 32);
  auto test = torch::data::make_data_loader(Rows(160).map(Stack<>()), 80);

  auto plain = torch::nn::Sequential(torch::nn::Linear(4, 32), torch::nn::Tanh(), torch::nn::Linear(32, 1));
  auto a = loop::run(plain, *train, *test, true);
  Residual residual(24);
  const bool small_start = argc > 1 && std::string(argv[1]) == "--small-start";
  if (small_start) residual->out->weight.mul_(0.1);  // EXPECT: torch-leaf-inplace
  auto b = loop::run(residual, *train, *test, false);
  std::cout << "plain " << a.train << " / " << a.test << "\nresidual " << b.train << " / " << b.test << '\n';
  if (small_start) {
    auto& first = residual->parameters()[0];  // EXPECT: torch-parameter-copy
    std::cout << "norm of the first layer " << first.norm().item<double>() << '\n';
  }
  for (const auto& p : residual->parameters())  // RIGHT: torch-parameter-copy (the vector lives as long as the loop)
    std::cout << p.numel() << ' ';
  std::cout << '\n';
}

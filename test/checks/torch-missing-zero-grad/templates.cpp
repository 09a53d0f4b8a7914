// RUN: %check_torch %s torch-missing-zero-grad %t
//
// Templates: instantiated once, several times (one finding), never, and class
// templates.

#include <torch/torch.h>

#include <memory>

using torch::Tensor;

struct NetImpl : torch::nn::Module {
  NetImpl() { fc = register_module("fc", torch::nn::Linear(8, 2)); }
  Tensor forward(Tensor x) { return fc->forward(x); }
  torch::nn::Linear fc{nullptr};
};
TORCH_MODULE(Net);

// The main idiom in the wild.
template <class NetType, class Loader>
void train(NetType &net, Loader &loader, torch::optim::Optimizer &optimizer) {
  net->train();
  size_t index = 0;
  for (auto &batch : loader) {
    auto output = net->forward(batch.data);
    auto loss = torch::nll_loss(output, batch.target);
    loss.backward();
    optimizer.step();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: gradients of 'optimizer' are not cleared between iterations
    if (index++ % 10 == 0)
      std::cout << loss.template item<float>() << '\n';
  }
}

// Instantiated for two optimizers: still one finding.
template <typename Opt> void fit(Net net, Opt &opt, Tensor x, Tensor y) {
  for (int i = 0; i < 10; ++i) {
    auto loss = torch::mse_loss(net->forward(x), y);
    loss.backward();
    opt.step();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: gradients of 'opt' are not cleared between iterations
  }
}

// A class template whose method is called in a loop.
template <class Module> class Trainer {
public:
  explicit Trainer(Module module)
      : module(module),
        optimizer(std::make_unique<torch::optim::Adam>(module->parameters())) {}
  void step(const Tensor &x, const Tensor &y) {
    Tensor loss = torch::mse_loss(module->forward(x), y);
    loss.backward();
    optimizer->step();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: gradients of 'optimizer' are not cleared between iterations
  }

private:
  Module module;
  std::unique_ptr<torch::optim::Optimizer> optimizer;
};

// Never instantiated: the types of 'loss' and 'opt' do not depend on NetType,
// so everything that matters can be resolved.
template <class NetType>
void neverInstantiated(NetType &net, torch::optim::SGD &opt, Tensor x,
                       Tensor y) {
  for (int i = 0; i < 10; ++i) {
    Tensor loss = torch::mse_loss(net->forward(x), y);
    loss.backward();
    opt.step();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: gradients of 'opt' are not cleared between iterations
  }
}

// ----- quiet -----

// Never instantiated, and the clearing call is on a dependent type.
template <class NetType>
void neverInstantiatedCleared(NetType &net, torch::optim::SGD &opt, Tensor x,
                              Tensor y) {
  for (int i = 0; i < 10; ++i) {
    net->zero_grad();
    Tensor loss = torch::mse_loss(net->forward(x), y);
    loss.backward();
    opt.step();
  }
}

// Never instantiated, and a dependent call may clear.
template <class Policy>
void neverInstantiatedUnknown(Policy &policy, Net net, torch::optim::SGD &opt,
                              Tensor x, Tensor y) {
  for (int i = 0; i < 10; ++i) {
    policy.beforeStep(opt);
    torch::mse_loss(net->forward(x), y).backward();
    opt.step();
  }
}

// One branch clears by the optimizer, the other by the module.
template <bool ByModule, class Opt>
void trainCleared(Net net, Opt &opt, Tensor x, Tensor y) {
  for (int i = 0; i < 10; ++i) {
    if constexpr (ByModule)
      net->zero_grad();
    else
      opt.zero_grad();
    torch::mse_loss(net->forward(x), y).backward();
    opt.step();
  }
}

int main() {
  Net net;
  torch::optim::SGD sgd(net->parameters(), 0.1);
  torch::optim::Adam adam(net->parameters());
  std::vector<torch::data::Example<>> batches;
  auto x = torch::rand({4, 8}), y = torch::rand({4, 2});
  for (int epoch = 0; epoch < 3; ++epoch)
    train(net, batches, sgd);
  fit(net, sgd, x, y);
  fit(net, adam, x, y);
  Trainer<Net> trainer(net);
  for (int i = 0; i < 10; ++i)
    trainer.step(x, y);
  trainCleared<true>(net, sgd, x, y);
  trainCleared<false>(net, adam, x, y);
}

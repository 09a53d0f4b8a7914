// RUN: %check_torch %s torch-missing-no-grad %t
//
// The graph is used: something of it is backwarded, here or in a caller.

#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;

struct NetImpl : torch::nn::Module {
  NetImpl() {
    fc = register_module("fc", Linear(8, 2));
    norm = register_module("norm", torch::nn::BatchNorm1d(2));
  }
  Tensor forward(Tensor x) { return norm(fc(x)); }
  Linear fc{nullptr};
  torch::nn::BatchNorm1d norm{nullptr};
};
TORCH_MODULE(Net);

// Fine-tuning with the whole net, or only its norm layers, in eval mode.
void fineTuning(Net net, torch::optim::SGD &opt, const std::vector<Tensor> &xs,
                Tensor y) {
  net->eval();
  for (const auto &x : xs) {
    opt.zero_grad();
    auto loss = torch::mse_loss(net->forward(x), y);
    loss.backward();
    opt.step();
  }
}

void frozenNorm(Net net, torch::optim::SGD &opt, Tensor x, Tensor y) {
  net->train();
  net->norm->eval();
  for (int i = 0; i < 10; ++i) {
    opt.zero_grad();
    torch::mse_loss(net(x), y).backward();
    opt.step();
  }
}

// The output is collected, and backwarded after the loop.
static void collected(Net net, torch::optim::SGD &opt,
                      const std::vector<Tensor> &xs) {
  net->eval();
  std::vector<Tensor> outputs;
  for (const auto &x : xs)
    outputs.push_back(net->forward(x));
  torch::cat(outputs).sum().backward();
  opt.step();
}

// The helper forwards, its caller backwards.
static Tensor lossOf(Net net, Tensor x, Tensor y) {
  net->eval();
  return torch::mse_loss(net->forward(x), y);
}

// The forward and the backward are in different methods of one class.
class Attack {
public:
  explicit Attack(Net net) : net(net) { this->net->eval(); }
  void forward(Tensor x) { loss = net->forward(x).max(); }
  void backward() { loss.backward(); }

private:
  Net net;
  Tensor loss;
};

// The generator's loss goes through the critic, whose own step is another one.
static void generatorStep(Linear generator, Linear critic,
                          torch::optim::Adam &opt) {
  critic->eval();
  auto fake = generator->forward(torch::randn({4, 8}));
  auto lossG = -critic->forward(fake).mean();
  opt.zero_grad();
  lossG.backward();
  opt.step();
}

// A perceptual loss: the features of the judge pass the gradient on.
static void perceptual(Linear net, torch::nn::Sequential judge,
                       torch::optim::Adam &opt, Tensor x, Tensor wanted) {
  judge->eval();
  for (int i = 0; i < 10; ++i) {
    auto features = judge->forward(net->forward(x));
    auto loss = torch::mse_loss(features, wanted);
    opt.zero_grad();
    loss.backward();
    opt.step();
  }
}

// backwarded on one path only: in the last batch of a window.
static void onSomePath(Net net, torch::optim::SGD &opt,
                       const std::vector<Tensor> &xs) {
  net->eval();
  Tensor sum = torch::zeros({});
  for (size_t i = 0; i < xs.size(); ++i) {
    sum = sum + net->forward(xs[i]).mean();
    if (i % 4 == 3) {
      opt.zero_grad();
      sum.backward();
      opt.step();
      sum = torch::zeros({});
    }
  }
}

// Of what nobody names nothing would be said.
const auto named = std::make_tuple(&fineTuning, &frozenNorm);

int main() {
  Net net;
  Linear generator(8, 8), critic(8, 1);
  torch::optim::SGD opt(net->parameters(), 0.1);
  torch::optim::Adam adam(generator->parameters());
  auto x = torch::rand({4, 8}), y = torch::rand({4, 2});
  collected(net, opt, {x});
  onSomePath(net, opt, {x});
  for (int i = 0; i < 10; ++i) {
    opt.zero_grad();
    auto loss = lossOf(net, x, y);
    loss.backward();
    opt.step();
    generatorStep(generator, critic, adam);
  }
  perceptual(generator, torch::nn::Sequential(Linear(8, 2)), adam, x, y);
  Attack attack(net);
  attack.forward(x);
  attack.backward();
}

// RUN: %check_torch %s torch-missing-no-grad %t
//
// Ordinary training, also where main() or eval() are near.

#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;
using Batches = std::vector<torch::data::Example<>>;

template <class Net, class Loader>
void train(Net &net, Loader &loader, torch::optim::Optimizer &opt) {
  net->train();
  for (auto &batch : loader) {
    opt.zero_grad();
    auto output = net->forward(batch.data);
    auto loss = torch::nll_loss(output, batch.target);
    loss.backward();
    opt.step();
  }
}

// The accuracy of the training batch is read from the same forward.
static void accuracyOnTheWay(Linear net, Batches &batches,
                             torch::optim::SGD &opt) {
  int64_t correct = 0;
  for (auto &batch : batches) {
    auto output = net->forward(batch.data);
    correct += output.argmax(1).eq(batch.target).sum().item<int64_t>();
    auto loss = torch::nll_loss(output, batch.target);
    opt.zero_grad();
    loss.backward();
    opt.step();
  }
  std::cout << correct << '\n';
}

static void closure(Linear net, Tensor x, Tensor y) {
  torch::optim::LBFGS opt(net->parameters());
  for (int i = 0; i < 10; ++i)
    opt.step([&] {
      opt.zero_grad();
      auto loss = torch::mse_loss(net->forward(x), y);
      loss.backward();
      return loss;
    });
}

// Encoder and decoder: only the last result is backwarded, by way of both.
static void encoderDecoder(Linear encoder, Linear decoder, Tensor x) {
  auto params = encoder->parameters();
  for (auto &p : decoder->parameters())
    params.push_back(p);
  torch::optim::Adam opt(params);
  for (int i = 0; i < 10; ++i) {
    auto code = encoder->forward(x);
    auto out = decoder->forward(torch::relu(code));
    auto loss = torch::mse_loss(out, x);
    opt.zero_grad();
    loss.backward();
    opt.step();
  }
}

// The critic's step detaches the generator's result, the generator's step uses
// the same result undetached.
static void gan(Linear generator, Linear critic, Tensor real) {
  torch::optim::Adam optG(generator->parameters()), optD(critic->parameters());
  for (int i = 0; i < 10; ++i) {
    auto fake = generator->forward(torch::randn({4, 8}));
    optD.zero_grad();
    auto lossD = critic->forward(fake.detach()).mean();
    (lossD - critic->forward(real).mean()).backward();
    optD.step();
    optG.zero_grad();
    (-critic->forward(fake).mean()).backward();
    optG.step();
  }
}

// Eval mode is on for the evaluation only, which has its guard.
static void both(Linear net, Batches &batches, torch::optim::SGD &opt) {
  for (int epoch = 0; epoch < 10; ++epoch) {
    train(net, batches, opt);
    net->eval();
    {
      torch::NoGradGuard no_grad;
      for (auto &batch : batches)
        std::cout << net->forward(batch.data).argmax(1) << '\n';
    }
    net->train();
  }
}

// Policy gradients: the log-probabilities of an episode are backwarded later.
static void reinforce(Linear policy, Tensor state) {
  torch::optim::Adam opt(policy->parameters());
  for (int episode = 0; episode < 10; ++episode) {
    std::vector<Tensor> logProbs;
    for (int step = 0; step < 100; ++step) {
      auto probabilities = torch::softmax(policy->forward(state), -1);
      auto action = probabilities.multinomial(1);
      logProbs.push_back(probabilities.gather(1, action).log());
    }
    opt.zero_grad();
    (-torch::stack(logProbs).sum()).backward();
    opt.step();
  }
}

int main() {
  Linear net(8, 2), other(8, 8), critic(8, 1);
  torch::optim::SGD opt(net->parameters(), 0.1);
  Batches batches;
  auto x = torch::rand({4, 8}), y = torch::rand({4, 2});
  train(net, batches, opt);
  accuracyOnTheWay(net, batches, opt);
  closure(net, x, y);
  encoderDecoder(other, Linear(8, 8), x);
  gan(other, critic, x);
  both(net, batches, opt);
  reinforce(net, x);
}

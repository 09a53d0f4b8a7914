// RUN: %check_torch %s torch-missing-zero-grad %t
//
// Several losses and several optimizers, all cleared.

#include <torch/torch.h>

#include <memory>

using torch::Tensor;
using torch::nn::Linear;

// Two backward() for one step() are meant; both modules are cleared by the
// module and stepped by the optimizer.
void gan(Linear netG, Linear netD, Tensor real, Tensor noise) {
  torch::optim::Adam optG(netG->parameters()), optD(netD->parameters());
  for (int i = 0; i < 10; ++i) {
    netD->zero_grad();
    auto lossReal = torch::relu(1 - netD->forward(real)).mean();
    lossReal.backward();
    auto fake = netG->forward(noise);
    auto lossFake = torch::relu(1 + netD->forward(fake.detach())).mean();
    lossFake.backward();
    optD.step();

    // After the generator's forward, before its backward(). The discriminator
    // gets gradients here too; they are cleared at the top.
    netG->zero_grad();
    auto lossG = -netD->forward(fake).mean();
    lossG.backward();
    optG.step();
  }
}

// The generator is trained in every fifth iteration only.
void critic(Linear netG, Linear netD, Tensor real, Tensor noise) {
  torch::optim::RMSprop optG(netG->parameters()), optD(netD->parameters());
  for (int i = 0; i < 100; ++i) {
    optD.zero_grad();
    auto fake = netG->forward(noise).detach();
    (netD->forward(fake).mean() - netD->forward(real).mean()).backward();
    optD.step();
    if (i % 5 == 0) {
      optG.zero_grad();
      (-netD->forward(netG->forward(noise)).mean()).backward();
      optG.step();
    }
  }
}

// One backward() and two steps; one of the two is cleared by its module.
void oneBackwardTwoSteps(Linear encoder, Linear decoder, Tensor x) {
  torch::optim::SGD optE(encoder->parameters(), 0.1);
  torch::optim::SGD optD(decoder->parameters(), 0.1);
  for (int i = 0; i < 10; ++i) {
    encoder->zero_grad();
    optD.zero_grad();
    torch::mse_loss(decoder->forward(encoder->forward(x)), x).backward();
    optE.step();
    optD.step();
  }
}

// One optimizer over a merged vector; both parts are cleared by their modules.
void mergedParameters(Linear encoder, Linear decoder, Tensor x) {
  auto params = encoder->parameters();
  for (const auto &p : decoder->parameters())
    params.push_back(p);
  torch::optim::Adam opt(params, torch::optim::AdamOptions(1e-3));
  for (int i = 0; i < 10; ++i) {
    auto loss = torch::mse_loss(decoder->forward(encoder->forward(x)), x);
    decoder->zero_grad();
    encoder->zero_grad();
    loss.backward();
    opt.step();
  }
}

// Two optimizers over the same parameters: clearing by one clears for both.
void sharedParameters(Linear net, Tensor x, Tensor y) {
  torch::optim::SGD warmup(net->parameters(), 0.01);
  torch::optim::Adam adam(net->parameters());
  for (int i = 0; i < 100; ++i) {
    adam.zero_grad();
    torch::mse_loss(net->forward(x), y).backward();
    if (i < 10)
      warmup.step();
    else
      adam.step();
  }
}

// Chosen at run time, used through a reference.
void chosen(Linear net, Tensor x, Tensor y, bool useAdam) {
  torch::optim::SGD sgd(net->parameters(), 0.1);
  torch::optim::Adam adam(net->parameters());
  torch::optim::Optimizer &opt =
      useAdam ? static_cast<torch::optim::Optimizer &>(adam) : sgd;
  for (int i = 0; i < 10; ++i) {
    opt.zero_grad();
    torch::mse_loss(net->forward(x), y).backward();
    opt.step();
  }
}

// A container of optimizers. A loop over it may run zero times, but then so
// does the loop of the steps.
void container(std::vector<std::unique_ptr<torch::optim::Optimizer>> &all,
               Linear net, Tensor x, Tensor y) {
  for (int i = 0; i < 10; ++i) {
    for (auto &o : all)
      o->zero_grad();
    torch::mse_loss(net->forward(x), y).backward();
    for (auto &o : all)
      o->step();
  }
}

// Cleared through a container of pointers, stepped by name.
void pointersToBoth(Linear a, Linear b, Tensor x, Tensor y) {
  torch::optim::SGD optA(a->parameters(), 0.1), optB(b->parameters(), 0.1);
  std::vector<torch::optim::Optimizer *> all{&optA, &optB};
  for (int i = 0; i < 10; ++i) {
    for (auto *o : all)
      o->zero_grad();
    torch::mse_loss(b->forward(a->forward(x)), y).backward();
    optA.step();
    optB.step();
  }
}

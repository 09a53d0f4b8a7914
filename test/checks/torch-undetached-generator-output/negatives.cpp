// RUN: %check_torch %s torch-undetached-generator-output %t
//
// What looks like it and is right, or cannot be told.

#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;
using torch::nn::Sequential;
using torch::optim::Adam;
using torch::optim::SGD;
using Batches = std::vector<Tensor>;

// Detached; made under a guard; made by clone().detach_(), data().
void detached(const Batches &batches) {
  Linear G(8, 4), D(4, 1);
  SGD optG(G->parameters(), 0.1), optD(D->parameters(), 0.1);
  for (const Tensor &real : batches) {
    optD.zero_grad();
    auto fake = G->forward(torch::randn({32, 8}));
    auto d_loss = D->forward(fake.detach()).mean() - D->forward(real).mean();
    d_loss.backward();
    Tensor sample;
    {
      torch::NoGradGuard guard;
      sample = G->forward(torch::randn({32, 8}));
    }
    D->forward(sample).mean().backward();
    D->forward(fake.clone().detach_()).mean().backward();
    D->forward(fake.data()).mean().backward();
    optD.step();
    // The generator's own step goes through both.
    optG.zero_grad();
    (-D->forward(fake).mean()).backward();
    optG.step();
  }
}

// One optimizer for both; an encoder and a head, each with its own, trained by
// one loss.
void together(const Batches &batches) {
  Linear encoder(8, 4), head(4, 1);
  auto all = encoder->parameters();
  for (const Tensor &p : head->parameters())
    all.push_back(p);
  Adam opt(all, 1e-3);
  for (const Tensor &x : batches) {
    opt.zero_grad();
    head->forward(encoder->forward(x)).mean().backward();
    opt.step();
  }
  SGD first(encoder->parameters(), 0.1), second(head->parameters(), 0.1);
  for (const Tensor &x : batches) {
    first.zero_grad();
    second.zero_grad();
    head->forward(encoder->forward(x)).mean().backward();
    second.step();
    first.step();
  }
  // The encoder's step comes later, or only now and then.
  int count = 0;
  for (const Tensor &x : batches) {
    second.zero_grad();
    head->forward(encoder->forward(x)).mean().backward();
    second.step();
    if (++count % 4 == 0) {
      first.step();
      first.zero_grad();
    }
  }
}

// Two losses, both meant for the encoder.
void twoLosses(const Batches &batches) {
  Linear encoder(8, 4), domain(4, 1), label(4, 1);
  SGD all(encoder->parameters(), 0.1), one(domain->parameters(), 0.1),
      two(label->parameters(), 0.1);
  for (const Tensor &x : batches) {
    all.zero_grad();
    one.zero_grad();
    two.zero_grad();
    domain->forward(encoder->forward(x)).mean().backward();
    one.step();
    label->forward(encoder->forward(x)).mean().backward();
    two.step();
    all.step();
  }
}

// The gradients of both losses are collected, and then applied.
void simultaneous(const Batches &batches) {
  Linear G(8, 4), D(4, 1);
  SGD optG(G->parameters(), 0.1), optD(D->parameters(), 0.1);
  for (const Tensor &real : batches) {
    optG.zero_grad();
    optD.zero_grad();
    auto fake = G->forward(torch::randn({32, 8}));
    (D->forward(fake).mean() - D->forward(real).mean()).backward({}, true);
    (-D->forward(fake).mean()).backward();
    optD.step();
    optG.step();
  }
}

// One pass for both losses: detached, the second would have no gradient.
void onePass(const Batches &batches) {
  Linear G(8, 4), D(4, 1);
  SGD optG(G->parameters(), 0.1), optD(D->parameters(), 0.1);
  for (const Tensor &real : batches) {
    auto score = D->forward(G->forward(torch::randn({32, 8}))).mean();
    optD.zero_grad();
    (score - D->forward(real).mean()).backward({}, true);
    optD.step();
    optG.zero_grad();
    (-score).backward();
    optG.step();
  }
}

// Frozen while the other one is trained.
static void require(Linear &net, bool on) {
  for (Tensor &p : net->parameters())
    p.requires_grad_(on);
}
void frozen(const Batches &batches) {
  Linear G(8, 4), D(4, 1);
  SGD optG(G->parameters(), 0.1), optD(D->parameters(), 0.1);
  for (const Tensor &real : batches) {
    require(G, false);
    optD.zero_grad();
    auto fake = G->forward(torch::randn({32, 8}));
    (D->forward(fake).mean() - D->forward(real).mean()).backward();
    optD.step();
    require(G, true);
    optG.zero_grad();
    (-D->forward(G->forward(torch::randn({32, 8}))).mean()).backward();
    optG.step();
  }
}

// Only some leaves get gradients; a penalty on the slope, which needs a graph.
void inputs(const Batches &batches) {
  Linear G(8, 4), D(4, 1);
  SGD optG(G->parameters(), 0.1), optD(D->parameters(), 0.1);
  for (const Tensor &real : batches) {
    optD.zero_grad();
    auto fake = G->forward(torch::randn({32, 8}));
    D->forward(fake).mean().backward({}, false, false, D->parameters());
    optD.step();
    optG.zero_grad();
    (-D->forward(G->forward(real)).mean()).backward();
    optG.step();
  }
  for (const Tensor &real : batches) {
    optD.zero_grad();
    auto fake = G->forward(torch::randn({32, 8}));
    auto score = D->forward(fake);
    auto slope = torch::autograd::grad({score.sum()}, {fake}, {}, true, true)[0];
    (score.mean() + (slope.norm() - 1).pow(2)).backward();
    optD.step();
    optG.zero_grad();
    (-D->forward(G->forward(real)).mean()).backward();
    optG.step();
  }
  // The usual one: between real and fake, of a leaf of its own.
  for (const Tensor &real : batches) {
    optD.zero_grad();
    auto fake = G->forward(torch::randn({32, 8})).detach();
    auto between = (real * 0.5 + fake * 0.5).requires_grad_();
    auto score = D->forward(between);
    auto slope = torch::autograd::grad({score.sum()}, {between}, {}, true, true)[0];
    (slope.norm() - 1).pow(2).backward();
    optD.step();
    optG.zero_grad();
    (-D->forward(G->forward(real)).mean()).backward();
    optG.step();
  }
}

// The latent is searched for: its gradient is wanted. What goes into the
// generator comes from a network that is trained with the discriminator.
void latent(const Batches &batches) {
  Linear G(8, 4), D(4, 1), embed(2, 8);
  SGD optG(G->parameters(), 0.1), optD(D->parameters(), 0.1);
  auto z = torch::randn({32, 8}, torch::requires_grad());
  for (const Tensor &real : batches) {
    optD.zero_grad();
    (D->forward(G->forward(z)).mean() - D->forward(real).mean()).backward();
    optD.step();
    optG.zero_grad();
    (-D->forward(G->forward(real)).mean()).backward();
    optG.step();
  }
  auto both = D->parameters();
  for (const Tensor &p : embed->parameters())
    both.push_back(p);
  SGD optBoth(both, 0.1);
  for (const Tensor &real : batches) {
    optBoth.zero_grad();
    D->forward(G->forward(embed->forward(real))).mean().backward();
    optBoth.step();
    optG.zero_grad();
    (-D->forward(G->forward(real)).mean()).backward();
    optG.step();
  }
}

// The gradients are read, or anybody may use them.
void look(Linear net);
void read(const Batches &batches) {
  Linear G(8, 4), D(4, 1);
  SGD optG(G->parameters(), 0.1), optD(D->parameters(), 0.1);
  for (const Tensor &real : batches) {
    optD.zero_grad();
    D->forward(G->forward(real)).mean().backward();
    optD.step();
    std::cout << G->weight.grad().norm();
    optG.zero_grad();
    (-D->forward(G->forward(real)).mean()).backward();
    optG.step();
  }
  for (const Tensor &real : batches) {
    optD.zero_grad();
    D->forward(G->forward(real)).mean().backward();
    optD.step();
    look(G);
    optG.zero_grad();
    (-D->forward(G->forward(real)).mean()).backward();
    optG.step();
  }
}

// Nobody knows what these optimizers train.
void unknown(Linear G, Linear D, SGD &optG, SGD &optD, const Batches &batches) {
  for (const Tensor &real : batches) {
    optD.zero_grad();
    D->forward(G->forward(real)).mean().backward();
    optD.step();
    optG.zero_grad();
    (-D->forward(G->forward(real)).mean()).backward();
    optG.step();
  }
}
// No optimizer of the file has the generator; it is another check's.
void nobody(Linear G, const Batches &batches) {
  Linear D(4, 1);
  SGD optD(D->parameters(), 0.1);
  for (const Tensor &real : batches) {
    optD.zero_grad();
    D->forward(G->forward(real)).mean().backward();
    optD.step();
  }
}

// Actor and critic: the actor is trained through the critic, which is trained
// on actions that were chosen before.
void actorCritic(const Batches &states, const Batches &actions) {
  Linear actor(8, 2), critic(10, 1);
  Adam optActor(actor->parameters(), 1e-3), optCritic(critic->parameters(), 1e-3);
  for (size_t i = 0; i < states.size(); ++i) {
    const Tensor &state = states[i];
    auto target = critic->forward(torch::cat({state, actor->forward(state)}, 1));
    auto value = critic->forward(torch::cat({state, actions[i]}, 1));
    optCritic.zero_grad();
    torch::mse_loss(value, target.detach()).backward();
    optCritic.step();
    optActor.zero_grad();
    auto chosen = actor->forward(state);
    (-critic->forward(torch::cat({state, chosen}, 1)).mean()).backward();
    optActor.step();
  }
}

// The layers of one network are trained apart, as its parts.
struct NetImpl : torch::nn::Module {
  Linear in = register_module("in", Linear(8, 4));
  Linear out = register_module("out", Linear(4, 1));
  Tensor forward(const Tensor &x) { return out->forward(in->forward(x)); }
};
TORCH_MODULE(Net);
void layers(const Batches &batches) {
  Net net;
  SGD in(net->in->parameters(), 0.1), out(net->out->parameters(), 0.1);
  for (const Tensor &x : batches) {
    net->zero_grad();
    net->forward(x).mean().backward();
    out.step();
    in.step();
  }
}

// Shared weights; a closure; in a test nobody minds.
void closure(const Batches &batches) {
  Linear G(8, 4), D(4, 1);
  SGD optG(G->parameters(), 0.1);
  torch::optim::LBFGS optD(D->parameters());
  for (const Tensor &real : batches) {
    optD.step([&] {
      optD.zero_grad();
      auto loss = D->forward(G->forward(real)).mean();
      loss.backward();
      return loss;
    });
    optG.zero_grad();
    (-D->forward(G->forward(real)).mean()).backward();
    optG.step();
  }
}

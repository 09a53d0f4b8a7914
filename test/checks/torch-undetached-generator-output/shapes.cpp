// RUN: %check_torch %s torch-undetached-generator-output %t -still-warns
//
// The mistake in its shapes, and what the fix writes. One is told of where a helper
// is called, and not mended.

#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;
using torch::nn::Sequential;
using torch::optim::Adam;
using torch::optim::SGD;

static Tensor bce(const Tensor &score, double label) {
  return torch::binary_cross_entropy(torch::sigmoid(score),
                                     torch::full_like(score, label));
}

// As tutorials have it: the loss on both, another sample for the generator.
void tutorial(const std::vector<Tensor> &batches) {
  Sequential G(Linear(8, 16), torch::nn::ReLU(), Linear(16, 4));
  Sequential D(Linear(4, 16), torch::nn::LeakyReLU(), Linear(16, 1));
  Adam optG(G->parameters(), 1e-3), optD(D->parameters(), 1e-3);
  for (const Tensor &real : batches) {
    auto fake = G->forward(torch::randn({32, 8}));
    auto d_loss = bce(D->forward(real), 1) + bce(D->forward(fake), 0);
    // CHECK-MESSAGES: :[[@LINE-1]]:50: warning: 'D' is trained on what 'G' has made, with its graph: backward() of 'd_loss' goes on through 'G' for gradients that no step() uses (time, memory); give it 'fake.detach()', or make that under a 'torch::NoGradGuard' [torch-undetached-generator-output]
    // CHECK-MESSAGES: :[[@LINE-3]]:17: note: it is made here
    // CHECK-MESSAGES: :[[@LINE+3]]:5: note: this backward() goes through both
    // CHECK-FIXES: bce(D->forward(fake.detach()), 0);
    optD.zero_grad();
    d_loss.backward();
    optD.step();

    fake = G->forward(torch::randn({32, 8}));
    auto g_loss = bce(D->forward(fake), 1);
    optG.zero_grad();
    g_loss.backward();
    optG.step();
  }
}

// The gradients of both are cleared first: those of the discriminator's loss
// are applied to the generator.
void spoiled(const std::vector<Tensor> &batches) {
  Linear G(8, 4), D(4, 1);
  SGD optG(G->parameters(), 0.1), optD(D->parameters(), 0.1);
  for (const Tensor &real : batches) {
    optG.zero_grad();
    optD.zero_grad();
    auto fake = G->forward(torch::randn({32, 8}));
    auto loss = D->forward(fake).mean() - D->forward(real).mean();
    // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: 'D' is trained on what 'G' has made, with its graph: backward() of 'loss' leaves gradients in 'G' that nothing clears before 'optG' applies them, so its updates are wrong; give it 'fake.detach()' [torch-undetached-generator-output]
    // CHECK-MESSAGES: :[[@LINE+6]]:5: note: the gradients are applied here
    // CHECK-FIXES: auto loss = D->forward(fake.detach()).mean() - D->forward(real).mean();
    loss.backward({}, /*retain_graph=*/true);
    optD.step();
    loss = -D->forward(fake).mean();
    loss.backward();
    optG.step();
  }
}

// The generator first; what it makes is given on at once, or changed before.
void otherOrder(const std::vector<Tensor> &batches) {
  Linear G(8, 4), D(4, 1);
  SGD optG(G->parameters(), 0.1), optD(D->parameters(), 0.1);
  for (const Tensor &real : batches) {
    optG.zero_grad();
    (-D->forward(G->forward(torch::randn({32, 8})))).mean().backward();
    optG.step();
    optD.zero_grad();
    D->forward(real).mean().neg().backward();
    D(torch::tanh(G(torch::randn({32, 8})))).mean().backward();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: 'D' is trained on what 'G' has made, with its graph: backward() of the loss goes on through 'G' for gradients that no step() uses (time, memory); detach what it is given, or make that under a 'torch::NoGradGuard'
    // CHECK-FIXES: D(torch::tanh(G(torch::randn({32, 8}))).detach()).mean().backward();
    optD.step();
  }
}

// Members, whose steps are methods; a helper that both steps use; networks of
// the user's.
struct GeneratorImpl : torch::nn::Module {
  Linear in = register_module("in", Linear(8, 16));
  Linear out = register_module("out", Linear(16, 4));
  Tensor forward(const Tensor &z) {
    return out->forward(torch::relu(in->forward(z)));
  }
};
TORCH_MODULE(Generator);
struct CriticImpl : torch::nn::Module {
  Linear one = register_module("one", Linear(4, 16));
  Linear two = register_module("two", Linear(16, 1));
  Tensor score(const Tensor &x) {
    return two->forward(torch::relu(one->forward(x)));
  }
};
TORCH_MODULE(Critic);
class Trainer {
public:
  Trainer()
      : generators_(
            std::make_unique<Adam>(generator_->parameters(), 1e-3)),
        critics_(std::make_unique<Adam>(critic_->parameters(), 1e-3)) {}
  void run(const std::vector<Tensor> &batches) {
    for (const Tensor &real : batches) {
      discriminate(real);
      generate();
    }
  }

private:
  void discriminate(const Tensor &real) {
    critic_->zero_grad();
    Tensor fake = generator_->forward(torch::randn({32, 8}));
    Tensor loss = judge(fake) - judge(real);
    // CHECK-MESSAGES: :[[@LINE-1]]:19: warning: {{.*}} is trained on what 'generator_' has made, with its graph: backward() of 'loss' goes on through 'generator_' {{.*}}; detach what it is given
    // CHECK-FIXES: {{^}}    Tensor loss = judge(fake) - judge(real);{{$}}
    loss.backward();
    critics_->step();
  }
  void generate() {
    generator_->zero_grad();
    Tensor loss = -judge(generator_->forward(torch::randn({32, 8})));
    loss.backward();
    generators_->step();
  }
  Tensor judge(const Tensor &x) { return critic_->score(x).mean(); }

  Generator generator_;
  Critic critic_;
  std::unique_ptr<Adam> generators_, critics_;
};

// A template, a lambda, a macro, and a generator that is trained now and then.
#define ADVANCE(LOSS, OPTIMIZER)                                               \
  OPTIMIZER.zero_grad();                                                       \
  (LOSS).backward();                                                           \
  OPTIMIZER.step()
template <class Net> void train(Net G, Net D, const Tensor &real) {
  SGD optG(G->parameters(), 0.1), optD(D->parameters(), 0.1);
  auto sample = [&] { return G->forward(torch::randn({32, 8})); };
  for (int i = 0; i < 100; ++i) {
    auto fake = sample();
    auto loss = bce(D->forward(fake), 0) + bce(D->forward(real), 1);
    // CHECK-MESSAGES: :[[@LINE-1]]:21: warning: 'D' is trained on what 'G' has made, with its graph
    // CHECK-FIXES: bce(D->forward(fake.detach()), 0)
    ADVANCE(loss, optD);
    if (i % 5 == 0) {
      ADVANCE(bce(D->forward(sample()), 1), optG);
    }
  }
}
void instantiates(Linear G, Linear D, const Tensor &real) {
  train(G, D, real);
}

// An encoder that was trained before.
float twoPhases(const Tensor &x, const Tensor &y) {
  Linear encoder(8, 4), decoder(4, 8), head(4, 2);
  auto both = encoder->parameters();
  for (const Tensor &p : decoder->parameters())
    both.push_back(p);
  Adam first(encoder->parameters(), 1e-3), rest(decoder->parameters(), 1e-3);
  for (int i = 0; i < 100; ++i) {
    first.zero_grad();
    rest.zero_grad();
    torch::mse_loss(decoder(encoder(x)), x).backward();
    first.step();
    rest.step();
  }
  SGD second(head->parameters(), 0.1);
  Tensor loss;
  for (int i = 0; i < 100; ++i) {
    auto code = encoder->forward(x);
    loss = torch::mse_loss(head->forward(code), y);
    // CHECK-MESSAGES: :[[@LINE-1]]:28: warning: 'head' is trained on what 'encoder' has made
    // CHECK-FIXES: head->forward(code.detach())
    second.zero_grad();
    loss.backward();
    second.step();
  }
  return loss.item<float>();
}

#include <torch/torch.h>
#include <iostream>

// Momentum contrast on toy "images" (vectors) with a queue of negatives.

namespace F = torch::nn::functional;

class EncoderImpl : public torch::nn::Module {
public:
  EncoderImpl(int64_t in, int64_t dim)
      : fc1(register_module("fc1", torch::nn::Linear(in, 96))),
        bn(register_module("bn", torch::nn::BatchNorm1d(96))),
        fc2(register_module("fc2", torch::nn::Linear(96, dim))) {}

  torch::Tensor forward(torch::Tensor x) {
    x = torch::relu(bn(fc1(x)));
    x = fc2(x);
    return F::normalize(x, F::NormalizeFuncOptions().dim(1));
  }

private:
  torch::nn::Linear fc1;
  torch::nn::BatchNorm1d bn;
  torch::nn::Linear fc2;
};
TORCH_MODULE(Encoder);

class MoCoImpl : public torch::nn::Module {
public:
  Encoder query;

  MoCoImpl(int64_t in, int64_t dim, int64_t length, double momentum, double temperature)
      : query(register_module("query", Encoder(in, dim))), key(register_module("key", Encoder(in, dim))),
        momentum_(momentum), temperature_(temperature) {
    queue = register_buffer("queue", F::normalize(torch::randn({length, dim}), F::NormalizeFuncOptions().dim(1)));
    steps = register_buffer("steps", torch::zeros({1}, torch::kLong));
    torch::NoGradGuard guard;
    auto from = query->parameters();
    auto to = key->parameters();
    for (size_t i = 0; i < from.size(); ++i) {
      to[i].copy_(from[i]);  // RIGHT: torch-parameter-copy (in place), torch-leaf-inplace (under a guard)
      to[i].set_requires_grad(false);
    }
  }

  torch::Tensor forward(torch::Tensor a, torch::Tensor b) {
    auto q = query(a);
    auto k = key(b).detach();  // RIGHT: torch-missing-no-grad (the key encoder's parameters are frozen)
    auto positive = (q * k).sum(1, true);
    auto negative = q.mm(queue.t());
    auto logits = torch::cat({positive, negative}, 1) / temperature_;
    auto zero = torch::zeros({a.size(0)}, torch::TensorOptions().dtype(torch::kLong).device(a.device()));
    enqueue(k);
    return torch::cross_entropy_loss(logits, zero);
  }

  void momentumUpdate() {
    torch::NoGradGuard guard;
    for (size_t i = 0; i < key->parameters().size(); ++i)
      key->parameters()[i] = key->parameters()[i] * momentum_ + query->parameters()[i] * (1 - momentum_);  // EXPECT: torch-parameter-copy
    steps += 1;  // RIGHT: torch-reassigned-member (in place)
  }

private:
  void enqueue(const torch::Tensor& k) {
    queue = torch::cat({k, queue.slice(0, 0, queue.size(0) - k.size(0))});  // EXPECT: torch-reassigned-member
  }

  Encoder key;
  torch::Tensor queue, steps;
  double momentum_, temperature_;
};
TORCH_MODULE(MoCo);

static torch::Tensor view(const torch::Tensor& x) {
  auto v = x + 0.1 * torch::randn_like(x);
  v.clamp(0, 1);  // EXPECT: torch-discarded-result
  v.masked_fill_(torch::rand_like(v) < 0.1, 0.0);  // RIGHT: torch-discarded-result (in place)
  return v;
}

static double knn(MoCo& model, const torch::Tensor& bank, const torch::Tensor& bankLabels, const torch::Tensor& x,
                  const torch::Tensor& y) {
  model->eval();
  auto reference = model->query(bank);  // EXPECT: torch-missing-no-grad
  auto z = model->query->forward(x);  // EXPECT: torch-missing-no-grad
  auto nearest = z.mm(reference.t()).argmax(1);
  double hit = bankLabels.index_select(0, nearest).eq(y).to(torch::kDouble).mean().item<double>();
  model->train();
  return hit;
}

int main() {
  torch::manual_seed(31);
  auto centres = torch::rand({6, 40});
  auto draw = [&](int64_t n) {
    auto y = torch::randint(6, {n}, torch::kLong);
    return std::make_pair((centres.index_select(0, y) + 0.15 * torch::randn({n, 40})).clamp(0, 1), y);
  };

  MoCo model(40, 24, 512, 0.99, 0.2);
  std::vector<torch::Tensor> trained;
  for (auto& p : model->parameters())
    if (p.requires_grad()) trained.push_back(p);
  torch::optim::SGD opt(trained, torch::optim::SGDOptions(0.03).momentum(0.9));

  auto [bank, bankLabels] = draw(512);
  auto [test, testLabels] = draw(256);
  double running = 0;
  for (int it = 1; it <= 150; ++it) {
    auto [x, unused] = draw(64);
    auto loss = model->forward(view(x), view(x));
    opt.zero_grad();
    loss.backward();
    opt.step();
    model->momentumUpdate();
    running += loss.item<double>();  // RIGHT: torch-retained-graph (a number)
    if (it % 50 == 0) {
      std::cout << it << ": loss " << running / 50 << ", knn " << knn(model, bank, bankLabels, test, testLabels) << "\n";
      running = 0;
    }
  }
  return 0;
}

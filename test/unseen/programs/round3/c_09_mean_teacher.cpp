// Self-supervised features: a student learns to agree with a teacher that follows it slowly
// (an average of the student's weights). A linear probe tells what the features are worth.
#include <torch/torch.h>

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace nn = torch::nn;

namespace {

constexpr int64_t kIn = 64, kHidden = 48, kDim = 96, kBatch = 64, kClasses = 3;

struct ResidualImpl : nn::Module {
  explicit ResidualImpl(int64_t width)
      : up(register_module("up", nn::Linear(width, 2 * width))),
        down(register_module("down", nn::Linear(2 * width, width))) {}
  torch::Tensor forward(const torch::Tensor& x) { return x + down(torch::gelu(up(x))); }
  nn::Linear up, down;
};
TORCH_MODULE(Residual);

struct ProjectorImpl : nn::Module {
  ProjectorImpl() { expand = register_module("expand", nn::Linear(kHidden, kDim)); }
  torch::Tensor forward(const torch::Tensor& x) { return mix(act(expand(x))); }
  nn::Linear expand{nullptr};
  nn::ReLU act;  // RIGHT: torch-unregistered-module nothing to train, and no mode
  nn::Linear mix{kDim, kDim};  // EXPECT: torch-unregistered-module
};
TORCH_MODULE(Projector);

nn::Sequential make_encoder(int64_t blocks) {
  std::vector<nn::AnyModule> parts{nn::AnyModule(nn::Linear(kIn, kHidden))};
  for (int64_t i = 0; i < blocks; ++i)
    parts.emplace_back(Residual(kHidden));  // RIGHT: torch-fill-alias each block is a module of its own
  nn::Sequential encoder;
  for (auto& part : parts)
    encoder->push_back(part);
  return encoder;
}

struct BranchImpl : nn::Module {
  explicit BranchImpl(int64_t blocks)
      : encoder(register_module("encoder", make_encoder(blocks))), projector(register_module("projector", Projector())) {}
  torch::Tensor forward(const torch::Tensor& x) { return projector(encoder->forward(x)); }
  nn::Sequential encoder;
  Projector projector;
};
TORCH_MODULE(Branch);

std::pair<torch::Tensor, torch::Tensor> draw(int64_t n) {
  auto y = torch::randint(kClasses, {n});
  auto x = torch::randn({n, kIn}) + y.unsqueeze(1) * torch::linspace(-1, 1, kIn);
  return {x, y};
}

torch::Tensor standardise(const torch::Tensor& z) { return (z - z.mean(0)) / (z.std(0) + 1e-4); }

void follow(Branch& teacher, Branch& student, double keep) {
  torch::NoGradGuard no_grad;
  auto from = student->parameters(), to = teacher->parameters();
  for (size_t i = 0; i < to.size(); ++i)
    to[i].mul_(keep).add_(from[i], 1 - keep);  // RIGHT: torch-parameter-copy in place, so it is the teacher's own tensor
}

double pretrain(Branch& student, Branch& teacher, int64_t steps) {
  torch::optim::AdamW optimizer(student->parameters(), torch::optim::AdamWOptions(1e-3));
  follow(teacher, student, 0.0);
  double average = 0;
  for (int64_t step = 0; step < steps; ++step) {
    auto x = draw(kBatch).first;
    auto noise = torch::randn({kBatch, kIn});  // RIGHT: torch-allocation-in-loop drawn anew in every step
    auto wanted = standardise(teacher->forward(x));  // EXPECT: torch-missing-no-grad
    auto z = standardise(student->forward(x + 0.3 * noise));
    auto correlation = z.t().matmul(wanted) / double(kBatch);
    auto identity = torch::eye(kDim);  // EXPECT: torch-allocation-in-loop
    auto loss = (correlation - identity).pow(2).mean();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    follow(teacher, student, 0.99);
    average += loss.item<double>() / double(steps);  // RIGHT: torch-retained-graph a number
  }
  return average;
}

double probe_step(nn::Linear& probe, const torch::Tensor& features, const torch::Tensor& y) {
  torch::optim::Adam optimizer(probe->parameters(), torch::optim::AdamOptions(1e-2));  // EXPECT: torch-optimizer-in-loop
  auto loss = torch::cross_entropy_loss(probe(features), y);
  optimizer.zero_grad();
  loss.backward();
  optimizer.step();
  return loss.item<double>();
}

double probe_accuracy(Branch& branch, int64_t steps) {
  nn::Linear probe(kHidden, kClasses);
  branch->eval();
  for (int64_t i = 0; i < steps; ++i) {
    auto [x, y] = draw(kBatch);
    torch::Tensor features;
    {
      torch::NoGradGuard no_grad;
      features = branch->encoder->forward(x);  // RIGHT: torch-missing-no-grad fixed features, under a guard
    }
    probe_step(probe, features, y);
  }
  torch::NoGradGuard no_grad;
  auto [x, y] = draw(256);
  return probe(branch->encoder->forward(x)).argmax(1).eq(y).to(torch::kFloat).mean().item<double>();
}

// The whole branch on a few labels: a short training for each learning rate.
double best_finetuning(Branch& branch, const std::vector<double>& rates) {
  double best = 1e9;
  auto [x, y] = draw(kBatch);
  for (double rate : rates) {
    Branch net(2);
    follow(net, branch, 0.0);
    nn::Linear head(kDim, kClasses);
    auto parameters = net->parameters();
    for (auto& p : head->parameters())
      parameters.push_back(p);
    torch::optim::Adam optimizer(parameters, torch::optim::AdamOptions(rate));  // RIGHT: torch-optimizer-in-loop a network of its own, and many steps
    double last = 0;
    for (int64_t i = 0; i < 10; ++i) {
      optimizer.zero_grad();
      auto loss = torch::cross_entropy_loss(head(net->forward(x)), y);
      loss.backward();
      optimizer.step();
      last = loss.item<double>();
    }
    best = std::min(best, last);
  }
  return best;
}

}  // namespace

int main() {
  torch::manual_seed(8);
  torch::set_num_threads(1);
  Branch student(2), teacher(2);
  auto agreement = pretrain(student, teacher, 40);
  std::printf("loss %.4f, probe %.3f, finetuned %.3f\n", agreement, probe_accuracy(teacher, 60), best_finetuning(student, {1e-3, 1e-2}));
}

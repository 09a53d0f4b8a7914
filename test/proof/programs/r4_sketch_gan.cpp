#include <torch/torch.h>

#include <algorithm>
#include <cstdio>
#include <vector>
namespace {
torch::Tensor ring(int64_t n) {
  auto angle = torch::rand({n, 1}) * 6.2831853;
  return torch::cat({angle.cos(), angle.sin()}, 1) + 0.05 * torch::randn({n, 2});
}

struct DrawerImpl : torch::nn::Module {
  DrawerImpl() {
    in = register_module("in", torch::nn::Linear(8, 32));
    out = register_module("out", torch::nn::Linear(32, 2));
  }
  torch::Tensor forward(const torch::Tensor& z) { return out(torch::relu(in(z))); }
  torch::nn::Linear in{nullptr}, out{nullptr};
};
TORCH_MODULE(Drawer);

struct JudgeImpl : torch::nn::Module {
  JudgeImpl() {
    in = register_module("in", torch::nn::Linear(2, 32));
    out = register_module("out", torch::nn::Linear(32, 1));
  }
  torch::Tensor forward(const torch::Tensor& x) { return out(torch::leaky_relu(in(x), 0.2)); }
  torch::nn::Linear in{nullptr}, out{nullptr};
};
TORCH_MODULE(Judge);

torch::Tensor against(const torch::Tensor& verdict, double wanted) {
  return torch::binary_cross_entropy_with_logits(verdict, torch::full_like(verdict, wanted));
}

double duel(int rounds) {
  Drawer drawer;
  Judge judge;
  torch::optim::Adam pencil(drawer->parameters(), 2e-3), gavel(judge->parameters(), 2e-3);
  double last = 0;
  for (int r = 0; r < rounds; ++r) {  // AT duel
    auto sketch = drawer->forward(torch::randn({32, 8}));  // AT sketched
    // PLANT true torch-undetached-generator-output/in-vain loop=duel built=sketched: pencil.zero_grad() drops what this leaves in the drawer
    auto verdict = judge->forward(sketch);
    auto loss = against(verdict, 0) + against(judge->forward(ring(32)), 1);
    gavel.zero_grad();
    loss.backward();
    gavel.step();

    pencil.zero_grad();
    auto fooled = against(judge->forward(drawer->forward(torch::randn({32, 8}))), 1);
    fooled.backward();
    pencil.step();
    last = fooled.item<double>();
  }
  return last;
}

template <typename Maker, typename Critic>
double careless(Maker& maker, Critic& critic, torch::optim::Optimizer& for_maker,
                torch::optim::Optimizer& for_critic, int rounds) {
  double last = 0;
  for (int r = 0; r < rounds; ++r) {  // AT careless
    for_maker.zero_grad();
    for_critic.zero_grad();
    auto made = maker->forward(torch::randn({32, 8}));  // AT made
    // PLANT true torch-undetached-generator-output/spoiled loop=careless built=made: for_maker.step() applies what the critic's loss has left there, too
    auto rejected = against(critic->forward(made), 0);
    auto loss = rejected + against(critic->forward(ring(32)), 1);
    loss.backward();
    for_critic.step();
    auto wanted = against(critic->forward(maker->forward(torch::randn({32, 8}))), 1);
    wanted.backward();
    for_maker.step();
    last = wanted.template item<double>();
  }
  return last;
}

double patient_encoder(int batches) {
  Drawer encoder;
  Judge head;
  torch::optim::SGD slow(encoder->parameters(), 1e-2), fast(head->parameters(), 1e-2);
  double last = 0;
  for (int b = 0; b < batches; ++b) {  // AT patient
    auto z = torch::randn({32, 8});
    auto code = encoder->forward(z);  // AT encoded
    // PLANT innocent torch-undetached-generator-output/in-vain loop=patient built=encoded: the encoder collects them over eight batches and makes its step
    auto guess = head->forward(code);
    auto loss = torch::mse_loss(guess, z.sum(1, true));
    fast.zero_grad();
    loss.backward();
    fast.step();
    if (b % 8 == 7) {
      slow.step();
      slow.zero_grad();
    }
    last = loss.item<double>();
  }
  return last;
}

double balanced(int rounds) {
  Drawer drawer;
  Judge judge;
  torch::optim::Adam pencil(drawer->parameters(), 2e-3), gavel(judge->parameters(), 2e-3);
  double weight = 1;
  for (int r = 0; r < rounds; ++r) {  // AT balanced
    auto sketch = drawer->forward(torch::randn({32, 8}));  // AT weighed
    // PLANT innocent torch-undetached-generator-output/in-vain loop=balanced built=weighed: how strong they are sets the weight of the drawer's own loss
    auto verdict = judge->forward(sketch);
    gavel.zero_grad();
    (against(verdict, 0) + against(judge->forward(ring(32)), 1)).backward();
    gavel.step();
    const auto push = drawer->out->weight.grad().norm().item<double>();
    weight = std::clamp(0.1 / (push + 1e-4), 0.1, 10.0);
    pencil.zero_grad();
    auto drawn = drawer->forward(torch::randn({32, 8}));
    (weight * against(judge->forward(drawn), 1) + (drawn.norm(2, 1) - 1).pow(2).mean()).backward();
    pencil.step();
  }
  return weight;
}

double repaint(Judge& eye, int steps) {
  auto canvas = torch::randn({16, 2}).requires_grad_();
  torch::optim::Adam brush({canvas}, 5e-2);
  const auto style = torch::full({16, 1}, 0.7);
  double last = 0;
  for (int s = 0; s < steps; ++s) {  // AT repaint
    // PLANT innocent torch-unused-gradients/unused loop=repaint: the way to the canvas leads through the eye, and the brush needs it
    auto seen = eye->forward(canvas);
    auto loss = torch::mse_loss(seen, style);
    brush.zero_grad();
    loss.backward();
    brush.step();
    last = loss.item<double>();
  }
  return last;
}

double importance(Judge& judge, int batches) {
  auto parameters = judge->parameters();
  std::vector<torch::Tensor> fisher;
  for (const auto& p : parameters) fisher.push_back(torch::zeros_like(p));
  for (int b = 0; b < batches; ++b) {  // AT importance
    judge->zero_grad();
    // PLANT innocent torch-unused-gradients/unused loop=importance: their squares say which weights matter
    auto verdict = judge->forward(ring(32));
    against(verdict, 1).backward();
    torch::NoGradGuard no_grad;
    for (size_t i = 0; i < parameters.size(); ++i) fisher[i].add_(parameters[i].grad().pow(2), 1.0 / batches);
  }
  double sum = 0;
  for (const auto& f : fisher) sum += f.sum().item<double>();
  return sum;
}

void soften(const torch::Tensor& weight, double factor) {
  // PLANT true torch-hook-in-loop/changes-gradient loop=softened: the weight is the same in each round, and has one hook more
  weight.register_hook([factor](torch::Tensor grad) { return grad * factor; });
}

double softened(int rounds) {
  Judge judge;
  torch::optim::SGD gavel(judge->parameters(), 1e-2);
  double norms = 0;
  for (int r = 0; r < rounds; ++r) {  // AT softened
    soften(judge->in->weight, 0.9);
    // PLANT true torch-hook-in-loop/piles-up loop=softened: the norm is added once more for each round so far
    judge->out->bias.register_hook([&norms](torch::Tensor grad) { norms += grad.norm().item<double>(); });
    gavel.zero_grad();
    against(judge->forward(ring(16)), 1).backward();
    gavel.step();
  }
  return norms;
}

double lengthening(int rounds) {
  Drawer cell;
  torch::optim::SGD pencil(cell->parameters(), 1e-3);
  double seen = 0;
  for (int r = 0; r < rounds; ++r) {  // AT lengthening
    auto point = torch::zeros({4, 2});
    for (int step = 0; step <= r / 2; ++step) {
      point = cell->forward(torch::cat({point, torch::randn({4, 6})}, 1));
      // PLANT innocent torch-hook-in-loop/piles-up loop=lengthening: each point has its one hook, and there are more points in later rounds
      point.register_hook([&seen](torch::Tensor grad) { seen += grad.abs().sum().item<double>(); });
    }
    pencil.zero_grad();
    point.pow(2).mean().backward();
    pencil.step();
  }
  return seen;
}

double shared_buffer(int batches) {
  Judge judge;
  torch::optim::SGD gavel(judge->parameters(), 1e-2);
  int64_t total = 0;
  for (const auto& p : judge->parameters()) total += p.numel();
  auto flat = torch::zeros({total});
  int64_t at = 0;
  for (auto& p : judge->parameters()) {
    p.mutable_grad() = flat.narrow(0, at, p.numel()).view_as(p).data();
    at += p.numel();
  }
  double usual = 1, skipped = 0, norms = 0;
  for (int b = 0; b < batches; ++b) {  // AT shared
    // PLANT innocent torch-zero-grad-in-place/zeros loop=shared: the gradients have to stay in the flat buffer that is clipped and sent
    gavel.zero_grad(/*set_to_none=*/false);
    auto loss = against(judge->forward(ring(32)), b % 2);
    // PLANT innocent torch-sync-in-loop/reads-number loop=shared: the number decides whether the batch counts
    const double now = loss.item<double>();
    usual = 0.9 * usual + 0.1 * now;
    if (now > 1.02 * usual) {
      ++skipped;
      continue;
    }
    loss.backward();
    const double norm = flat.norm().item<double>();
    norms += norm;
    if (norm > 0.5) flat.mul_(0.5 / norm);
    gavel.step();
  }
  return skipped + norms / batches;
}

}  // namespace

int main() {
  torch::set_num_threads(1);
  torch::manual_seed(4);
  std::printf("duel %.4f\n", duel(120));
  {
    Drawer drawer;
    Judge judge;
    torch::optim::Adam pencil(drawer->parameters(), 2e-3), gavel(judge->parameters(), 2e-3);
    std::printf("careless %.4f\n", careless(drawer, judge, pencil, gavel, 120));
  }
  std::printf("patient %.4f\n", patient_encoder(160));
  std::printf("balanced %.4f\n", balanced(120));
  Judge eye;
  std::printf("repaint %.4f\n", repaint(eye, 120));
  std::printf("importance %.6f\n", importance(eye, 100));
  std::printf("softened %.4f\n", softened(100));
  std::printf("lengthening %.4f\n", lengthening(60));
  std::printf("shared %.4f\n", shared_buffer(150));
  return 0;
}

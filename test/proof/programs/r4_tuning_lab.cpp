#include <torch/torch.h>

#include <algorithm>
#include <cstdio>
#include <utility>
#include <vector>

namespace F = torch::nn::functional;

namespace {

torch::nn::Sequential make_net(int64_t in, int64_t out) {
  return torch::nn::Sequential(torch::nn::Linear(in, 24), torch::nn::BatchNorm1d(24), torch::nn::ReLU(),
                               torch::nn::Dropout(0.3), torch::nn::Linear(24, out));
}

std::pair<torch::Tensor, torch::Tensor> draw(int64_t n) {
  auto x = torch::randn({n, 6});
  return {x, (x.select(1, 0) * x.select(1, 1)).unsqueeze(1)};
}

class Trainer {
 public:
  double fit(int epochs) {
    double best = 1e9;
    for (int epoch = 0; epoch < epochs; ++epoch) {  // AT fitted
      auto [x, y] = draw(32);
      optimizer_.zero_grad();
      auto out = net_->forward(x);  // AT fit
      torch::mse_loss(out, y).backward();
      optimizer_.step();
      if (epoch % 5 == 4) best = std::min(best, validate());
    }
    return best;
  }

 private:
  double validate() {
    torch::NoGradGuard no_grad;
    // PLANT true torch-eval-mode-not-restored/trained-in-eval loop=fitted also=fit: nobody sets it back, so the epochs from the sixth on train without dropout
    net_->eval();
    return torch::mse_loss(net_->forward(held_.first), held_.second).item<double>();
  }

  torch::nn::Sequential net_ = make_net(6, 1);
  torch::optim::Adam optimizer_{net_->parameters(), 1e-3};
  std::pair<torch::Tensor, torch::Tensor> held_ = draw(64);
};

double check_first(int epochs) {
  auto net = make_net(6, 1);
  torch::optim::SGD optimizer(net->parameters(), 1e-2);
  auto error_of = [&net](const std::pair<torch::Tensor, torch::Tensor>& pair) {
    torch::NoGradGuard no_grad;
    return torch::mse_loss(net->forward(pair.first), pair.second).item<double>();
  };
  const auto held = draw(64);
  double error = 0;
  for (int epoch = 0; epoch < epochs; ++epoch) {  // AT checked
    // PLANT true torch-eval-mode-not-restored/trained-in-eval loop=checked also=check: the error is asked for in front of the training, which runs in the same mode
    net->eval();
    error = error_of(held);
    const auto [x, y] = draw(32);
    optimizer.zero_grad();
    auto out = net->forward(x);  // AT check
    torch::mse_loss(out, y).backward();
    optimizer.step();
  }
  return error;
}

double polish(int epochs) {
  auto net = make_net(6, 1);
  torch::optim::SGD optimizer(net->parameters(), 1e-2);
  double last = 0;
  for (int epoch = 0; epoch < epochs; ++epoch) {  // AT polished
    if (epoch == epochs / 2) {
      // PLANT innocent torch-eval-mode-not-restored/trained-in-eval loop=polished also=polish: no evaluation; the second half is meant to train with the statistics at rest
      net->eval();
    }
    auto [x, y] = draw(32);
    optimizer.zero_grad();
    auto out = net->forward(x);  // AT polish
    auto loss = torch::mse_loss(out, y);
    loss.backward();
    optimizer.step();
    last = loss.item<double>();
  }
  return last;
}

double harden(int epochs) {
  auto net = make_net(6, 1);
  torch::optim::SGD optimizer(net->parameters(), 1e-2);
  double last = 0;
  for (int epoch = 0; epoch < epochs; ++epoch) {  // AT hardened
    net->train();
    auto [x, y] = draw(32);
    optimizer.zero_grad();
    auto out = net->forward(x);  // AT harden
    torch::mse_loss(out, y).backward();
    optimizer.step();
    // PLANT innocent torch-eval-mode-not-restored/trained-in-eval loop=hardened also=harden: each iteration begins with train(); what runs in this mode is the attack
    net->eval();
    auto attacked = x.clone().requires_grad_();
    torch::mse_loss(net->forward(attacked), y).backward();
    torch::NoGradGuard no_grad;
    last = torch::mse_loss(net->forward(x + 0.05 * attacked.grad().sign()), y).item<double>();
  }
  return last;
}

class Judge {
 public:
  double learn(int epochs) {
    torch::optim::SGD optimizer(net_->parameters(), 1e-2);
    double last = 0;
    for (int epoch = 0; epoch < epochs; ++epoch) {  // AT judged
      if (epoch % 10 == 0) look();
      limit();
      auto [x, y] = draw(32);
      optimizer.zero_grad();
      auto certain = squash_->forward(net_->forward(x));  // AT judge
      // PLANT true torch-loss-input/scales-twice loop=judged: the member before it is a sigmoid, and this loss applies another
      auto loss = criterion_(certain, (y > 0).to(torch::kFloat32));
      loss.backward();
      optimizer.step();
      last = loss.item<double>();
    }
    return last;
  }

 private:
  void limit() {
    for (auto& p : net_->parameters()) {
      // PLANT true torch-hook-in-loop/changes-gradient loop=judged: each epoch gives the same weights one more
      p.register_hook([](const torch::Tensor& grad) { return grad.clamp(-0.5, 0.5) * 0.95; });
    }
  }

  void look() {
    torch::NoGradGuard no_grad;
    // PLANT true torch-eval-mode-not-restored/trained-in-eval loop=judged also=judge: the first look comes before the first epoch, and none trains with dropout
    net_->eval();
    seen_ += net_->forward(draw(8).first).mean().item<double>();
  }

  torch::nn::Sequential net_ = make_net(6, 1);
  torch::nn::Sigmoid squash_;
  torch::nn::BCEWithLogitsLoss criterion_;
  double seen_ = 0;
};

struct Codec {
  torch::nn::Sequential encoder = make_net(6, 8), decoder = make_net(8, 6);
};

double restore(Codec& codec, int requests) {
  // PLANT innocent torch-partial-eval-mode/left-out also=sampled: the decoder's dropout is wanted, for the answers are compared
  codec.encoder->eval();
  codec.decoder->train();
  for (auto& m : codec.decoder->modules(false))
    if (auto* norm = m->as<torch::nn::BatchNorm1d>()) norm->eval();
  torch::NoGradGuard no_grad;
  double spread = 0;
  for (int r = 0; r < requests; ++r) {
    auto code = codec.encoder->forward(draw(4).first);
    std::vector<torch::Tensor> answers;
    for (int k = 0; k < 4; ++k) answers.push_back(codec.decoder->forward(code));  // AT sampled
    spread += torch::stack(answers).std(0).mean().item<double>();
  }
  return spread / requests;
}

double serve(Codec& codec, int requests) {
  codec.encoder->eval();
  // PLANT true torch-partial-eval-mode/left-out also=decoded: it says encoder again, and the decoder goes on dropping
  codec.encoder->eval();
  torch::NoGradGuard no_grad;
  double error = 0;
  for (int r = 0; r < requests; ++r) {
    auto x = draw(8).first;
    auto code = codec.encoder->forward(x);
    auto back = codec.decoder->forward(code);  // AT decoded
    error += torch::mse_loss(back, x).item<double>();
  }
  return error / requests;
}

double pretrain(Codec& codec, int epochs) {
  std::vector<torch::Tensor> all = codec.encoder->parameters();
  for (const auto& p : codec.decoder->parameters()) all.push_back(p);
  torch::optim::Adam optimizer(all, 1e-3);
  double error = 0;
  for (int epoch = 0; epoch < epochs; ++epoch) {  // AT pretrained
    codec.encoder->train();
    auto x = draw(32).first;
    optimizer.zero_grad();
    torch::mse_loss(codec.decoder->forward(codec.encoder->forward(x)), x).backward();
    optimizer.step();
    torch::NoGradGuard no_grad;
    // PLANT true torch-partial-eval-mode/left-out loop=pretrained also=measured: the error is that of both, and only one of them is set
    codec.encoder->eval();
    auto code = codec.encoder->forward(x);
    auto back = codec.decoder->forward(code);  // AT measured
    error = torch::mse_loss(back, x).item<double>();
  }
  return error;
}

double denoise(int requests) {
  auto encoder = make_net(6, 8);
  torch::nn::Linear decoder(8, 6);
  // PLANT innocent torch-partial-eval-mode/left-out also=cleaned: a linear layer is the same in both modes; the dropout spoils the input on purpose
  encoder->eval();
  torch::NoGradGuard no_grad;
  double error = 0;
  for (int r = 0; r < requests; ++r) {
    auto x = draw(8).first;
    auto code = encoder->forward(x);
    auto back = decoder(F::dropout(code, F::DropoutFuncOptions().p(0.2).training(true)));  // AT cleaned
    error += torch::mse_loss(back, x).item<double>();
  }
  return error / requests;
}

}  // namespace

int main() {
  torch::set_num_threads(1);
  torch::manual_seed(9);
  std::printf("fit %.4f check %.4f\n", Trainer().fit(120), check_first(100));
  std::printf("polish %.4f harden %.4f\n", polish(100), harden(100));
  std::printf("judge %.4f\n", Judge().learn(100));
  Codec codec;
  std::printf("pretrain %.4f\n", pretrain(codec, 100));
  const double served = serve(codec, 100);
  std::printf("serve %.4f denoise %.4f\n", served, denoise(100));
  std::printf("restore %.4f\n", restore(codec, 50));
  return 0;
}

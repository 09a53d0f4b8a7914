#include <torch/torch.h>

#include <cmath>
#include <cstdio>
#include <vector>

namespace {

constexpr int64_t kBodies = 20000;

torch::Device where() { return torch::cuda::is_available() ? torch::Device(torch::kCUDA) : torch::Device(torch::kCPU); }

template <typename A, typename B, typename C>
torch::Tensor drifted(const A& start, const B& way, const C& mass) {
  // PLANT true torch-unfused-operation/product loop=steps: the quotient is made only to be added
  return start + way / mass;
}

double simulate(int steps) {
  torch::NoGradGuard no_grad;
  auto place = torch::randn({kBodies});
  auto velocity = torch::zeros({kBodies});
  const auto stiffness = torch::rand({kBodies}), mass = torch::rand({kBodies}) + 1;
  auto push = [](const torch::Tensor& at, const torch::Tensor& by, double dt) {
    // PLANT true torch-unfused-operation/scaling loop=steps: add() with a factor makes no tensor for the product
    auto moved = at + dt * by;
    return moved;
  };
  std::vector<double> energies;
  auto work = torch::zeros({kBodies});
  for (int s = 0; s < steps; ++s) {  // AT steps
    // PLANT true torch-unfused-operation/product loop=steps: the product is dropped behind the subtraction
    velocity = velocity - stiffness * place * 0.01;
    auto before = place;
    place = push(place, velocity, 0.05);
    place = drifted(place, velocity * 0.001, mass);
    // PLANT true torch-unfused-operation/scaling loop=steps: add_() takes the factor, too
    place += 0.01 * velocity;
    torch::Tensor power;
    // PLANT innocent torch-unfused-operation/product loop=steps: the product is read below
    work = work + (power = velocity * stiffness);
    energies.push_back((power.abs().max() + (place - before).abs().mean()).item<double>());
  }
  return energies.back() + work.mean().item<double>();
}

double diffuse(int steps) {
  torch::NoGradGuard no_grad;
  auto heat = torch::rand({kBodies});
  double moved = 0;
  for (int s = 0; s < steps; ++s) {  // AT heated
    // PLANT innocent torch-unfused-operation/scaling loop=heated: there is no product in it; what is made besides are the neighbours
    heat = heat + torch::roll(heat, 1).abs_();
    const auto last = heat;
    // PLANT innocent torch-inplace-opportunity/rebound loop=heated: the heat of before is compared with it below
    heat = heat.clamp(-0.5, 0.5);
    moved += (heat - last).abs().sum().item<double>();
    heat.add_(torch::rand({kBodies}), 0.1);
    // PLANT innocent torch-device-round-trip/computed loop=heated: both copies change the type, and no device takes part
    auto exact = heat.to(torch::kFloat64);
    heat = (exact - exact.mean()).to(torch::kFloat32);
  }
  return moved;
}

double fit_field(int steps) {
  auto weight = torch::randn({kBodies}).requires_grad_();
  const auto x = torch::rand({kBodies});
  const auto wanted = torch::sin(x) + 1;
  torch::optim::SGD optimizer({weight}, 1e2);
  double last = 0;
  for (int s = 0; s < steps; ++s) {  // AT fitted
    // PLANT innocent torch-inplace-opportunity/chain loop=fitted: the graph needs what tanh() and exp() have made
    auto gain = weight.tanh().exp().sqrt();
    auto loss = torch::mse_loss(x * gain, wanted);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    last = loss.item<double>();
  }
  return last;
}

double choose(int steps) {
  torch::nn::Linear net(4, 3);
  torch::optim::SGD optimizer(net->parameters(), 1e-2);
  double last = 0;
  for (int s = 0; s < steps; ++s) {  // AT chosen
    auto state = torch::randn({32, 4});
    auto policy = torch::softmax(net(state), 1);
    auto action = state.narrow(1, 0, 3).argmax(1, true);
    // PLANT true torch-unfused-operation/logarithm loop=chosen: log_softmax() of the scores does both
    auto chosen = torch::log(policy.gather(1, action));
    auto odds = torch::sigmoid(net(state).select(1, 0));
    // PLANT true torch-unfused-operation/logarithm loop=chosen: log_sigmoid() of the score does both
    auto surprise = odds.log().mean();
    auto uniform = torch::rand({32, 3});
    // PLANT innocent torch-unfused-operation/logarithm loop=chosen: these numbers are drawn; no softmax or sigmoid has made them
    auto waiting = -torch::log(uniform);
    auto loss = -(chosen * waiting.mean(1, true).detach()).mean() - 0.1 * surprise;
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    last = loss.item<double>();
  }
  return last;
}

double causal(int64_t tokens, torch::Device device) {
  const int64_t width = 16384;
  const auto host = torch::ones({tokens, width});
  double rows = 0;
  for (int64_t length = 1; length <= tokens; ++length) {  // AT tokens
    // PLANT true torch-varying-shapes/grows loop=tokens needs=cuda: each mask is larger than all those that were freed
    auto mask = torch::ones({length, width}, device);
    // PLANT true torch-varying-shapes/grows loop=tokens needs=cuda: so is what is copied of the first rows
    auto seen = host.slice(0, 0, length).to(device);
    rows += (mask.select(1, 0) + seen.select(1, 1)).sum().item<double>();
  }
  return rows;
}

double stepped(int64_t tokens, torch::Device device) {
  const int64_t width = 4096;
  double rows = 0;
  std::vector<torch::Tensor> levels;
  for (int64_t length = 1; length <= tokens; ++length) {  // AT stepped
    // PLANT innocent torch-varying-shapes/grows loop=stepped: 64 lengths in a row have one size
    auto mask = torch::ones({(length + 63) / 64 * 64, width}, device);
    rows += mask.narrow(0, 0, length).select(1, 0).sum().item<double>();
    // PLANT innocent torch-varying-shapes/grows loop=stepped: all levels are kept, so that none of them is free for the next
    auto level = torch::full({length, 64}, 0.5, device);
    levels.push_back(level);
  }
  return rows + levels.back().sum().item<double>() + levels[tokens / 2].sum().item<double>();
}

double telescope(int frames, torch::Device device) {
  auto state = torch::rand({128, 64}, device);
  torch::nn::Linear net(64, 64);
  net->to(device);
  torch::optim::SGD optimizer(net->parameters(), 1e-2);
  double sum = 0;
  for (int f = 0; f < frames; ++f) {  // AT frames
    // PLANT innocent torch-allocate-on-device/moved-at-once loop=frames: only its type changes; it stays on the host
    auto ticks = torch::arange(8192).to(torch::kFloat64);
    sum += ticks[f].item<double>();
    auto gains = torch::zeros({128, 64});
    gains.diagonal().fill_(1.0 + f);
    gains.accessor<float, 2>()[f % 128][f % 64] = 0.25f;
    // PLANT innocent torch-allocate-on-device/moved-at-once loop=frames: the host writes some of its numbers before
    auto moved = gains.to(device, torch::kFloat64);
    // PLANT innocent torch-device-round-trip/computed loop=frames: the host goes through its numbers one by one
    auto host = state.to(torch::kCPU, torch::kFloat64);
    double* p = host.data_ptr<double>();
    for (int64_t i = 1; i < host.numel(); ++i) p[i] = 0.9 * p[i] + 0.1 * p[i - 1];
    state = host.to(device, torch::kFloat32);
    auto dark = torch::full({128, 64}, 0.1, torch::kFloat64);
    // PLANT innocent torch-pageable-transfer/pageable loop=frames: it stays on the host and becomes narrower
    // PLANT innocent torch-unsynchronized-copy/unwaited loop=frames: no device writes it, for it comes from the host
    auto narrow = dark.to(torch::kCPU, torch::kFloat32, /*non_blocking=*/true);
    sum += narrow.mean().item<double>() + moved.mean().item<double>();
    auto loss = (net(state) - state).pow(2).mean();
    net->zero_grad();
    // PLANT innocent torch-zero-grad-in-place/zeros loop=frames: the line above has let them go, so that nothing is filled here
    optimizer.zero_grad(/*set_to_none=*/false);
    loss.backward();
    optimizer.step();
    auto bright = dark + gains;
    // PLANT innocent torch-sync-in-loop/asks-size loop=frames: the mask is of the host, which has nothing to wait for
    auto places = bright.gt(1.0).nonzero();
    // PLANT innocent torch-transfer-for-metadata/metadata loop=frames: its numbers are summed, in a type that does not round them
    auto wide = places.to(torch::kFloat64);
    sum += wide.size(0) > 0 ? wide.sum().item<double>() : 0;
  }
  return sum;
}

}  // namespace

int main() {
  torch::set_num_threads(1);
  torch::manual_seed(6);
  const auto device = where();
  std::printf("simulate %.5f\n", simulate(200));
  std::printf("diffuse %.3f\n", diffuse(200));
  std::printf("field %.5f\n", fit_field(60));
  std::printf("choose %.5f\n", choose(120));
  std::printf("causal %.0f stepped %.0f\n", causal(180, device), stepped(300, device));
  std::printf("telescope %.3f\n", telescope(100, device));
  return 0;
}

#include <torch/torch.h>

#include <ATen/autocast_mode.h>

#include <cmath>
#include <cstdio>
#include <thread>
#include <vector>

namespace {

torch::nn::Sequential stack_of(int64_t in, int64_t out) {
  return torch::nn::Sequential(torch::nn::Linear(in, 16), torch::nn::Tanh(), torch::nn::Linear(16, out));
}

double layouts(int rounds) {
  const auto grid = torch::rand({40, 24});
  auto field = torch::rand({40, 24});
  const auto ramp = torch::linspace(0, 1, 24).unsqueeze(0);
  std::vector<double> heights;
  double sum = 0;
  for (int r = 0; r < rounds; ++r) {  // AT layouts
    // PLANT true torch-noncontiguous-operand/again loop=layouts: the grid is never written
    auto turned = grid.t().clone(torch::MemoryFormat::Contiguous);
    // PLANT innocent torch-noncontiguous-operand/again loop=layouts: copy_() has given the field other numbers
    auto across = field.t().contiguous();
    field.copy_(turned.mm(across.t()).narrow(1, 0, 24).mean() + torch::rand({40, 24}));
    // PLANT innocent torch-noncontiguous-operand/needless loop=layouts: the rows are read by an accessor, and then by their address
    auto rows = field.transpose(0, 1).contiguous();
    const auto look = rows.accessor<float, 2>();
    heights.assign(rows.data_ptr<float>(), rows.data_ptr<float>() + 8);
    // PLANT true torch-noncontiguous-operand/needless loop=layouts: it is only scaled and summed up
    auto scaled = grid.transpose(0, 1).contiguous() * 0.5;
    // PLANT true torch-repeat-for-broadcast/repeated loop=layouts: the product would stretch the ramp
    auto weighted = ramp.repeat({40, 1}) * grid;
    // PLANT innocent torch-repeat-for-broadcast/repeated loop=layouts: one of its rows is filled with other numbers
    auto table = ramp.tile({40, 1});
    table[r % 40].copy_(grid[0]);
    sum += look[0][0] + heights[1] + scaled.sum().item<double>() + (weighted + table).mean().item<double>();
  }
  return sum;
}

double distances(int rounds) {
  torch::NoGradGuard no_grad;
  auto x = torch::rand({256});
  const auto y = torch::rand({256});
  auto trail = torch::zeros({256});
  double sum = 0;
  for (int r = 0; r < rounds; ++r) {  // AT distances
    const auto before = x;
    // PLANT innocent torch-inplace-opportunity/rebound loop=distances: how far it went is asked for
    x = x.tanh();
    sum += torch::dist(x, before).item<double>();
    // PLANT true torch-inplace-opportunity/rebound loop=distances: nobody has the old trail
    trail = trail.clamp(-1, 1);
    torch::Tensor part;
    // PLANT innocent torch-unfused-operation/product loop=distances: the product is asked for its largest below
    trail = trail + (part = x * y);
    // PLANT true torch-unfused-operation/product loop=distances: addcmul() takes all three
    trail = trail + x * y;
    sum += part.max().item<double>();
    x = x + 0.1;
  }
  return sum;
}

double coaches(int rounds) {
  auto player = stack_of(4, 2), coach = stack_of(2, 1), rival = stack_of(2, 1);
  torch::optim::SGD for_player(player->parameters(), 1e-2), for_coach(coach->parameters(), 1e-2);
  double sum = 0;
  for (int r = 0; r < rounds; ++r) {  // AT coached
    auto move = player->forward(torch::randn({8, 4}));
    for_player.zero_grad();
    coach->zero_grad();
    // PLANT innocent torch-unused-gradients/unused loop=coached: through the coach they come to the player, whose step is next
    auto praise = coach->forward(move);
    (-praise.mean()).backward();
    for_player.step();

    rival->zero_grad();
    // PLANT innocent torch-unused-gradients/unused loop=coached: how steep the rival is gets written down
    auto threat = rival->forward(torch::randn({8, 2}));
    threat.pow(2).mean().backward();
    for (const auto& p : rival->parameters()) sum += torch::norm(p.grad()).item<double>();

    auto seen = player->forward(torch::randn({8, 4}));  // AT played
    // PLANT true torch-undetached-generator-output/in-vain loop=coached built=played: the player's are cleared at the head of the next round
    auto judged = coach->forward(seen);
    for_coach.zero_grad();
    judged.pow(2).mean().backward();
    for_coach.step();
  }
  return sum;
}

double student(int rounds) {
  auto pupil = stack_of(4, 2), master = stack_of(4, 2);
  torch::optim::SGD optimizer(pupil->parameters(), 1e-2);
  double last = 0;
  for (int r = 0; r < rounds; ++r) {  // AT taught
    auto x = torch::randn({8, 4});
    // PLANT true torch-unused-gradients/unused loop=taught: nobody trains the master
    auto answer = master->forward(x);
    auto loss = torch::mse_loss(pupil->forward(x), answer);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    last = loss.item<double>();
  }
  return last;
}

int throws(int rounds) {
  torch::nn::Linear net(6, 6), other(6, 6);
  torch::optim::Adam optimizer(other->parameters(), 1e-3);
  int lost = 0;
  for (int r = 0; r < rounds; ++r) {  // AT thrown
    auto x = torch::rand({6, 6});
    auto loss = net(x).exp().sum();
    optimizer.zero_grad();
    other(torch::rand({6, 6})).sum().backward();
    optimizer.step();
    x.add_(1);
    try {
      // PLANT innocent torch-stale-graph/throws loop=thrown: it is the batch that was written; the step was that of another network
      loss.backward();
    } catch (const c10::Error&) {
      ++lost;
    }
    auto way = other(torch::rand({6, 6})).tanh();
    auto aim = other(way).sum();
    other->zero_grad();
    other(torch::rand({6, 6})).sum().backward();
    optimizer.step();
    try {
      // PLANT true torch-stale-graph/throws loop=thrown: Adam has moved the weights that the second pass has kept
      aim.backward();
    } catch (const c10::Error&) {
      ++lost;
    }
    auto offset = other(torch::rand({6, 6})), level = torch::tanh(other(torch::rand({6, 6})));
    auto both = offset - level;
    // PLANT innocent torch-inplace-saved/operand loop=thrown also=both: a difference keeps nothing; it is the level below
    offset.sub_(1);
    // PLANT true torch-inplace-saved/result loop=thrown also=both: tanh() has kept what it made
    level.mul_(2);
    try {
      (both.sum() + offset.sum()).backward();  // AT both
    } catch (const c10::Error&) {
      ++lost;
    }
  }
  return lost;
}

int halves(int rounds) {
  torch::NoGradGuard no_grad;
  torch::nn::Linear trunk(8, 8), head(8, 2);
  const auto stored = torch::rand({4, 8}).to(torch::kBFloat16);
  int lost = 0;
  for (int r = 0; r < rounds; ++r) {  // AT halves
    at::autocast::set_autocast_enabled(at::kCPU, true);
    auto inner = torch::relu(trunk(torch::rand({4, 8})));
    at::autocast::clear_cache();
    at::autocast::set_autocast_enabled(at::kCPU, false);
    try {
      // PLANT true torch-autocast-boundary/operand loop=halves: the trunk ran under autocast
      head(inner);
    } catch (const c10::Error&) {
      ++lost;
    }
    try {
      // PLANT innocent torch-autocast-boundary/operand loop=halves: what is stored was never under autocast
      head(stored);
    } catch (const c10::Error&) {
      ++lost;
    }
  }
  return lost;
}

double hooked(int rounds) {
  torch::nn::Linear net(4, 4);
  torch::optim::SGD optimizer(net->parameters(), 1e-3);
  auto flat = torch::zeros({20});
  net->weight.mutable_grad() = flat.narrow(0, 0, 16).view({4, 4}).data();
  net->bias.mutable_grad() = flat.narrow(0, 16, 4).data();
  double seen = 0;
  for (int r = 0; r < rounds; ++r) {  // AT hooked
    // PLANT innocent torch-zero-grad-in-place/zeros loop=hooked: the one block is what is clipped and sent
    optimizer.zero_grad(/*set_to_none=*/false);
    auto h = torch::rand({2, 4});
    for (int k = 0; k < 1 + r / 4; ++k) {
      h = torch::tanh(net(h));
      // PLANT innocent torch-hook-in-loop/piles-up loop=hooked: later rounds are deeper, and each depth has one
      h.register_hook([&seen](torch::Tensor g) { seen += g.sum().item<double>(); });
    }
    // PLANT true torch-hook-in-loop/piles-up loop=hooked: the bias gets another one each round
    net->bias.register_hook([&seen](torch::Tensor g) { seen += g.max().item<double>(); });
    h.pow(2).mean().backward();
    flat.clamp_(-1, 1);
    optimizer.step();
  }
  return seen;
}

size_t recorded(int rounds) {
  auto net = stack_of(4, 2);
  torch::NoGradGuard no_grad;
  size_t names = 0;
  for (int r = 0; r < rounds; ++r) {  // AT recorded
    std::thread([&] {
      torch::AutoGradMode on(true);
      // PLANT innocent torch-thread-local-guard/not-inherited loop=recorded: this thread says that it wants a graph
      names += net->forward(torch::rand({2, 4})).grad_fn()->name().size();
    }).join();
    // PLANT true torch-thread-local-guard/not-inherited loop=recorded: the guard above holds in its own thread alone
    std::thread([&] { names += size_t(net->forward(torch::rand({2, 4})).size(0)); }).join();
  }
  return names;
}

double evidence(int rounds) {
  torch::nn::Linear net(4, 5);
  torch::optim::SGD optimizer(net->parameters(), 1e-2);
  double last = 0;
  for (int r = 0; r < rounds; ++r) {  // AT evidence
    auto x = torch::randn({8, 4});
    auto label = torch::randint(5, {8}, torch::kInt64);
    auto lines = torch::log_softmax(net(x), 1);
    // PLANT innocent torch-loss-input/scores loop=evidence: half of the probability is kept for what is no class
    auto loss = torch::nll_loss(lines + std::log(0.5), label);
    // PLANT true torch-loss-input/scores loop=evidence: the bare scores
    loss = loss + 0.1 * torch::nll_loss(net(x), label);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    last = loss.item<double>();
  }
  return last;
}

}  // namespace

int main() {
  torch::set_num_threads(1);
  torch::manual_seed(11);
  std::printf("layouts %.3f\n", layouts(80));
  std::printf("distances %.3f\n", distances(80));
  std::printf("coaches %.3f student %.4f\n", coaches(80), student(80));
  std::printf("throws %d halves %d\n", throws(40), halves(40));
  std::printf("hooked %.3f\n", hooked(60));
  std::printf("recorded %zu\n", recorded(60));
  std::printf("evidence %.4f\n", evidence(80));
  return 0;
}

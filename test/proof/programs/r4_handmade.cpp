#include <torch/torch.h>

#include <cstdio>
#include <cstring>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

namespace {

std::pair<torch::Tensor, torch::Tensor> draw(int64_t n) {
  auto x = torch::randn({n, 6});
  return {x, (x.select(1, 0) * x.select(1, 1)).unsqueeze(1)};
}

int leave_early(int epochs) {
  torch::nn::Linear net(6, 1);
  torch::optim::SGD optimizer(net->parameters(), 1e-2);
  int lost = 0;
  auto measure = [&net](double enough) {
    // PLANT true torch-grad-mode-not-restored/switched-off loop=left also=lefts: a small error returns before it is switched on again
    torch::GradMode::set_enabled(false);
    const auto [x, y] = draw(16);
    const double error = torch::mse_loss(net(x), y).item<double>();
    if (error < enough) return error;
    torch::GradMode::set_enabled(true);
    return error;
  };
  for (int epoch = 0; epoch < epochs; ++epoch) {  // AT left
    const auto [x, y] = draw(16);
    auto loss = torch::mse_loss(net(x), y);
    optimizer.zero_grad();
    try {
      loss.backward();  // AT lefts
      optimizer.step();
    } catch (const c10::Error&) {
      ++lost;
    }
    measure(2.0);
  }
  return lost;
}

struct Preview {
  std::unique_ptr<torch::NoGradGuard> quiet;
  double show(torch::nn::Linear& net) {
    // PLANT true torch-grad-mode-not-restored/guard-lasts loop=previewed also=previews: the preview keeps its guard, and the training goes on without a graph
    quiet = std::make_unique<torch::NoGradGuard>();
    return net(torch::ones({1, 6})).item<double>();
  }
};

int preview(int epochs) {
  torch::nn::Linear net(6, 1);
  torch::optim::SGD optimizer(net->parameters(), 1e-2);
  Preview view;
  int lost = 0;
  for (int epoch = 0; epoch < epochs; ++epoch) {  // AT previewed
    if (epoch % 20 == 10) view.show(net);
    const auto [x, y] = draw(16);
    auto loss = torch::mse_loss(net(x), y);
    optimizer.zero_grad();
    try {
      loss.backward();  // AT previews
      optimizer.step();
    } catch (const c10::Error&) {
      ++lost;
    }
  }
  return lost;
}

int masked(int epochs) {
  torch::nn::Linear net(6, 1);
  torch::optim::SGD optimizer(net->parameters(), 1e-2);
  int lost = 0;
  for (int epoch = 0; epoch < epochs; ++epoch) {  // AT masked
    // PLANT innocent torch-grad-mode-not-restored/switched-off loop=masked also=masks: it is on again two lines below; a batch without labels has a loss of zero and no graph
    torch::GradMode::set_enabled(false);
    const auto [x, y] = draw(16);
    const auto labelled = y.squeeze(1) > (epoch % 4 == 3 ? 1e6 : 0.0);
    torch::GradMode::set_enabled(true);
    auto loss = torch::zeros({});
    if (labelled.any().item<bool>()) loss = torch::mse_loss(net(x).index({labelled}), y.index({labelled}));
    optimizer.zero_grad();
    try {
      loss.backward();  // AT masks
      optimizer.step();
    } catch (const c10::Error&) {
      ++lost;
    }
  }
  return lost;
}

template <typename List>
void step_by_hand(List parameters, double rate) {
  for (auto& p : parameters) {
    // PLANT true torch-leaf-inplace/leaf loop=descended: grad mode is on here, and the elements are weights
    p -= rate * p.grad();
  }
}

int descended(int epochs) {
  torch::nn::Linear net(6, 1);
  int lost = 0;
  for (int epoch = 0; epoch < epochs; ++epoch) {  // AT descended
    const auto [x, y] = draw(16);
    net->zero_grad();
    torch::mse_loss(net(x), y).backward();
    try {
      step_by_hand(net->parameters(), 1e-2);
    } catch (const c10::Error&) {
      ++lost;
    }
  }
  return lost;
}

struct Pruner {
  torch::nn::Linear net{6, 8};
  torch::Tensor mean = torch::zeros({8, 6});
  int lost = 0, refused = 0;

  torch::Tensor shrunk() { return net->weight.mul_(0.99); }

  void prune(int64_t n) {
    try {
      // PLANT true torch-leaf-inplace/view loop=pruned: the row is a view of the weight
      net->weight.select(0, n % 8).zero_();
    } catch (const c10::Error&) {
      ++lost;
    }
    try {
      // PLANT innocent torch-leaf-inplace/leaf loop=pruned: the mean needs no gradient; what throws is the weight in shrunk()
      mean.mul_(0.9).add_(shrunk(), 0.1);
    } catch (const c10::Error&) {
      ++lost;
    }
    torch::NoGradGuard no_grad;
    try {
      // PLANT true torch-leaf-inplace/resize loop=pruned: a guard does not help, for it is resized
      net->weight.resize_({7, 6});
    } catch (const c10::Error&) {
      ++lost;
    }
    try {
      // PLANT innocent torch-leaf-inplace/leaf loop=pruned: the guard allows it; every third row is too long
      net->bias.copy_(torch::full({n % 3 == 2 ? 9 : 8}, 0.1));
    } catch (const c10::Error&) {
      ++refused;
    }
  }
};

struct Exp : torch::autograd::Function<Exp> {
  static torch::Tensor forward(AutogradContext* ctx, const torch::Tensor& x) {
    auto y = x.exp();  // AT exp
    // PLANT innocent torch-saved-data/output loop=kept built=exp: it has no node of its own; it is the caller that keeps what comes out
    ctx->saved_data["y"] = y.detach();
    return y;
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    return {grads[0] * ctx->saved_data["y"].toTensor()};
  }
};

struct Swish : torch::autograd::Function<Swish> {
  static torch::Tensor forward(AutogradContext* ctx, const torch::Tensor& x) {
    auto gate = torch::sigmoid(x);  // AT gate
    // PLANT innocent torch-saved-data/output loop=kept built=gate: the gate is not returned, and goes with the node
    ctx->saved_data["gate"] = gate;
    ctx->saved_data["x"] = x;
    return x * gate;
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    const auto g = ctx->saved_data["gate"].toTensor(), x = ctx->saved_data["x"].toTensor();
    return {grads[0] * (g + x * g * (1 - g))};
  }
};

double kept(int count, std::vector<torch::Tensor>& album) {
  auto scale = torch::full({64}, 0.5).requires_grad_();
  torch::optim::SGD optimizer({scale}, 1e-3);
  double last = 0;
  for (int n = 0; n < count; ++n) {  // AT kept
    auto bent = Exp::apply(scale * torch::randn({32, 64}));
    auto soft = Swish::apply(bent);
    auto loss = soft.mean();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    album.push_back(bent);
    album.push_back(soft);
    last = loss.item<double>();
  }
  return last;
}


size_t archive(int count) {
  std::vector<char> file;
  for (int n = 0; n < count; ++n) {  // AT archived
    auto record = torch::rand({256}, torch::kFloat64);
    record = record.to(torch::kFloat32);
    const auto kind = record.scalar_type();
    const size_t at = file.size();
    // PLANT innocent torch-sizeof-dtype/enumerator loop=archived: the enumerator itself is written, and read by the next program
    file.resize(at + sizeof(kind) + record.nbytes());
    std::memcpy(file.data() + at, &kind, sizeof(kind));
    // PLANT innocent torch-sizeof-dtype/other-type loop=archived: it was made in doubles, and has been in floats since
    std::memcpy(file.data() + at + sizeof(kind), record.data_ptr(), record.numel() * sizeof(float));
    auto mask = record > 0.5;
    std::vector<char> bits(mask.numel());
    // PLANT innocent torch-sizeof-dtype/by-accident loop=archived: the size is that of bool, which is what the mask has
    std::memcpy(bits.data(), mask.data_ptr(), mask.numel() * sizeof(bool));
    file.insert(file.end(), bits.begin(), bits.end());
  }
  return file.size();
}

}  // namespace

int main() {
  torch::set_num_threads(1);
  torch::manual_seed(3);
  int lost[3] = {};
  std::thread([&] { lost[0] = leave_early(100); }).join();
  std::thread([&] { lost[1] = preview(100); }).join();
  std::thread([&] { lost[2] = masked(100); }).join();
  std::printf("lost %d %d %d\n", lost[0], lost[1], lost[2]);
  std::printf("descended %d\n", descended(100));
  Pruner pruner;
  for (int n = 0; n < 120; ++n) {  // AT pruned
    pruner.prune(n);
  }
  std::printf("pruned %d %d\n", pruner.lost, pruner.refused);
  std::vector<torch::Tensor> album;
  const double bent = kept(100, album);
  std::printf("kept %.5f %zu\n", bent, album.size());
  std::printf("archive %zu\n", archive(50));
  return 0;
}

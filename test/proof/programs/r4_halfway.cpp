#include <ATen/autocast_mode.h>
#include <torch/torch.h>

#include <cstdio>

namespace F = torch::nn::functional;

namespace {
class HalfScope {
 public:
  HalfScope() {
    at::autocast::set_autocast_dtype(at::kCPU, at::kBFloat16);
    at::autocast::set_autocast_enabled(at::kCPU, true);
    at::autocast::increment_nesting();
  }
  ~HalfScope() {
    if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
    at::autocast::set_autocast_enabled(at::kCPU, false);
  }
};

struct Tally {
  int done, lost;
  double sum;
};

torch::Tensor predict(torch::nn::Linear& net, const torch::Tensor& x) {
  HalfScope half;
  return torch::relu(net(x));
}

Tally regress(int steps) {
  torch::nn::Linear net(8, 4);
  torch::optim::SGD optimizer(net->parameters(), 1e-2);
  Tally tally{};
  for (int s = 0; s < steps; ++s) {  // AT regress
    auto x = torch::randn({16, 8});
    auto y = x.narrow(1, 0, 4).abs();
    auto out = predict(net, x);
    optimizer.zero_grad();
    try {
      // PLANT true torch-autocast-boundary/loss loop=regress also=regressed: the prediction comes from under autocast, the target is in float
      auto loss = torch::mse_loss(out, y);
      loss.backward();  // AT regressed
      optimizer.step();
      ++tally.done;
    } catch (const c10::Error&) {
      ++tally.lost;
    }
  }
  return tally;
}

struct TwoParts {
  torch::nn::Linear trunk{8, 16}, head{16, 3};
  torch::Tensor score(const torch::Tensor& x) {
    torch::Tensor hidden;
    {
      HalfScope half;
      hidden = torch::tanh(trunk(x));
    }
    // PLANT true torch-autocast-boundary/operand loop=scored: the head runs outside of the scope in which the trunk ran
    return head(hidden);
  }
};

Tally score_all(TwoParts& parts, int requests) {
  torch::NoGradGuard no_grad;
  Tally tally{};
  for (int r = 0; r < requests; ++r) {  // AT scored
    try {
      tally.sum += parts.score(torch::randn({4, 8})).sum().item<double>();
      ++tally.done;
    } catch (const c10::Error&) {
      ++tally.lost;
    }
  }
  return tally;
}

Tally export_all(torch::nn::Linear& net, int frames) {
  torch::NoGradGuard no_grad;
  Tally tally{};
  for (int f = 0; f < frames; ++f) {  // AT exported
    auto out = predict(net, torch::randn({4, 8}));
    // PLANT innocent torch-transfer-for-metadata/metadata loop=exported: its numbers are added up as well
    auto wide = out.to(torch::kFloat32);
    tally.sum += wide.sum().item<double>() / wide.size(0);
    try {
      // PLANT true torch-autocast-boundary/elements loop=exported: what autocast has made is in BFloat16
      const float* first = out.data_ptr<float>();
      tally.sum += *first;
      ++tally.done;
    } catch (const c10::Error&) {
      ++tally.lost;
    }
  }
  return tally;
}

Tally calibrate(int steps) {
  torch::nn::Linear net(8, 4);
  torch::optim::SGD optimizer(net->parameters(), 1e-2);
  const auto log = torch::randn({16, 4}, torch::kFloat64);
  Tally tally{};
  for (int s = 0; s < steps; ++s) {  // AT calibrated
    auto out = predict(net, torch::randn({16, 8})).to(torch::kFloat32);
    optimizer.zero_grad();
    try {
      // PLANT innocent torch-autocast-boundary/loss loop=calibrated also=logged: the prediction is in float again; it is the log that is in double
      auto loss = torch::mse_loss(out, log);
      loss.backward();  // AT logged
      optimizer.step();
      ++tally.done;
    } catch (const c10::Error&) {
      ++tally.lost;
    }
  }
  return tally;
}

Tally lookup(int requests) {
  torch::NoGradGuard no_grad;
  const auto table = torch::randn({50, 16}).to(torch::kBFloat16);
  torch::nn::Linear head(16, 3);
  Tally tally{};
  for (int r = 0; r < requests; ++r) {  // AT looked
    auto rows = table.index_select(0, torch::randint(50, {4}, torch::kInt64));
    try {
      // PLANT innocent torch-autocast-boundary/operand loop=looked: autocast is off all the time; the table is stored in this type
      auto scores = head(rows);
      tally.sum += scores.sum().item<double>();
      ++tally.done;
    } catch (const c10::Error&) {
      ++tally.lost;
    }
  }
  return tally;
}

double classify(int steps) {
  torch::nn::Sequential net(torch::nn::Linear(8, 16), torch::nn::ReLU(), torch::nn::Linear(16, 5),
                            torch::nn::Softmax(torch::nn::SoftmaxOptions(1)));
  torch::nn::CrossEntropyLoss criterion;
  torch::optim::SGD optimizer(net->parameters(), 1e-1);
  double last = 0;
  for (int s = 0; s < steps; ++s) {  // AT classify
    auto x = torch::randn({16, 8});
    // PLANT true torch-loss-input/scales-twice loop=classify: the last layer is a softmax, and the criterion applies another
    auto loss = criterion(net->forward(x), x.narrow(1, 0, 5).argmax(1));
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    last = loss.item<double>();
  }
  return last;
}

double segment(int steps) {
  torch::nn::Conv2d net(torch::nn::Conv2dOptions(2, 3, 3).padding(1));
  torch::optim::SGD optimizer(net->parameters(), 1e-1);
  double last = 0;
  for (int s = 0; s < steps; ++s) {  // AT segment
    auto x = torch::randn({2, 2, 12, 12});
    auto shares = net(x).softmax(1);
    // PLANT true torch-loss-input/no-logarithm loop=segment: the shares of the three kinds in each pixel, without a logarithm
    auto loss = torch::nll_loss_nd(shares, (x.select(1, 0) > 0).to(torch::kInt64));
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    last = loss.item<double>();
  }
  return last;
}

double rank(int steps) {
  torch::nn::Linear net(6, 4);
  torch::optim::SGD optimizer(net->parameters(), 1e-4);
  torch::nn::init::normal_(net->weight, 0, 0.01);
  torch::nn::init::constant_(net->bias, 0.5);
  double last = 0;
  for (int s = 0; s < steps; ++s) {  // AT rank
    auto x = torch::rand({16, 6});
    // PLANT true torch-loss-input/scores loop=rank: what a linear layer gives are no logarithms, wherever they lie
    auto loss = F::nll_loss(net(x), x.narrow(1, 0, 4).argmax(1));
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    last = loss.item<double>();
  }
  return last;
}

double alarm(int steps) {
  torch::nn::Linear net(6, 1);
  torch::optim::SGD optimizer(net->parameters(), 1e-2);
  double last = 0;
  for (int s = 0; s < steps; ++s) {  // AT alarm
    auto x = torch::randn({16, 6});
    auto certainty = torch::log_sigmoid(net(x));
    // PLANT true torch-loss-input/logarithms loop=alarm: a loss of scores is given the logarithm of what sigmoid would make of them
    auto loss = torch::binary_cross_entropy_with_logits(certainty, (x.sum(1, true) > 0).to(torch::kFloat32));
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    last = loss.item<double>();
  }
  return last;
}

double match(int steps) {
  torch::nn::Linear net(6, 8);
  torch::optim::SGD optimizer(net->parameters(), 1e-1);
  const auto anchors = F::normalize(torch::rand({5, 8}), F::NormalizeFuncOptions().dim(1));
  const auto prior = torch::tensor({0.4, 0.3, 0.1, 0.1, 0.1}).log();
  double last = 0;
  for (int s = 0; s < steps; ++s) {  // AT match
    auto x = torch::rand({16, 6});
    auto label = x.narrow(1, 0, 5).argmax(1);
    auto near = F::normalize(torch::relu(net(x)) + 1e-3, F::NormalizeFuncOptions().dim(1)).mm(anchors.t());
    // PLANT innocent torch-loss-input/scales-twice loop=match: they are cosines of vectors without negative parts, which are scores
    auto loss = torch::cross_entropy_loss(near, label);
    auto shares = torch::log_softmax(near * 8, 1);
    // PLANT innocent torch-loss-input/logarithms loop=match: log_softmax changes nothing of what it has made itself
    loss = loss + torch::cross_entropy_loss(shares, label);
    // PLANT innocent torch-loss-input/scores loop=match: they are logarithms of joint probabilities, as Bayes' rule wants them
    loss = loss + torch::nll_loss(shares + prior, label);
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
  torch::manual_seed(2);
  auto show = [](const char* what, const Tally& t) { std::printf("%s %d %d %.3f\n", what, t.done, t.lost, t.sum); };
  show("regress", regress(100));
  TwoParts parts;
  show("score", score_all(parts, 100));
  show("export", export_all(parts.trunk, 100));
  show("calibrate", calibrate(100));
  show("lookup", lookup(100));
  std::printf("%.4f %.4f %.4f %.4f %.4f\n", classify(120), segment(60), rank(60), alarm(120), match(120));
  return 0;
}

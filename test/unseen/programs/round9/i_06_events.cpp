// Next-event model for machine logs: trains in mixed precision, mines hard
// windows, ranks anomalies and rolls the log forward.
#include <torch/torch.h>
#include <ATen/autocast_mode.h>

#include <cmath>
#include <iostream>
#include <limits>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace F = torch::nn::functional;

namespace {

constexpr int64_t kVocab = 48;
constexpr int64_t kLen = 24;
constexpr int64_t kDim = 32;
constexpr int64_t kHeads = 2;

using Lines = std::vector<std::vector<int64_t>>;

Lines generate(size_t n, unsigned seed) {
  std::mt19937 rng(seed);
  Lines out(n);
  for (auto& l : out) {
    int64_t e = static_cast<int64_t>(rng() % kVocab);
    for (int64_t t = 0; t <= kLen; ++t) {
      l.push_back(e);
      e = (rng() % 8 == 0) ? static_cast<int64_t>(rng() % kVocab) : (e * 5 + 3) % kVocab;
    }
  }
  return out;
}

// ------------------------------------------------------------------ data sets

torch::data::Example<> window(const std::vector<int64_t>& line) {
  auto t = torch::tensor(line, torch::kInt64);
  return {t.slice(0, 0, kLen), t.slice(0, 1, kLen + 1)};
}

class LogFile : public torch::data::datasets::Dataset<LogFile> {
 public:
  explicit LogFile(Lines lines) : lines_(std::move(lines)) {}
  torch::data::Example<> get(size_t i) override { return window(lines_[i]); }
  torch::optional<size_t> size() const override { return lines_.size(); }

 private:
  Lines lines_;
};

class LogView : public torch::data::datasets::Dataset<LogView> {
 public:
  explicit LogView(std::shared_ptr<const Lines> lines) : lines_(std::move(lines)) {}
  torch::data::Example<> get(size_t i) override { return window((*lines_)[i]); }
  torch::optional<size_t> size() const override { return lines_->size(); }

 private:
  std::shared_ptr<const Lines> lines_;
};

// ------------------------------------------------------------------- autocast

class MixedPrecision {
 public:
  explicit MixedPrecision(torch::Device d) : type_(d.type()), was_(at::autocast::is_autocast_enabled(type_)) {
    at::autocast::set_autocast_dtype(type_, torch::kBFloat16);
    at::autocast::set_autocast_enabled(type_, true);  // RIGHT: torch-autocast-cache
    at::autocast::increment_nesting();
  }
  ~MixedPrecision() {
    if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
    at::autocast::set_autocast_enabled(type_, was_);
  }
  MixedPrecision(const MixedPrecision&) = delete;

 private:
  at::DeviceType type_;
  bool was_;
};

// ---------------------------------------------------------------------- model

struct DenseImpl : torch::nn::Module {
  DenseImpl(int64_t in, int64_t out) {
    weight = register_parameter("weight", torch::randn({out, in}).div_(std::sqrt(double(in))));
    bias = register_parameter("bias", torch::zeros({out}));
  }
  torch::Tensor forward(const torch::Tensor& x) { return torch::linear(x, weight, bias); }
  torch::Tensor weight, bias;
};
TORCH_MODULE(Dense);

struct EventNetImpl : torch::nn::Module {
  EventNetImpl()
      : emb(kVocab, kDim), qkv(kDim, 3 * kDim), mix(kDim, kDim), up(kDim, 4 * kDim), down(4 * kDim, kDim), out(kDim, kVocab) {
    register_module("emb", emb);
    register_module("qkv", qkv);
    register_module("mix", mix);
    register_module("up", up);
    register_module("down", down);
    register_module("out", out);
    place = register_parameter("place", torch::randn({kLen, kDim}).mul_(0.02));
  }

  torch::Tensor encode(const torch::Tensor& tok, const torch::Tensor& bias) {
    const auto b = tok.size(0), t = tok.size(1);
    auto h = emb(tok) + place.slice(0, 0, t);
    auto parts = qkv(h).view({b, t, 3, kHeads, kDim / kHeads}).permute({2, 0, 3, 1, 4});
    auto att = torch::matmul(parts[0], parts[1].transpose(-1, -2)).mul(1.0 / std::sqrt(double(kDim / kHeads)));
    auto w = torch::softmax(att + bias, -1);
    auto y = torch::matmul(w, parts[2]).transpose(1, 2).reshape({b, t, kDim});
    h = h + mix(y);
    return down(torch::gelu(up(h)));
  }

  torch::Tensor forward(const torch::Tensor& tok, const torch::Tensor& bias) { return out(encode(tok, bias)); }

  torch::nn::Embedding emb;
  Dense qkv, mix, up, down, out;
  torch::Tensor place;
};
TORCH_MODULE(EventNet);

torch::Tensor causal(int64_t n, torch::Device d) {
  auto o = torch::TensorOptions(torch::kFloat32).device(d);
  return torch::full({n, n}, -std::numeric_limits<float>::infinity(), o).triu_(1);
}

// -------------------------------------------------------------------- pipeline

class Pipeline {
 public:
  Pipeline(torch::Device d, torch::Tensor rarity) : dev_(d), rarity_(std::move(rarity)), probe_(kDim, 1) {
    net->to(dev_);
    probe_->to(dev_);
    mask_ = causal(kLen, dev_);
  }

  void pretrain(const Lines& lines, int epochs) {
    auto set = LogFile(lines).map(torch::data::transforms::Stack<>());
    auto loader = torch::data::make_data_loader<torch::data::samplers::RandomSampler>(  // EXPECT: torch-dataset-copied
        std::move(set), torch::data::DataLoaderOptions().batch_size(32).workers(2));
    torch::optim::AdamW opt(net->parameters(), torch::optim::AdamWOptions(2e-3));
    net->train();
    at::autocast::set_autocast_dtype(dev_.type(), torch::kBFloat16);
    at::autocast::set_autocast_enabled(dev_.type(), true);  // EXPECT: torch-autocast-cache
    auto sum = torch::zeros({}, torch::TensorOptions().device(dev_));
    for (int e = 0; e < epochs; ++e) {
      sum.zero_();
      for (auto& batch : *loader) {
        auto x = batch.data.to(dev_), y = batch.target.to(dev_);  // RIGHT: torch-repeated-transfer
        auto bias = torch::full({kLen, kLen}, -1e9f, torch::TensorOptions().device(dev_)).triu_(1);  // EXPECT: torch-allocation-in-loop
        auto logits = net(x, bias).flatten(0, 1).to(torch::kFloat32);
        auto loss = torch::cross_entropy_loss(logits, y.flatten());
        opt.zero_grad();
        loss.backward();
        opt.step();
        sum += loss.detach();
      }
      std::cout << "pretrain " << e << ' ' << sum.item<float>() << "\n";
    }
    at::autocast::set_autocast_enabled(dev_.type(), false);
    at::autocast::clear_cache();
  }

  void train(std::shared_ptr<const Lines> lines, int epochs) {
    auto set = LogView(lines).map(torch::data::transforms::Stack<>());
    auto loader = torch::data::make_data_loader<torch::data::samplers::RandomSampler>(  // RIGHT: torch-dataset-copied
        std::move(set), torch::data::DataLoaderOptions().batch_size(32).workers(2));
    torch::optim::AdamW opt(net->parameters(), torch::optim::AdamWOptions(2e-3));
    net->train();
    for (int e = 0; e < epochs; ++e) {
      for (auto& batch : *loader) {
        auto x = batch.data.to(dev_), y = batch.target.to(dev_);
        torch::Tensor loss;
        {
          MixedPrecision mp(dev_);
          auto logits = net(x, mask_).flatten(0, 1).to(torch::kFloat32);
          auto how = F::CrossEntropyFuncOptions().weight(rarity_.to(dev_));  // EXPECT: torch-repeated-transfer
          loss = F::cross_entropy(logits, y.flatten(), how);
        }
        opt.zero_grad();  // RIGHT: torch-zero-grad-in-place
        loss.backward();
        opt.step();
      }
    }
  }

  // Goes over the windows that the model explains worst once more.
  void mine(const torch::Tensor& x, const torch::Tensor& y, int rounds) {
    torch::optim::SGD opt(net->parameters(), torch::optim::SGDOptions(1e-2));
    const auto params = net->parameters();
    const auto weight = rarity_.to(dev_);  // RIGHT: torch-repeated-transfer
    for (int r = 0; r < rounds; ++r) {
      auto hard = surprise(x, y).cpu().argsort(0, /*descending=*/true).slice(0, 0, x.size(0) / 2).to(dev_);  // EXPECT: torch-device-round-trip
      auto logits = net(x.index_select(0, hard), mask_).flatten(0, 1);
      auto loss = torch::cross_entropy_loss(logits, y.index_select(0, hard).flatten(), weight);
      for (const auto& p : params)
        if (p.grad().defined()) p.grad().zero_();  // EXPECT: torch-zero-grad-in-place
      loss.backward();
      opt.step();
    }
  }

  // Same, but no machine may fill more than a few places.
  void mine_fair(const torch::Tensor& x, const torch::Tensor& y, const std::vector<int>& machine, int rounds) {
    torch::optim::SGD opt(net->parameters(), torch::optim::SGDOptions(1e-2));
    for (int r = 0; r < rounds; ++r) {
      auto order = surprise(x, y).argsort(0, true).cpu();
      auto rows = order.accessor<int64_t, 1>();
      std::map<int, int> used;
      std::vector<int64_t> keep;
      for (int64_t i = 0; i < order.size(0); ++i)
        if (used[machine[rows[i]]]++ < 6) keep.push_back(rows[i]);
      auto pick = torch::tensor(keep, torch::kInt64).to(dev_);  // RIGHT: torch-device-round-trip
      opt.zero_grad();
      auto logits = net(x.index_select(0, pick), mask_).flatten(0, 1);
      torch::cross_entropy_loss(logits, y.index_select(0, pick).flatten()).backward();
      opt.step();
    }
  }

  torch::Tensor surprise(const torch::Tensor& x, const torch::Tensor& y) {
    torch::NoGradGuard ng;
    MixedPrecision mp(dev_);
    auto logits = net(x, mask_);
    auto lp = torch::log_softmax(logits, -1, torch::kFloat32);
    return -lp.gather(2, y.unsqueeze(2)).squeeze(2).mean(1);
  }

  // How far the code of every window lies from the centre of all.
  torch::Tensor outlyingness(const torch::Tensor& x) {
    torch::NoGradGuard ng;
    auto code = summary(x);
    auto centre = code.to(torch::kFloat32).mean(0);
    return (code - centre).square().sum(1);  // RIGHT: torch-autocast-boundary
  }

  torch::Tensor rank(const torch::Tensor& x) {
    torch::NoGradGuard ng;
    auto code = summary(x);
    return probe_(code).squeeze(1).argsort();  // EXPECT: torch-autocast-boundary
  }

  torch::Tensor rank_wide(const torch::Tensor& x) {
    torch::NoGradGuard ng;
    auto code = summary(x).to(torch::kFloat32);
    return probe_(code).squeeze(1).argsort();  // RIGHT: torch-autocast-boundary
  }

  // Rolls the logs forward from their first events.
  torch::Tensor roll(const torch::Tensor& first) {
    torch::NoGradGuard ng;
    net->eval();
    const auto n = first.size(0);
    auto log = torch::zeros({n, kLen}, torch::TensorOptions(torch::kInt64).device(dev_));
    log.select(1, 0).copy_(first);
    for (int64_t t = 1; t < kLen; ++t) {
      auto bias = torch::zeros({n, kHeads, t, t}, torch::TensorOptions().device(dev_));  // EXPECT: torch-varying-shapes
      bias.masked_fill_(log.slice(1, 0, t).eq(0).view({n, 1, 1, t}), -4.0);
      log.select(1, t).copy_(net(log.slice(1, 0, t), bias).select(1, t - 1).argmax(1));
    }
    return log;
  }

  torch::Tensor roll_padded(const torch::Tensor& first) {
    torch::NoGradGuard ng;
    net->eval();
    auto log = torch::zeros({first.size(0), kLen}, torch::TensorOptions(torch::kInt64).device(dev_));
    log.select(1, 0).copy_(first);
    for (int64_t t = 1; t < kLen; ++t) {
      auto seen = log.narrow(1, 0, t);  // RIGHT: torch-varying-shapes
      auto fresh = seen.select(1, t - 1).eq(0);
      auto next = net(log, mask_).select(1, t - 1).argmax(1);
      log.select(1, t).copy_(next.masked_fill_(fresh, 1));
    }
    return log;
  }

  // Stability of the surprise under jittered place codes.
  std::vector<torch::Tensor> jitter(const torch::Tensor& x, const torch::Tensor& y, int trials, double size) {
    torch::NoGradGuard ng;
    auto gen = at::detail::createCPUGenerator(17);
    auto start = torch::randn({kLen, kDim}, gen).to(dev_);  // RIGHT: torch-allocate-on-device
    auto kept = net->place.clone();
    auto table = torch::rand({trials, kLen, kDim}).sub_(0.5).to(dev_);  // EXPECT: torch-allocate-on-device
    std::vector<torch::Tensor> out;
    for (int i = 0; i < trials; ++i) {
      auto tally = torch::zeros({x.size(0)}, torch::TensorOptions().device(dev_));  // RIGHT: torch-allocation-in-loop
      net->place.copy_(kept).add_(table[i], size).add_(start, size * 0.1);
      tally.add_(surprise(x, y));
      out.push_back(tally);
    }
    net->place.copy_(kept);
    return out;
  }

  EventNet net;

 private:
  torch::Tensor summary(const torch::Tensor& x) {
    MixedPrecision mp(dev_);
    return net->encode(x, mask_).select(1, kLen - 1);
  }

  torch::Device dev_;
  torch::Tensor rarity_, mask_;
  torch::nn::Linear probe_;
};

torch::Tensor rarity_of(const Lines& lines) {
  std::vector<float> count(kVocab, 1.f);
  for (const auto& l : lines)
    for (auto e : l) count[static_cast<size_t>(e)] += 1.f;
  auto c = torch::tensor(count);
  return c.sum().div(c).sqrt_();
}

}  // namespace

int main(int argc, char** argv) {
  torch::set_num_threads(1);
  torch::manual_seed(4);
  const bool rank = argc > 1 && std::string(argv[1]) == "--rank";
  torch::Device dev(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU);

  auto lines = std::make_shared<const Lines>(generate(256, 1));
  Pipeline p(dev, rarity_of(*lines));
  p.pretrain(*lines, 2);
  p.train(lines, 2);

  const auto held = generate(48, 2);
  std::vector<torch::Tensor> xs, ys;
  std::vector<int> machine;
  for (size_t i = 0; i < held.size(); ++i) {
    auto w = window(held[i]);
    xs.push_back(w.data);
    ys.push_back(w.target);
    machine.push_back(static_cast<int>(i % 5));
  }
  auto x = torch::stack(xs).to(dev), y = torch::stack(ys).to(dev);
  p.mine(x, y, 4);
  p.mine_fair(x, y, machine, 4);
  std::cout << "surprise " << p.surprise(x, y).mean().item<double>() << " outlying " << p.outlyingness(x).max().item<double>() << "\n";
  std::cout << "ranked " << p.rank_wide(x).size(0) << "\n";
  if (rank) std::cout << p.rank(x)[0].item<int64_t>() << "\n";

  auto first = x.select(1, 0).contiguous();
  auto a = p.roll(first), b = p.roll_padded(first);
  std::cout << "agree " << a.eq(b).to(torch::kFloat32).mean().item<double>() << "\n";
  auto js = torch::stack(p.jitter(x, y, 3, 0.1));
  std::cout << "stable to " << js.std(0).mean().item<double>() << "\n";
  return 0;
}

// Field boundary segmentation on satellite tiles: warmup, finetune, calibration.
#include <torch/torch.h>

#include <ATen/DeviceAccelerator.h>
#include <ATen/autocast_mode.h>

#include <cstdio>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

namespace nn = torch::nn;
namespace F = torch::nn::functional;
using torch::Tensor;

struct Args {
  int epochs = 3;
  int width = 8;
  int64_t tiles = 24;
  int64_t side = 32;
  int64_t batch = 4;
  bool calibrate = false;
  torch::Device device{torch::kCPU};
};

static Args parse(int argc, char** argv) {
  Args a;
  for (int i = 1; i < argc; ++i) {
    if (!std::strcmp(argv[i], "--calibrate")) a.calibrate = true;
    if (!std::strcmp(argv[i], "--epochs") && i + 1 < argc) a.epochs = std::stoi(argv[++i]);
    if (!std::strcmp(argv[i], "--full")) {
      a.tiles = 4096;
      a.side = 256;
      a.batch = 32;
      a.width = 32;
    }
  }
  if (torch::cuda::is_available()) a.device = torch::Device(torch::kCUDA);
  return a;
}

// ---------------------------------------------------------------- data

struct Batch {
  Tensor rgb;   // uint8 N3HW
  Tensor mask;  // uint8 N1HW
  Tensor edge;  // uint8 N1HW
};

class Tiles {
 public:
  Tiles(int64_t n, int64_t side) {
    rgb_ = torch::randint(0, 256, {n, 3, side, side}, torch::kByte);
    auto bright = rgb_.select(1, 1) > 120;
    mask_ = bright.unsqueeze(1).to(torch::kByte);
    edge_ = (bright ^ bright.roll(1, 2)).unsqueeze(1).to(torch::kByte);
  }
  int64_t size() const { return rgb_.size(0); }
  Batch get(int64_t at, int64_t n) const {
    n = std::min(n, size() - at);
    return {rgb_.narrow(0, at, n), mask_.narrow(0, at, n), edge_.narrow(0, at, n)};
  }

 private:
  Tensor rgb_, mask_, edge_;
};

// ---------------------------------------------------------------- model

struct BlockImpl : nn::Module {
  BlockImpl(int64_t in, int64_t out)
      : conv(register_module("conv", nn::Conv2d(nn::Conv2dOptions(in, out, 3).padding(1)))),
        norm(register_module("norm", nn::BatchNorm2d(out))),
        drop(register_module("drop", nn::Dropout2d(0.1))) {}
  Tensor forward(const Tensor& x) { return drop(torch::relu(norm(conv(x)))); }
  nn::Conv2d conv;
  nn::BatchNorm2d norm;
  nn::Dropout2d drop;
};
TORCH_MODULE(Block);

struct Prediction {
  Tensor mask;
  Tensor edge;
};

struct FieldNetImpl : nn::Module {
  explicit FieldNetImpl(int64_t w) {
    register_module("down", down);
    int64_t c = 3;
    for (int i = 0; i < 3; ++i) {
      const int64_t out = w << i;
      down->push_back(Block(c, out));  // RIGHT: torch-unregistered-module
      lateral.emplace_back(nn::Conv2dOptions(out, w, 1));  // EXPECT: torch-unregistered-module
      c = out;
    }
    mask_head = register_module("mask_head", nn::Conv2d(nn::Conv2dOptions(w, 1, 1)));
    edge_head = register_module("edge_head", nn::Conv2d(nn::Conv2dOptions(w, 1, 1)));
  }

  Tensor features(Tensor x) {
    Tensor acc;
    for (size_t i = 0; i < lateral.size(); ++i) {
      x = down[i]->as<BlockImpl>()->forward(x);
      auto side = lateral[i]->forward(x);
      acc = acc.defined() ? acc + side : side;
    }
    return acc;
  }

  Prediction forward(const Tensor& x) {
    auto f = features(x);
    return {mask_head(f), torch::sigmoid(edge_head(f))};
  }

  nn::ModuleList down;
  std::vector<nn::Conv2d> lateral;
  nn::Conv2d mask_head{nullptr}, edge_head{nullptr};
};
TORCH_MODULE(FieldNet);

// ---------------------------------------------------------------- amp

class AmpScope {
 public:
  explicit AmpScope(torch::DeviceType type)
      : type_(type), before_(at::autocast::is_autocast_enabled(type)) {
    at::autocast::set_autocast_enabled(type_, true);  // RIGHT: torch-autocast-cache
  }
  ~AmpScope() {
    at::autocast::set_autocast_enabled(type_, before_);
    at::autocast::clear_cache();
  }
  AmpScope(const AmpScope&) = delete;
  AmpScope& operator=(const AmpScope&) = delete;

 private:
  torch::DeviceType type_;
  bool before_;
};

struct Meter {
  double sum = 0;
  int64_t n = 0;
  void update(double v, int64_t k) {
    sum += v * k;
    n += k;
  }
  double value() const { return n ? sum / n : 0.0; }
};

// Per-class pixel weights; lives on the host until somebody needs it.
class ClassWeights {
 public:
  ClassWeights(Tensor host, torch::Device dev) : host_(std::move(host)), dev_(dev) {}
  const Tensor& get() {
    if (!cached_.defined() || cached_.device() != dev_)  // EXPECT: torch-device-comparison
      cached_ = host_.to(dev_);
    return cached_;
  }

 private:
  Tensor host_, cached_;
  torch::Device dev_;
};

struct Losses {
  nn::BCEWithLogitsLoss edge{nn::BCEWithLogitsLossOptions().reduction(torch::kMean)};

  Tensor total(const Prediction& p, const Tensor& mask, const Tensor& edges, const Tensor& pos) {
    auto m = F::binary_cross_entropy_with_logits(p.mask.to(torch::kFloat), mask, F::BinaryCrossEntropyWithLogitsFuncOptions().pos_weight(pos));  // RIGHT: torch-loss-input
    auto e = edge(p.edge.to(torch::kFloat), edges);  // EXPECT: torch-loss-input
    return m + e;
  }
};

static Tensor prepare(const Tensor& rgb, torch::Device dev) {
  return rgb.to(dev).to(torch::kFloat).div_(255);  // RIGHT: torch-convert-before-transfer
}

// ---------------------------------------------------------------- evaluation

static double validate(FieldNet& net, const Tiles& tiles, const Args& args) {
  net->eval();  // EXPECT: torch-eval-mode-not-restored
  torch::NoGradGuard off;
  auto hit = torch::zeros({}, torch::dtype(torch::kLong).device(args.device));
  int64_t all = 0;
  for (int64_t at = 0; at < tiles.size(); at += args.batch) {
    auto b = tiles.get(at, args.batch);
    auto truth = b.mask.to(args.device);
    auto out = net->forward(prepare(b.rgb, args.device));
    hit += out.mask.gt(0).eq(truth).sum();
    all += truth.numel();
  }
  return hit.item<double>() / all;
}

static Tensor preview(FieldNet& net, const Tensor& rgb, const Args& args) {
  const bool was = net->is_training();
  net->eval();  // RIGHT: torch-eval-mode-not-restored
  Tensor shown;
  {
    torch::NoGradGuard off;
    AmpScope amp(args.device.type());
    shown = torch::sigmoid(net->forward(prepare(rgb, args.device)).mask);
  }
  net->train(was);
  return shown.to(torch::kFloat).mul_(255).to(torch::kByte);
}

static bool sameKind(const Tensor& t, torch::Device d) {
  return t.device().type() == d.type();  // RIGHT: torch-device-comparison
}

// ---------------------------------------------------------------- stages

static void warmup(FieldNet& net, const Tiles& tiles, const Args& args) {
  torch::optim::SGD opt(net->parameters(), torch::optim::SGDOptions(0.01).momentum(0.9));
  ClassWeights weights(torch::full({1}, 1.3f), args.device);
  Losses losses;
  Meter meter;
  net->train();
  const auto type = args.device.type();
  for (int64_t at = 0; at < tiles.size(); at += args.batch) {
    auto b = tiles.get(at, args.batch);
    auto x = b.rgb.to(torch::kFloat32).mul_(1.f / 255).to(args.device);  // EXPECT: torch-convert-before-transfer
    auto mask = b.mask.to(args.device).to(torch::kFloat);
    auto edge = b.edge.to(args.device).to(torch::kFloat);

    opt.zero_grad();
    at::autocast::set_autocast_enabled(type, true);  // EXPECT: torch-autocast-cache
    auto out = net->forward(x);
    at::autocast::set_autocast_enabled(type, false);

    auto loss = losses.total(out, mask, edge, weights.get());
    loss.backward();
    opt.step();
    meter.update(loss.item<double>(), x.size(0));  // EXPECT: torch-sync-in-loop
  }
  std::printf("warmup %.4f\n", meter.value());
}

static void finetune(FieldNet& net, const Tiles& train, const Tiles& held, const Args& args) {
  torch::optim::AdamW opt(net->parameters(), torch::optim::AdamWOptions(1e-3));
  Losses losses;
  auto pos = torch::ones({1}, torch::device(args.device));
  TORCH_CHECK(sameKind(net->parameters().front(), args.device), "network is elsewhere");
  net->train();
  for (int epoch = 0; epoch < args.epochs; ++epoch) {
    auto running = torch::zeros({}, torch::device(args.device));
    int64_t step = 0;
    for (int64_t at = 0; at < train.size(); at += args.batch, ++step) {
      auto b = train.get(at, args.batch);
      auto x = prepare(b.rgb, args.device);
      auto mask = b.mask.to(args.device).to(torch::kFloat);
      auto edge = b.edge.to(args.device).to(torch::kFloat);
      Prediction out;
      {
        AmpScope amp(args.device.type());
        out = net->forward(x);
      }
      auto loss = losses.total(out, mask, edge, pos);
      opt.zero_grad();
      loss.backward();
      opt.step();
      running += loss.detach();
      if (step % 100 == 0) std::printf("  step %ld loss %.4f\n", (long)step, loss.item<float>());  // RIGHT: torch-sync-in-loop
      if (args.device.is_cuda()) at::accelerator::emptyCache();  // EXPECT: torch-empty-cache-in-loop
    }
    std::printf("epoch %d loss %.4f acc %.3f\n", epoch, running.item<float>() / step,
                validate(net, held, args));
  }
}

// Fit a linear read-out on the pooled features, for the confidence map.
static Tensor calibrate(FieldNet& net, const Tiles& tiles, const Args& args) {
  const bool was = net->is_training();
  net->eval();
  torch::NoGradGuard off;
  auto readout = torch::ones({args.width, 2}, torch::device(args.device)).div_(args.width);
  Tensor pooled, soft;
  {
    AmpScope amp(args.device.type());
    auto f = net->features(prepare(tiles.get(0, args.batch).rgb, args.device));
    pooled = torch::conv2d(f, torch::ones({args.width, args.width, 1, 1}, f.options())).mean({2, 3});
    soft = pooled.softmax(1);
  }
  auto centred = soft.to(torch::kFloat).matmul(readout);  // RIGHT: torch-autocast-boundary
  auto shifted = pooled + readout.select(1, 0);  // RIGHT: torch-autocast-boundary
  auto scores = torch::mm(pooled, readout);  // EXPECT: torch-autocast-boundary
  net->train(was);
  return scores + centred + shifted.mean();
}

int main(int argc, char** argv) {
  torch::manual_seed(3);
  torch::set_num_threads(1);
  auto args = parse(argc, argv);
  Tiles train(args.tiles, args.side), held(args.tiles / 4, args.side);
  FieldNet net(args.width);
  net->to(args.device);

  warmup(net, train, args);
  if (args.device.is_cuda()) at::accelerator::emptyCache();  // RIGHT: torch-empty-cache-in-loop
  finetune(net, train, held, args);

  auto img = preview(net, held.get(0, 2).rgb, args);
  std::printf("preview mean %.2f\n", img.to(torch::kFloat).mean().item<float>());
  if (args.calibrate) std::cout << calibrate(net, train, args) << "\n";
  return 0;
}

// Measures advice that is often given for LibTorch, and that torch-tidy does not give.
// docs/not-checked.md tells what comes out. Prints "name value" lines: times in
// milliseconds (ns where the name says so), bytes and counts exactly.
//
//   cmake -S test/folk -B build/folk && cmake --build build/folk && build/folk/folk
#include <torch/torch.h>

#include <ATen/Parallel.h>
#include <ATen/autocast_mode.h>
#include <c10/util/ThreadLocalDebugInfo.h>
#include <chrono>
#include <cstdio>
#include <functional>
#include <string>
#include <tuple>
#include <vector>

using torch::Tensor;

namespace {

// What tensors hold in the memory of the CPU, counted by LibTorch itself.
struct Held : c10::MemoryReportingInfoBase {
  void reportMemoryUsage(void *, int64_t Bytes, size_t, size_t, c10::Device) override {
    Now += Bytes;
    Allocations += Bytes > 0;
  }
  bool memoryProfilingEnabled() const override { return true; }
  int64_t Now = 0, Allocations = 0;
};

void say(const char *Name, double Value) { std::printf("%s %.6g\n", Name, Value); }

// The fastest of several, in milliseconds: noise only adds.
double fastest(const std::function<void()> &What, int Times = 15) {
  What();
  double Best = 1e300;
  for (int I = 0; I < Times; ++I) {
    const auto Start = std::chrono::steady_clock::now();
    What();
    const std::chrono::duration<double, std::milli> Took =
        std::chrono::steady_clock::now() - Start;
    Best = std::min(Best, Took.count());
  }
  return Best;
}

// What each of ten more iterations leaves behind, in bytes of tensors.
int64_t growth(Held &H, const std::function<void()> &Iteration) {
  for (int I = 0; I < 3; ++I)
    Iteration();
  const int64_t Before = H.Now;
  for (int I = 0; I < 10; ++I)
    Iteration();
  return (H.Now - Before) / 10;
}

torch::nn::Sequential network() {
  return torch::nn::Sequential(torch::nn::Linear(64, 64), torch::nn::ReLU(),
                               torch::nn::Linear(64, 64), torch::nn::ReLU(),
                               torch::nn::Linear(64, 1));
}

void layout() {
  const Tensor X = torch::rand({4096, 4096});
  say("elementwise", fastest([&] { X + 1; }));
  say("elementwise-transposed", fastest([&] { X.t() + 1; }));
  say("elementwise-contiguous-first", fastest([&] { X.t().contiguous() + 1; }));
}

void copies(Held &H) {
  const Tensor X = torch::rand({256, 256}), Row = torch::rand({256});
  say("to-same-device-is-same", X.to(torch::kCPU).is_same(X));
  say("cpu-is-same", X.cpu().is_same(X));
  say("contiguous-is-same", X.contiguous().is_same(X));
  const int64_t Before = H.Allocations, Bytes = H.Now;
  const Tensor Sum = X + Row;
  say("broadcast-allocations", H.Allocations - Before);
  say("broadcast-bytes", H.Now - Bytes);
  say("result-bytes", Sum.nbytes());
}

void gradients(Held &H) {
  auto Net = network();
  const Tensor X = torch::rand({32, 64});
  torch::optim::SGD Optimizer(Net->parameters(), 1e-3);
  say("no-zero-grad-bytes", growth(H, [&] {
        Net->forward(X).mean().backward();
        Optimizer.step();
      }));
  say("evaluation-with-graph-bytes", growth(H, [&] { Net->forward(X); }));
  const Tensor Weights = Net->parameters().front();
  Tensor Average = Weights.detach().clone();
  say("moving-average-bytes", growth(H, [&] {
        Average = 0.99 * Average + 0.01 * Weights.detach();
      }));
  say("retain-graph-dropped-bytes", growth(H, [&] {
        Net->forward(X).mean().backward({}, /*retain_graph=*/true);
      }));
}

void optimizerFirst() {
  torch::nn::Linear Net(4, 4);
  const Tensor Before = Net->weight;
  torch::optim::SGD Optimizer(Net->parameters(), 0.1);
  Net->to(torch::kDouble);
  say("module-to-keeps-parameters",
      Net->weight.is_same(Before) &&
          Optimizer.param_groups()[0].params()[0].is_same(Net->weight));
  Net->forward(torch::ones({1, 4}, torch::kDouble)).sum().backward();
  const Tensor Old = Net->weight.detach().clone();
  Optimizer.step();
  say("optimizer-made-before-to-steps", !Old.equal(Net->weight));
}

void randomBuffers() {
  Tensor Buffer = torch::empty({1024, 1024});
  say("randn-made-anew", fastest([] { torch::randn({1024, 1024}); }));
  say("randn-refilled", fastest([&] { Buffer.normal_(); }));
  say("zeros-made-anew", fastest([] { torch::zeros({64}); }, 2000));
  torch::nn::Linear Net(256, 256);
  const Tensor X = torch::rand({64, 256});
  say("linear-forward", fastest([&] {
        torch::NoGradGuard NoGrad;
        Net->forward(X);
      }, 200));
}

__attribute__((noinline)) int64_t byValue(Tensor X) { return X.dim(); }
__attribute__((noinline)) int64_t byReference(const Tensor &X) { return X.dim(); }

// parameters() walks through all modules and makes a vector of handles: what
// that is beside a training step of the same network.
void parameterLists() {
  for (const int64_t Width : {64, 256}) {
    torch::nn::Sequential Net;
    for (int I = 0; I < 50; ++I) {
      Net->push_back(torch::nn::Linear(Width, Width));
      Net->push_back(torch::nn::Tanh());
    }
    torch::optim::SGD Optimizer(Net->parameters(), 0.01);
    const Tensor X = torch::randn({16, Width});
    const double Step = fastest([&] {
      Optimizer.zero_grad();
      Net->forward(X).pow(2).mean().backward();
      Optimizer.step();
    });
    const double Call = fastest([&] { Net->parameters(); }, 200);
    const std::string Name = "parameters-percent-of-step-" + std::to_string(Width);
    say(Name.c_str(), 100 * Call / Step);
  }
}

void fusedProducts() {
  for (const int64_t Size : {64, 1024}) {
    const Tensor A = torch::rand({64, Size}), B = torch::rand({Size, Size}),
                 Bias = torch::rand({Size});
    const double Two = fastest([&] { torch::mm(A, B) + Bias; }, 200);
    const double One = fastest([&] { torch::addmm(Bias, A, B); }, 200);
    const std::string Name = "mm-and-add-times-addmm-" + std::to_string(Size);
    say(Name.c_str(), Two / One);
  }
}

// The gradients of one step under autocast, with backward() inside of the
// region and behind it.
void backwardUnderAutocast() {
  bool AreSame = true;
  torch::nn::Sequential Net(torch::nn::Linear(32, 64), torch::nn::LayerNorm(torch::nn::LayerNormOptions({64})),
                            torch::nn::GELU(), torch::nn::Linear(64, 4));
  const Tensor X = torch::randn({16, 32});
  const Tensor Labels = torch::randint(4, {16}, torch::kLong);
  const auto gradient = [&](bool IsInside) {
    Net->zero_grad();
    at::autocast::set_autocast_enabled(at::kCPU, true);
    const Tensor Loss = torch::cross_entropy_loss(Net->forward(X), Labels);
    if (IsInside)
      Loss.backward();
    at::autocast::set_autocast_enabled(at::kCPU, false);
    at::autocast::clear_cache();
    if (!IsInside)
      Loss.backward();
    std::vector<Tensor> Result;
    for (const Tensor &Each : Net->parameters())
      Result.push_back(Each.grad().clone());
    return Result;
  };
  const auto Inside = gradient(true), Behind = gradient(false);
  for (size_t I = 0; I < Inside.size(); ++I)
    AreSame &= Inside[I].equal(Behind[I]);
  say("backward-under-autocast-is-same", AreSame);
}

// A loss of many classes, of the same outputs under autocast and behind it,
// against float.
void lossBehindAutocast() {
  double Loss = 0, Gradient = 0, LossInside = 0, GradientInside = 0;
  constexpr int Times = 20;
  for (int Seed = 0; Seed < Times; ++Seed) {
    torch::manual_seed(Seed);
    torch::nn::Linear Net(32, 100);
    const Tensor X = torch::randn({64, 32}) * 3;
    const Tensor Labels = torch::randint(100, {64}, torch::kLong);
    const auto step = [&](bool IsCast, bool IsInside) {
      Net->zero_grad();
      at::autocast::set_autocast_enabled(at::kCPU, IsCast);
      const Tensor Out = Net->forward(X);
      at::autocast::set_autocast_enabled(at::kCPU, IsInside);
      const Tensor Here = torch::cross_entropy_loss(Out, Labels);
      at::autocast::set_autocast_enabled(at::kCPU, false);
      at::autocast::clear_cache();
      Here.backward();
      return std::pair(Here.item<double>(), Net->weight.grad().clone());
    };
    const auto Float = step(false, false), In = step(true, true), Behind = step(true, false);
    const auto apart = [&](const auto &Other) {
      return ((Other.second - Float.second).norm() / Float.second.norm()).template item<double>();
    };
    LossInside += std::abs(In.first / Float.first - 1) / Times;
    Loss += std::abs(Behind.first / Float.first - 1) / Times;
    GradientInside += apart(In) / Times;
    Gradient += apart(Behind) / Times;
  }
  say("cross-entropy-in-autocast-error", LossInside);
  say("cross-entropy-behind-autocast-error", Loss);
  say("its-gradient-in-autocast-error", GradientInside);
  say("its-gradient-behind-autocast-error", Gradient);
}

void passing() {
  const Tensor X = torch::rand({4});
  int64_t Sum = 0;
  constexpr int Calls = 1000000;
  const double Value = fastest([&] {
    for (int I = 0; I < Calls; ++I)
      Sum += byValue(X);
  }, 5);
  const double Reference = fastest([&] {
    for (int I = 0; I < Calls; ++I)
      Sum += byReference(X);
  }, 5);
  say("by-value-ns-more", (Value - Reference) * 1e6 / Calls);
  say("smallest-operation-ns", fastest([&] {
        for (int I = 0; I < 1000; ++I)
          X + X;
      }) * 1e3);
  if (Sum == 0)
    std::puts("");
}

// Two hundred passes under one guard, and under the other.
template <class Guard> double passes(torch::nn::Sequential &Net, const Tensor &X) {
  return fastest([&] {
    Guard On;
    for (int I = 0; I < 200; ++I)
      Net->forward(X);
  }, 30);
}

void inferenceMode() {
  torch::nn::Sequential Small = network();
  torch::nn::Sequential Wide(torch::nn::Linear(512, 512), torch::nn::ReLU(),
                             torch::nn::Linear(512, 512));
  for (const auto &[Name, Net, X] :
       {std::tuple("small-batch-1", Small, torch::rand({1, 64})),
        std::tuple("small-batch-32", Small, torch::rand({32, 64})),
        std::tuple("wide-batch-32", Wide, torch::rand({32, 512}))}) {
    torch::nn::Sequential Runs = Net;
    const double NoGrad = passes<torch::NoGradGuard>(Runs, X);
    say((std::string("no-grad-over-inference-mode-") + Name).c_str(),
        NoGrad / passes<torch::InferenceMode>(Runs, X));
  }
  const auto throws = [](const Tensor &Made) {
    try {
      Made.add_(1);
      return 0;
    } catch (const c10::Error &) {
      return 1;
    }
  };
  Tensor ByNoGrad, ByInference;
  {
    torch::NoGradGuard On;
    ByNoGrad = torch::ones({2}) + 1;
  }
  {
    torch::InferenceMode On;
    ByInference = torch::ones({2}) + 1;
  }
  say("no-grad-result-in-place-throws", throws(ByNoGrad));
  say("inference-result-in-place-throws", throws(ByInference));
}

} // namespace

int main() {
  at::set_num_threads(1);
  torch::manual_seed(0);
  auto Counted = std::make_shared<Held>();
  c10::DebugInfoGuard Guard(c10::DebugInfoKind::PROFILER_STATE, Counted);
  copies(*Counted);
  gradients(*Counted);
  optimizerFirst();
  layout();
  randomBuffers();
  parameterLists();
  fusedProducts();
  passing();
  backwardUnderAutocast();
  lossBehindAutocast();
  inferenceMode();
}

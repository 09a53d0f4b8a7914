// RUN: %check_torch %s torch-repeated-transfer %t
//
// The transfer is not made in every iteration.

#include <torch/script.h>
#include <torch/torch.h>

#include <functional>
#include <mutex>

using torch::Tensor;
using torch::nn::Linear;

void noLoop(Linear net, Tensor x, Tensor mask, torch::Device device) {
  auto y = net->forward(x.to(device)) * mask.to(device);
  std::cout << y.to(torch::kCPU) << '\n';
}

void aroundLoop(const std::vector<Tensor> &xs, Tensor mask,
                torch::Device device) {
  auto m = mask.to(device);
  auto sum = torch::zeros({64, 64}, device);
  for (const auto &x : xs)
    sum += x * m;
  std::cout << sum.to(torch::kCPU) << mask.to(torch::kFloat64) << '\n';
}

// Evaluated once.
void inHeader(const Tensor &table, torch::Device device) {
  for (const auto &row : table.to(device).unbind(0))
    std::cout << row.sum().item<float>() << '\n';
  for (auto rest = table.to(device); rest.size(0) > 1;
       rest = rest.narrow(0, 1, rest.size(0) - 1))
    std::cout << rest.sum().item<float>() << '\n';
}

void firstIteration(const std::vector<Tensor> &xs, const Tensor &mask,
                    torch::Device device) {
  Tensor m;
  for (size_t i = 0; i < xs.size(); ++i) {
    if (i == 0)
      m = mask.to(device);
    std::cout << (xs[i] * m).sum().item<float>() << '\n';
  }
}

void firstByFlag(const std::vector<Tensor> &xs, const Tensor &mask,
                 torch::Device device) {
  bool first = true;
  Tensor m;
  for (const auto &x : xs) {
    if (first) {
      m = mask.to(device);
      first = false;
    }
    std::cout << (x * m).sum().item<float>() << '\n';
  }
}

void cached(const std::vector<Tensor> &xs, const Tensor &mask,
            torch::Device device) {
  Tensor onDevice;
  for (const auto &x : xs) {
    if (!onDevice.defined())
      onDevice = mask.to(device);
    std::cout << (x * onDevice).sum().item<float>() << '\n';
  }
}

// Copied again only where the input is elsewhere.
class CachedMask {
public:
  Tensor apply(const Tensor &x) {
    if (!cache_.defined() || cache_.device() != x.device())
      cache_ = mask_.to(x.device());
    return x * cache_;
  }

private:
  Tensor mask_ = torch::rand({64, 64});
  Tensor cache_;
};

void usesCached(const std::vector<Tensor> &xs) {
  CachedMask mask;
  for (const auto &x : xs)
    std::cout << mask.apply(x).sum().item<float>() << '\n';
}

void staticLocal(const std::vector<Tensor> &xs, const Tensor &mask) {
  for (const auto &x : xs) {
    static const Tensor m = mask.to(torch::kCUDA);
    std::cout << (x * m).sum().item<float>() << '\n';
  }
}

void ofOnce(const std::vector<Tensor> &xs, const Tensor &mask,
            torch::Device device) {
  std::once_flag flag;
  Tensor m;
  for (const auto &x : xs) {
    std::call_once(flag, [&] { m = mask.to(device); });
    std::cout << (x * m).sum().item<float>() << '\n';
  }
}

// The loop ends there.
void leavesLoop(const std::vector<Tensor> &xs, const Tensor &mask,
                torch::Device device) {
  for (const auto &x : xs) {
    if (x.size(0) > 10) {
      std::cout << (x * mask.to(device)).sum().item<float>() << '\n';
      break;
    }
  }
}

Tensor returnsFromLoop(const std::vector<Tensor> &xs, const Tensor &mask) {
  for (const auto &x : xs)
    if (x.size(0) > 10)
      return mask.to(torch::kCUDA);
  return mask;
}

// Nothing calls it in a loop.
static Tensor masked(const Tensor &x, const Tensor &mask) {
  return x * mask.to(torch::kCUDA);
}

void callsOnce(const Tensor &x, const Tensor &mask) {
  std::cout << masked(x, mask) << '\n';
}

void definedOnly(const std::vector<Tensor> &xs, const Tensor &mask) {
  std::function<Tensor()> fetch;
  for (const auto &x : xs) {
    std::cout << x.sum().item<float>() << '\n';
    fetch = [&mask] { return mask.to(torch::kCUDA); };
  }
  std::cout << fetch() << '\n';
}

// A module is another matter.
void movesModule(Linear net, torch::jit::Module script,
                 const std::vector<Tensor> &xs, torch::Device device) {
  for (const auto &x : xs) {
    net->to(device);
    net->to(torch::kFloat32);
    script.to(device);
    std::cout << net->forward(x).sum().item<float>() << '\n';
  }
}

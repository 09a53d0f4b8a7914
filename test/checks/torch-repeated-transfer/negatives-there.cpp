// RUN: %check_torch %s torch-repeated-transfer %t
//
// The tensor is there already, or of that type: to() returns the tensor itself.

#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;

void madeOnDevice(const std::vector<Tensor> &xs, torch::Device device) {
  auto mask = torch::ones({64, 64}, device);
  auto options = torch::dtype(torch::kFloat32).device(device);
  auto scale = torch::rand({64, 64}, options);
  for (const auto &x : xs) {
    auto y = x * mask.to(device) + scale.to(device) + scale.to(options);
    std::cout << y.sum().item<float>() << '\n';
  }
}

void movedBefore(const std::vector<Tensor> &xs, Tensor mask, Tensor scale,
                 torch::Device device) {
  auto onDevice = mask.to(device);
  scale = scale.to(device);
  for (const auto &x : xs) {
    auto y = x * onDevice.to(device) + scale.to(device);
    std::cout << y.sum().item<float>() << '\n';
  }
}

// Made from a tensor that is there.
void madeFrom(const std::vector<Tensor> &xs, Tensor weights,
              torch::Device device) {
  weights = weights.to(device);
  auto mask = torch::ones_like(weights);
  auto half = weights * 0.5;
  for (const auto &x : xs) {
    auto y = x * mask.to(device) + half.to(device);
    std::cout << y.sum().item<float>() << '\n';
  }
}

void onHost(const std::vector<Tensor> &xs) {
  auto mask = torch::rand({64, 64});
  torch::Device device(torch::kCPU);
  for (const auto &x : xs) {
    auto y = x.cpu() * mask.cpu() + mask.to(torch::kCPU) + mask.to(device);
    std::cout << y.sum().item<float>() << '\n';
  }
}

void onCuda(const std::vector<Tensor> &xs) {
  auto mask = torch::rand({64, 64}, torch::kCUDA);
  auto moved = torch::rand({64, 64}).cuda();
  for (const auto &x : xs) {
    auto y = x * mask.to(torch::kCUDA) + mask.cuda() + moved.to(torch::kCUDA);
    std::cout << y.sum().item<float>() << '\n';
  }
}

// Of its own device and type.
void toItself(const std::vector<Tensor> &xs, const Tensor &mask) {
  for (const auto &x : xs) {
    auto y = x * mask.to(mask.device()) + mask.to(mask.dtype());
    std::cout << y.sum().item<float>() << '\n';
  }
}

void sameType(const std::vector<Tensor> &xs) {
  auto real = torch::rand({64, 64});
  auto whole = torch::zeros({64, 64}, torch::kInt64);
  auto positions = torch::arange(64);
  auto flags = real > 0.5;
  for (const auto &x : xs) {
    auto y = x * real.to(torch::kFloat32) + whole.to(torch::kInt64) +
             positions.to(torch::kLong) + flags.to(torch::kBool) +
             real.toType(torch::kFloat);
    std::cout << y.sum().item<float>() << '\n';
  }
}

void convertedBefore(const std::vector<Tensor> &xs, Tensor counts) {
  auto real = counts.to(torch::kFloat64);
  for (const auto &x : xs)
    std::cout << (x * real.to(torch::kFloat64)).sum().item<double>() << '\n';
}

// ----- moved once: from then on it is there -----

void ontoItself(const std::vector<Tensor> &xs, Tensor memory,
                torch::Device device) {
  for (const auto &x : xs) {
    memory = memory.to(device);
    std::cout << (x * memory).sum().item<float>() << '\n';
  }
}

class Encoding {
public:
  Tensor add(const Tensor &x) {
    table_ = table_.to(x.device());
    return x + table_;
  }

private:
  Tensor table_ = torch::rand({64, 64});
};

void callsAdd(const std::vector<Tensor> &xs) {
  Encoding encoding;
  for (const auto &x : xs)
    std::cout << encoding.add(x).sum().item<float>() << '\n';
}

void ontoItselfInLambda(const std::vector<Tensor> &xs, torch::Device device) {
  auto mask = torch::rand({64, 64});
  auto masked = [&](const Tensor &x) {
    mask = mask.to(device);
    return x * mask;
  };
  for (const auto &x : xs)
    std::cout << masked(x).sum().item<float>() << '\n';
}

// A buffer moves with its module.
struct PositionalImpl : torch::nn::Module {
  explicit PositionalImpl(torch::Device device) : device(device) {
    table = register_buffer("table", torch::rand({64, 64}));
  }
  Tensor forward(const Tensor &x) { return x + table.to(device); }

  torch::Device device;
  Tensor table;
};
TORCH_MODULE(Positional);

void usesBuffer(const std::vector<Tensor> &xs, torch::Device device) {
  Positional net(device);
  net->to(device);
  for (const auto &x : xs)
    std::cout << net->forward(x).sum().item<float>() << '\n';
}

// So does a parameter.
void usesParameter(const std::vector<Tensor> &xs, torch::Device device) {
  Linear net(64, 64);
  net->to(device);
  for (const auto &x : xs)
    std::cout << (x * net->weight.to(device)).sum().item<float>() << '\n';
}

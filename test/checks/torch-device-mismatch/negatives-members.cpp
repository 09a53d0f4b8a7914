// RUN: %check_torch %s torch-device-mismatch %t
//
// A member that names the device: it says the same after the module has been
// moved to it.

#include <torch/torch.h>

#include <vector>

using torch::Tensor;
using torch::nn::Linear;

struct Scorer : torch::nn::Module {
  Scorer(int64_t inputs, torch::Device where)
      : where(where), head(register_module("head", Linear(inputs, 1))) {
    this->to(where);
  }
  Tensor forward(const Tensor &x) { return head(x); }
  float score(std::vector<float> &features) {
    const int64_t count = features.size();
    Tensor x = torch::from_blob(features.data(), {1, count}).to(this->where);
    return forward(x).item<float>();
  }
  torch::Device where;
  Linear head;
};

// The options that it makes its tensors with.
struct NoiseImpl : torch::nn::Module {
  explicit NoiseImpl(torch::Device device)
      : options(torch::TensorOptions().device(device)) {
    mix = register_module("mix", Linear(4, 4));
    to(device);
  }
  Tensor forward() { return mix(torch::randn({1, 4}, options)); }
  torch::TensorOptions options;
  Linear mix{nullptr};
};
TORCH_MODULE(Noise);

// A part that is moved by itself.
struct Pair : torch::nn::Module {
  Pair() { part = register_module("part", std::make_shared<Scorer>(4, torch::kCPU)); }
  Tensor run() {
    part->to(torch::kCPU);
    return part->forward(torch::rand({2, 4}).to(part->where));
  }
  std::shared_ptr<Scorer> part;
};

// What a pointer leads to is moved after the constructor, as a member would be, also in the class that has it.
class Player {
public:
  Player() {
    value_ = std::make_shared<Scorer>(4, torch::kCPU);
    policy_.reset(new Scorer(4, torch::kCPU));
  }
  virtual ~Player() = default;
  virtual Tensor act(const Tensor &state) = 0;
  void cuda() {
    value_->to(torch::kCUDA);
    policy_->to(torch::kCUDA);
  }

protected:
  std::shared_ptr<Scorer> value_;
  std::unique_ptr<Scorer> policy_;
};

class Learner : public Player {
public:
  Learner() : critic_(std::make_shared<Scorer>(4, torch::kCPU)) {}
  Tensor act(const Tensor &state) override {
    const Tensor there = state.to(torch::kCUDA);
    return value_->forward(there) + policy_->forward(there) + critic_->forward(there);
  }
  void start() { critic_->to(torch::kCUDA); }

private:
  std::shared_ptr<Scorer> critic_;
};

void use() {
  Learner learner;
  Scorer scorer(3, torch::kCPU);
  std::vector<float> features = {1, 2, 3};
  scorer.score(features);
  Noise noise(torch::kCPU);
  noise->forward();
  Pair pair;
  pair.run();
}

// What a layer that may have been loaded to anywhere returns is not on the CPU for certain, though
// its input is.
struct Loaded : torch::nn::Module {
  torch::nn::Linear mean{nullptr};
  torch::Device device;
  Loaded() : device(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU) {
    mean = register_module("mean", torch::nn::Linear(4, 2));
    to(device);
  }
  void restore(const std::string &path) {
    torch::serialize::InputArchive archive;
    archive.load_from(path);
    load(archive);
  }
  Tensor draw(Tensor x) {
    Tensor noise = torch::randn(1).to(device);
    return mean->forward(x) + noise;
  }
};
Tensor drawn(bool known, const std::string &path) {
  Loaded net;
  if (known)
    net.restore(path);
  return net.draw(torch::zeros({8, 4}));
}

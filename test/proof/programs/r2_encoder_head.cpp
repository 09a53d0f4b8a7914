#include <torch/torch.h>

#include <cstdio>
#include <memory>
#include <vector>

using torch::Tensor;

namespace {

const int64_t kFeatures = 20, kCode = 12, kClasses = 4, kRows = 24;

class Encoder : public torch::nn::Module {
 public:
  Encoder() {
    in_ = register_module("in", torch::nn::Linear(kFeatures, 32));
    norm_ = register_module("norm", torch::nn::LayerNorm(torch::nn::LayerNormOptions({32})));
    out_ = register_module("out", torch::nn::Linear(32, kCode));
  }
  Tensor encode(const Tensor& x) { return out_(torch::gelu(norm_(in_(x)))); }

 private:
  torch::nn::Linear in_{nullptr}, out_{nullptr};
  torch::nn::LayerNorm norm_{nullptr};
};

class Head : public torch::nn::Module {
 public:
  Head() {
    weight_ = register_parameter("weight", 0.2 * torch::randn({kCode, kClasses}, torch::kFloat64));
    bias_ = register_parameter("bias", torch::zeros({kClasses}));
  }
  Tensor classify(const Tensor& code) {
    // PLANT innocent torch-repeated-transfer/converts loop=steps: the optimizer changes the weight between the conversions
    auto weight = weight_.to(torch::kFloat32);
    return torch::addmm(bias_, code, weight);
  }

 private:
  Tensor weight_, bias_;
};

class GradientBucket {
 public:
  explicit GradientBucket(const std::vector<Tensor>& parameters) {
    int64_t total = 0;
    for (const auto& p : parameters) total += p.numel();
    flat_ = torch::zeros({total});
    int64_t at = 0;
    for (auto p : parameters) {
      p.mutable_grad() = flat_.narrow(0, at, p.numel()).view(p.sizes());
      at += p.numel();
    }
  }
  void scale(double by) { flat_.mul_(by); }
  double norm() const { return flat_.norm().item<double>(); }
  void reset() { flat_.zero_(); }

 private:
  Tensor flat_;
};

struct Batch {
  Tensor x, label;
};

std::vector<Batch> make_batches(int count) {
  auto mixing = torch::randn({kFeatures, kClasses});
  std::vector<Batch> batches;
  for (int i = 0; i < count; ++i) {
    auto x = torch::randn({kRows, kFeatures});
    batches.push_back({x, x.matmul(mixing).argmax(1)});
  }
  return batches;
}

}  // namespace

int main() {
  torch::set_num_threads(1);
  torch::manual_seed(0);

  auto encoder = std::make_shared<Encoder>();
  auto head = std::make_shared<Head>();
  const auto batches = make_batches(96);
  const int micro = 4;

  torch::optim::AdamW encoder_opt(encoder->parameters(), torch::optim::AdamWOptions(4e-3));
  torch::optim::SGD head_opt(head->parameters(), torch::optim::SGDOptions(0.1));
  GradientBucket bucket(encoder->parameters());

  struct {
    std::vector<Tensor> curve;
    Tensor sum = torch::zeros({});
    double norm = 0;
  } report;

  int seen = 0;
  for (const auto& batch : batches) {  // AT steps
    auto code = encoder->encode(batch.x);  // AT encoding
    // PLANT innocent torch-undetached-generator-output/in-vain loop=steps also=encoding: the step after four batches applies what the encoder gets
    auto logits = head->classify(code);
    auto loss = torch::cross_entropy_loss(logits, batch.label);  // AT loss

    head_opt.zero_grad();
    loss.backward();
    head_opt.step();

    if (++seen % micro == 0) {
      bucket.scale(1.0 / micro);
      report.norm += bucket.norm();
      // PLANT innocent torch-missing-zero-grad/never-cleared loop=steps: the gradients are views of a bucket that is reset
      encoder_opt.step();
      bucket.reset();
    }

    // PLANT true torch-retained-graph/grows loop=steps built=loss: each loss stays in the report with its graph
    report.curve.emplace_back(loss);
    // PLANT true torch-retained-graph/chains loop=steps: the sum holds on to the graphs of all batches
    report.sum = report.sum + loss * kRows;
  }

  auto first = report.curve.front().item<float>(), last = report.curve.back().item<float>();
  std::printf("loss %.4f to %.4f, mean %.4f, norm %.4f\n", first, last,
              report.sum.item<double>() / (kRows * double(batches.size())), report.norm);
  return 0;
}

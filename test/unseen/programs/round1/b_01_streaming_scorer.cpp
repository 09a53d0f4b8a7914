// Scores a stream of telemetry records with a TorchScript model. For the demo the
// model is assembled here, written to a buffer, and loaded back as a deployed one.
#include <torch/script.h>
#include <torch/torch.h>

#include <cstring>
#include <iostream>
#include <sstream>

namespace {

constexpr int64_t kFeatures = 24;
constexpr int64_t kHidden = 96;

const char* kModelSource = R"JIT(
def forward(self, x, h):
    z = torch.sigmoid(torch.matmul(x, self.wz) + torch.matmul(h, self.uz))
    c = torch.tanh(torch.matmul(x, self.wc) + torch.matmul(h, self.uc))
    new_h = (1.0 - z) * h + z * c
    return torch.matmul(new_h, self.out), new_h
def embed(self, x):
    return torch.tanh(torch.matmul(x, self.wc))
)JIT";

std::string exportModel() {
  torch::jit::Module m("drift_scorer");
  auto scaled = [](int64_t r, int64_t c) { return torch::randn({r, c}) / std::sqrt(double(r)); };
  m.register_parameter("wz", scaled(kFeatures, kHidden), false);
  m.register_parameter("wc", scaled(kFeatures, kHidden), false);
  m.register_parameter("uz", scaled(kHidden, kHidden), false);
  m.register_parameter("uc", scaled(kHidden, kHidden), false);
  m.register_parameter("out", scaled(kHidden, 1), false);
  for (auto p : m.parameters())
    p.requires_grad_(true);  // a trained checkpoint has these set
  m.define(kModelSource);
  std::ostringstream os;
  m.save(os);
  return os.str();
}

}  // namespace

class Scorer {
 public:
  explicit Scorer(const std::string& blob) {
    std::istringstream is(blob);
    model_ = torch::jit::load(is);
    model_.eval();
    state_ = torch::zeros({1, kHidden});
  }

  // One record in, one drift score out. The state runs on for the life of the service.
  double push(const torch::Tensor& record) {
    auto result = model_.forward({record, state_}).toTuple();  // EXPECT: torch-missing-no-grad
    state_ = result->elements()[1].toTensor();  // EXPECT: torch-undetached-hidden-state
    return result->elements()[0].toTensor().item<double>();
  }

  void dump(const torch::Tensor& record) {
    torch::NoGradGuard guard;
    for (const auto& part : model_.forward({record, state_}).toTuple()->elements())  // EXPECT: torch-dangling-data
      std::cout << part.toTensor().norm().item<double>() << ' ';
    std::cout << '\n';
  }

  void summary(const torch::Tensor& record) const {
    torch::NoGradGuard guard;
    auto model = model_;
    auto tuple = model.forward({record, torch::zeros({1, kHidden})}).toTuple();
    for (const auto& part : tuple->elements())  // RIGHT: torch-dangling-data (the tuple has a name and outlives the loop)
      std::cout << part.toTensor().sizes() << ' ';
    auto fresh = model.forward({record, torch::zeros({1, kHidden})}).toTuple()->elements()[1].toTensor();  // RIGHT: torch-dangling-data (the tensor is copied out within the statement)
    std::cout << " |h|=" << fresh.norm().item<double>() << '\n';
  }

  torch::Tensor embedding(const torch::Tensor& records) {
    torch::NoGradGuard guard;
    return model_.get_method("embed")({records}).toTensor();  // RIGHT: torch-missing-no-grad (the guard stands above)
  }

 private:
  torch::jit::Module model_;
  torch::Tensor state_;
};

int main(int argc, char** argv) {
  torch::manual_seed(7);
  Scorer scorer(exportModel());

  double worst = 0.0;
  for (int tick = 0; tick < 300; ++tick) {
    auto record = torch::randn({1, kFeatures}) + 0.01 * tick;
    worst = std::max(worst, std::abs(scorer.push(record)));
  }
  std::cout << "largest score " << worst << '\n';

  auto probe = torch::randn({1, kFeatures});
  scorer.summary(probe);
  std::cout << scorer.embedding(torch::randn({64, kFeatures})).mean().item<double>() << '\n';
  if (argc > 1 && std::strcmp(argv[1], "--dump") == 0)
    scorer.dump(probe);
  return 0;
}

// RUN: %check_torch %s torch-missing-zero-grad %t -still-warns
//
// TORCH_MODULE makes holders of anything: here of a data set, which is no module.

#include <torch/torch.h>

using torch::Tensor;

class PairsImpl : public torch::data::datasets::Dataset<PairsImpl> {
public:
  explicit PairsImpl(int64_t n) : xs(torch::rand({n, 4})) {}
  torch::data::Example<> get(size_t index) override {
    return {xs[index], xs[index].sum()};
  }
  torch::optional<size_t> size() const override { return xs.size(0); }

private:
  Tensor xs;
};
TORCH_MODULE(Pairs);

void train(torch::nn::Linear &net) {
  torch::optim::SGD opt(net->parameters(), 0.1);
  auto loader = torch::data::make_data_loader(
      Pairs(64)->map(torch::data::transforms::Stack<>()), 8);
  for (auto &batch : *loader) {
    torch::mse_loss(net->forward(batch.data), batch.target).backward();
    opt.step();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: gradients of 'opt' are not cleared
  }
}

void trainRight(torch::nn::Linear &net) {
  torch::optim::SGD opt(net->parameters(), 0.1);
  Pairs pairs(64);
  auto loader = torch::data::make_data_loader(
      std::move(*pairs).map(torch::data::transforms::Stack<>()), 8);
  for (auto &batch : *loader) {
    opt.zero_grad();
    torch::mse_loss(net->forward(batch.data), batch.target).backward();
    opt.step();
  }
}

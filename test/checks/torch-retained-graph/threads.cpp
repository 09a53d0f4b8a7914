// RUN: %check_torch %s torch-retained-graph %t
//
// What a thread is given belongs to it while it runs: a list of threads keeps no tensor.

#include <thread>
#include <torch/torch.h>

using torch::Tensor;

struct Forecaster {
  torch::nn::Linear net{4, 1};
  Tensor last;
  double train(const Tensor &x) {
    last = net(x).mean();
    last.backward();
    return last.item<double>();
  }
};

static void scoreOne(Forecaster &forecaster, const Tensor &x, double *error) {
  torch::NoGradGuard guard;
  *error = forecaster.net(x).abs().mean().item<double>();
}

static double scoreAll(Forecaster &forecaster, const std::vector<Tensor> &all) {
  std::vector<double> errors(all.size());
  std::vector<std::thread> workers;
  for (size_t i = 0; i < all.size(); ++i)
    workers.emplace_back(scoreOne, std::ref(forecaster), std::cref(all[i]), &errors[i]);
  for (auto &worker : workers)
    worker.join();
  return errors.front();
}

// A list of tensors is another matter.
static Tensor collect(Forecaster &forecaster, const std::vector<Tensor> &all) {
  std::vector<Tensor> results;
  for (const Tensor &x : all)
    results.emplace_back(forecaster.net(x).mean());
  // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: tensor kept in 'results' keeps what its backward() would need
  return torch::stack(results);
}

int main() {
  Forecaster forecaster;
  const std::vector<Tensor> all(10, torch::rand({8, 4}));
  double sum = 0;
  for (const Tensor &x : all)
    sum += forecaster.train(x);
  std::cout << sum << scoreAll(forecaster, all) << collect(forecaster, all).sum().item<float>();
}

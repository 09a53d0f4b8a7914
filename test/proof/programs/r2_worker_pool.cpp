#include <torch/torch.h>

#include <cstdio>
#include <future>
#include <thread>
#include <vector>

namespace {

using Net = torch::nn::Sequential;

Net make_net(int64_t in, int64_t hidden, int64_t out) {
  return Net(torch::nn::Linear(in, hidden), torch::nn::ReLU(), torch::nn::Linear(hidden, hidden),
             torch::nn::ReLU(), torch::nn::Linear(hidden, out));
}

class Gauge {
 public:
  explicit Gauge(Net net) : net_(net) {}

  torch::Tensor level(const torch::Tensor& x) {
    auto response = net_->forward(x);  // AT response
    // PLANT true torch-retained-graph/grows loop=calibration built=response: every response stays in the trail with its graph
    trail_.push_back(response);
    return response.detach().abs().mean();
  }

  double range() const {
    torch::NoGradGuard guard;
    auto all = torch::stack(trail_).detach();
    return (all.max() - all.min()).item<double>();
  }

 private:
  Net net_;
  std::vector<torch::Tensor> trail_;
};

double calibrate(Net& net) {
  Gauge gauge(net);
  auto smooth = torch::zeros({});
  for (int i = 0; i < 80; ++i) {  // AT calibration
    auto x = torch::randn({8, 10}) * (1 + 0.01 * i);
    // PLANT innocent torch-retained-graph/chains loop=calibration: what is added up comes back without a graph
    smooth = 0.9 * smooth + 0.1 * gauge.level(x);
  }
  return smooth.item<double>() + gauge.range();
}

double fit(Net& net, const std::vector<torch::Tensor>& inputs) {
  torch::optim::Adam optimizer(net->parameters(), 2e-3);
  auto target = [](const torch::Tensor& x) { return x.narrow(1, 0, 3).cumsum(1); };
  double total = 0;
  std::future<torch::Tensor> ahead;
  for (const auto& x : inputs) {  // AT fit
    ahead = std::async(std::launch::async, [&net, x] {
      // PLANT innocent torch-missing-no-grad/unused-graph loop=fit: the other thread calls backward() on what comes of it
      auto guess = net->forward(x);
      return guess;
    });
    auto wanted = target(x);
    auto loss = torch::smooth_l1_loss(ahead.get(), wanted);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    total += loss.item<double>();
  }
  return total / static_cast<double>(inputs.size());
}

std::vector<double> score(Net& net, const std::vector<torch::Tensor>& inputs, size_t workers) {
  torch::NoGradGuard guard;
  net->eval();
  std::vector<double> scores(inputs.size());
  std::vector<std::thread> pool;
  for (size_t w = 0; w < workers; ++w) {
    pool.emplace_back([&, w] {
      for (size_t i = w; i < inputs.size(); i += workers) {  // AT shard
        // PLANT true torch-missing-no-grad/unused-graph loop=shard: the guard of the caller does not reach into this thread
        auto guess = net->forward(inputs[i]);
        scores[i] = guess.argmax(1).to(torch::kFloat32).mean().item<double>();
      }
    });
  }
  for (auto& thread : pool) thread.join();
  return scores;
}

}  // namespace

int main() {
  torch::set_num_threads(1);
  torch::manual_seed(0);

  auto net = make_net(10, 24, 3);
  std::vector<torch::Tensor> inputs;
  for (int i = 0; i < 120; ++i) inputs.push_back(torch::randn({16, 10}));

  std::printf("calibration %.5f\n", calibrate(net));
  std::printf("loss %.5f\n", fit(net, inputs));
  double sum = 0;
  for (double value : score(net, inputs, 2)) sum += value;
  std::printf("score %.5f\n", sum / static_cast<double>(inputs.size()));
  return 0;
}

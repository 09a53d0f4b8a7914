// Asynchronous parameter server: workers pull weights, compute gradients on their own
// shard, push them; one server applies them.
#include <torch/torch.h>

#include <atomic>
#include <iostream>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

using Gradients = std::vector<torch::Tensor>;

struct ModelImpl : torch::nn::Cloneable<ModelImpl> {
  ModelImpl() { reset(); }
  void reset() override {
    l1 = register_module("l1", torch::nn::Linear(12, 32));
    l2 = register_module("l2", torch::nn::Linear(32, 1));
  }
  torch::Tensor forward(const torch::Tensor& x) { return l2(torch::tanh(l1(x))); }
  torch::nn::Linear l1{nullptr}, l2{nullptr};
};
TORCH_MODULE(Model);

class Server {
 public:
  explicit Server(double lr) : lr_(lr) {}

  std::vector<torch::Tensor> pull() {
    std::lock_guard<std::mutex> lock(mutex_);
    std::vector<torch::Tensor> copy;
    for (const auto& p : model_->parameters()) copy.push_back(p.detach().clone());
    return copy;
  }

  void push(const Gradients& gradients) {
    std::lock_guard<std::mutex> lock(mutex_);
    auto params = model_->parameters();
    for (size_t i = 0; i < params.size(); ++i)
      params[i].mutable_grad() = gradients[i];
    torch::optim::RMSprop optimizer(params, torch::optim::RMSpropOptions(lr_));  // EXPECT: torch-optimizer-in-loop
    optimizer.step();  // RIGHT: torch-missing-zero-grad (the gradients are assigned, not added, before each step)
    ++version_;
  }

  // Weight decay outside of the optimizer, asked for by a housekeeping thread.
  void shrink(double rate) {
    std::lock_guard<std::mutex> lock(mutex_);
    for (auto& p : model_->parameters()) p.mul_(1 - rate);  // EXPECT: torch-leaf-inplace
  }

  double error(const torch::Tensor& x, const torch::Tensor& y) {
    torch::NoGradGuard guard;
    return torch::mse_loss(model_->forward(x), y).item<double>();
  }

  int version() const { return version_; }

 private:
  double lr_;
  Model model_;
  std::mutex mutex_;
  std::atomic<int> version_{0};
};

static void loadInto(Model& model, const std::vector<torch::Tensor>& weights) {
  torch::NoGradGuard guard;
  auto params = model->parameters();
  for (size_t i = 0; i < params.size(); ++i) params[i].copy_(weights[i]);  // RIGHT: torch-leaf-inplace (under a guard of the function's own)
}

static void worker(Server& server, torch::Tensor x, torch::Tensor y, int rounds) {
  Model local;
  for (int r = 0; r < rounds; ++r) {
    loadInto(local, server.pull());
    local->zero_grad();
    auto rows = torch::randint(x.size(0), {32}, torch::kLong);
    auto loss = torch::mse_loss(local->forward(x.index_select(0, rows)), y.index_select(0, rows));
    loss.backward();
    Gradients out;
    for (auto& p : local->parameters()) out.push_back(p.grad().clone());  // RIGHT: torch-retained-graph (gradients have no graph here)
    server.push(out);
  }
}

int main() {
  torch::manual_seed(8);
  auto w = torch::randn({12, 1});
  auto x = torch::randn({512, 12});
  auto y = torch::sin(x.mm(w)) + 0.01 * torch::randn({512, 1});

  Server server(1e-3);
  std::cout << "before " << server.error(x, y) << "\n";

  torch::NoGradGuard guard;  // nothing below trains in this thread
  std::vector<std::thread> threads;
  auto xs = x.chunk(3), ys = y.chunk(3);
  for (size_t i = 0; i < xs.size(); ++i)
    threads.emplace_back(worker, std::ref(server), xs[i], ys[i], 120);
  threads.emplace_back([&server] {
    try {
      for (int i = 0; i < 10; ++i) {
        server.shrink(1e-4);
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
      }
    } catch (const c10::Error&) {
      std::cerr << "housekeeping stopped\n";
    }
  });
  for (auto& t : threads) t.join();

  std::cout << "after " << server.version() << " pushes: " << server.error(x, y) << std::endl;
}

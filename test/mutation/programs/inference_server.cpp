// Loads a TorchScript model and answers requests from a queue in batches, on several
// threads.
#include <torch/script.h>
#include <torch/torch.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <iostream>
#include <memory>
#include <mutex>
#include <queue>
#include <string>
#include <thread>
#include <vector>

namespace {

struct Job {
  at::Tensor image;
  int id;
};

class JobQueue {
 public:
  void push(Job job) {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      jobs_.push(std::move(job));
    }
    ready_.notify_one();
  }

  void close() {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      closed_ = true;
    }
    ready_.notify_all();
  }

  bool pop(std::vector<Job>& batch, size_t most) {
    std::unique_lock<std::mutex> lock(mutex_);
    ready_.wait(lock, [this] { return closed_ || !jobs_.empty(); });
    batch.clear();
    while (!jobs_.empty() && batch.size() < most) {
      batch.push_back(std::move(jobs_.front()));
      jobs_.pop();
    }
    return !batch.empty();
  }

 private:
  std::mutex mutex_;
  std::condition_variable ready_;
  std::queue<Job> jobs_;
  bool closed_ = false;
};

class Worker {
 public:
  Worker(const std::string& path, torch::Device device)
      : device_(device), module_(torch::jit::load(path, device)),
        mean_(torch::tensor({0.485, 0.456, 0.406}).view({1, 3, 1, 1})),
        deviation_(torch::tensor({0.229, 0.224, 0.225}).view({1, 3, 1, 1})) {
    module_.eval();
    warm_up();
  }

  void serve(JobQueue& queue) {
    // Grad mode belongs to the thread.
    c10::InferenceMode guard;
    auto mean = mean_.to(device_, torch::kFloat32);
    auto deviation = deviation_.to(device_, torch::kFloat32);
    torch::Tensor staging = torch::empty({kMost, 3, 224, 224}, torch::kFloat32);
    std::vector<Job> batch;
    while (queue.pop(batch, kMost)) {
      const auto n = static_cast<int64_t>(batch.size());
      for (int64_t i = 0; i < n; ++i)
        staging[i].copy_(batch[i].image);
      auto input = (staging.narrow(0, 0, n).to(device_) - mean) / deviation;
      auto output = module_.forward({input}).toTensor();
      auto scores = torch::softmax(output, 1).max(1);
      confidence_ += std::get<0>(scores).mean().item<double>();
      ++batches_;
      auto labels = std::get<1>(scores).cpu();
      for (int64_t i = 0; i < n; ++i)
        std::cout << batch[i].id << ' ' << labels[i].item<int64_t>() << '\n';
    }
  }

  double confidence() const { return batches_ ? confidence_ / batches_ : 0; }

 private:
  static constexpr int64_t kMost = 32;

  void warm_up() {
    torch::NoGradGuard no_grad;
    auto input = torch::zeros({kMost, 3, 224, 224}, device_);
    for (int i = 0; i < 3; ++i) {
      auto output = module_.forward({input}).toTensor();
      (void)output;
    }
  }

  torch::Device device_;
  torch::jit::script::Module module_;
  torch::Tensor mean_, deviation_;
  double confidence_ = 0;
  int64_t batches_ = 0;
};

}  // namespace

int main(int argc, const char* argv[]) {
  if (argc != 2) {
    std::cerr << "usage: inference_server <model.pt>\n";
    return 1;
  }
  const torch::Device device(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU);
  JobQueue queue;
  std::vector<std::unique_ptr<Worker>> workers;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    workers.push_back(std::make_unique<Worker>(argv[1], device));
    threads.emplace_back([worker = workers.back().get(), &queue] { worker->serve(queue); });
  }
  for (int id = 0; id < 1000; ++id)
    queue.push({torch::rand({3, 224, 224}), id});
  queue.close();
  for (auto& thread : threads)
    thread.join();
  for (auto& worker : workers)
    std::cout << worker->confidence() << '\n';
}

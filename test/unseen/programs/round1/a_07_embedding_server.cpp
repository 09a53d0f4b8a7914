// Answers "which product is nearest" requests from a queue with worker threads.
#include <torch/torch.h>
#include <condition_variable>
#include <future>
#include <iostream>
#include <mutex>
#include <queue>
#include <thread>

struct Request {
  std::vector<float> features;
  std::promise<int64_t> answer;
};

class Mailbox {
 public:
  void put(std::unique_ptr<Request> r) {
    {
      std::lock_guard<std::mutex> lock(m_);
      q_.push(std::move(r));
    }
    cv_.notify_one();
  }
  // null: no more work
  std::unique_ptr<Request> take() {
    std::unique_lock<std::mutex> lock(m_);
    cv_.wait(lock, [this] { return closed_ || !q_.empty(); });
    if (q_.empty()) return nullptr;
    auto r = std::move(q_.front());
    q_.pop();
    return r;
  }
  void close() {
    std::lock_guard<std::mutex> lock(m_);
    closed_ = true;
    cv_.notify_all();
  }

 private:
  std::mutex m_;
  std::condition_variable cv_;
  std::queue<std::unique_ptr<Request>> q_;
  bool closed_ = false;
};

constexpr int64_t kFeatures = 64, kWidth = 128, kProducts = 4096;

torch::nn::Sequential buildEncoder() {
  torch::nn::Sequential s(torch::nn::Linear(kFeatures, 256), torch::nn::ReLU(), torch::nn::LayerNorm(torch::nn::LayerNormOptions({256})),
                          torch::nn::Linear(256, kWidth));
  s->eval();
  return s;
}

void serve(Mailbox& box, torch::nn::Sequential encoder, const torch::Tensor& catalogue) {
  while (auto request = box.take()) {
    auto x = torch::from_blob(request->features.data(), {1, kFeatures});  // RIGHT: torch-blob-lifetime (the request lives until the end of the iteration)
    auto code = encoder->forward(x);  // EXPECT: torch-missing-no-grad
    auto table = catalogue.to(torch::kFloat32);  // EXPECT: torch-repeated-transfer
    auto penalty = torch::linspace(0, 1, kProducts);  // EXPECT: torch-allocation-in-loop
    auto scores = torch::matmul(table, code.squeeze(0)) - penalty;
    request->answer.set_value(scores.argmax().item<int64_t>());
  }
}

void serveChecked(Mailbox& box, torch::nn::Sequential encoder, const torch::Tensor& catalogue) {
  torch::InferenceMode inference;
  const auto table = catalogue.to(torch::kFloat32);  // RIGHT: torch-repeated-transfer (once for each thread, before the loop)
  const auto penalty = torch::linspace(0, 1, kProducts);
  while (auto request = box.take()) {
    auto x = torch::from_blob(request->features.data(), {1, kFeatures});
    auto code = encoder->forward(x);  // RIGHT: torch-missing-no-grad (InferenceMode in this thread)
    request->answer.set_value((table.matmul(code[0]) - penalty).argmax().item<int64_t>());
  }
}

template <class Worker>
void run(const char* name, Worker worker, torch::nn::Sequential encoder, torch::Tensor catalogue) {
  torch::NoGradGuard guard;
  Mailbox box;
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i)
    threads.emplace_back([&] { worker(box, encoder, catalogue); });

  std::vector<std::future<int64_t>> answers;
  for (int i = 0; i < 40; ++i) {
    auto r = std::make_unique<Request>();
    r->features.resize(kFeatures);
    for (size_t k = 0; k < r->features.size(); ++k) r->features[k] = static_cast<float>((i * 31 + k * 7) % 17) / 17.f;
    answers.push_back(r->answer.get_future());
    box.put(std::move(r));
  }
  int64_t checksum = 0;
  for (auto& a : answers) checksum += a.get();
  box.close();
  for (auto& t : threads) t.join();
  std::cout << name << " " << checksum << "\n";
}

int main() {
  torch::manual_seed(4);
  auto encoder = buildEncoder();
  auto catalogue = torch::randn({kProducts, kWidth}).to(torch::kHalf);
  run("plain", [](Mailbox& b, torch::nn::Sequential e, const torch::Tensor& c) { serve(b, e, c); }, encoder, catalogue);
  run("checked", [](Mailbox& b, torch::nn::Sequential e, const torch::Tensor& c) { serveChecked(b, e, c); }, encoder, catalogue);
}

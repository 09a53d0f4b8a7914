#pragma once

#include <torch/torch.h>

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <future>
#include <mutex>
#include <thread>
#include <vector>

namespace serving {

struct Prediction {
  int64_t label = 0;
  float confidence = 0;
};

// Answers requests in batches, on a thread of its own.
class Server {
 public:
  // `scale` brings the features to the range that the network was trained on.
  Server(torch::nn::Sequential net, torch::Tensor scale, torch::Device device);
  ~Server();

  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  std::future<Prediction> submit(torch::Tensor features);

  // Mean confidence of the last answers: a fall shows that the data drifts.
  float recent_confidence() const;

 private:
  struct Request {
    torch::Tensor features;
    std::promise<Prediction> answer;
  };

  void run();
  std::vector<Request> next_batch();
  void answer(std::vector<Request>& requests, const torch::Tensor& probabilities);

  static constexpr size_t kMaxBatch = 16;
  static constexpr size_t kRecent = 256;

  torch::nn::Sequential net_;
  torch::Tensor scale_;
  torch::Device device_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Request> queue_;
  std::deque<float> recent_;
  bool stopping_ = false;
  std::thread worker_;
};

}  // namespace serving

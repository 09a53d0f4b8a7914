#include "server.h"

#include <algorithm>
#include <numeric>

namespace serving {

Server::Server(
    torch::nn::Sequential net, torch::Tensor scale, torch::Device device)
    : net_(std::move(net)), scale_(std::move(scale)), device_(device) {
  net_->to(device_);
  worker_ = std::thread([this] { run(); });
}

Server::~Server() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  worker_.join();
}

std::future<Prediction> Server::submit(torch::Tensor features) {
  Request request{std::move(features), {}};
  auto result = request.answer.get_future();
  {
    std::lock_guard<std::mutex> lock(mutex_);
    queue_.push_back(std::move(request));
  }
  wake_.notify_one();
  return result;
}

float Server::recent_confidence() const {
  std::lock_guard<std::mutex> lock(mutex_);
  if (recent_.empty()) return 0;
  return std::accumulate(recent_.begin(), recent_.end(), 0.0F) /
      static_cast<float>(recent_.size());
}

// Waits for requests; empty when the server stops and none are left.
std::vector<Server::Request> Server::next_batch() {
  std::unique_lock<std::mutex> lock(mutex_);
  wake_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
  std::vector<Request> requests;
  while (!queue_.empty() && requests.size() < kMaxBatch) {
    requests.push_back(std::move(queue_.front()));
    queue_.pop_front();
  }
  return requests;
}

void Server::run() {
  net_->eval();
  for (auto requests = next_batch(); !requests.empty(); requests = next_batch()) {
    std::vector<torch::Tensor> rows;
    for (const auto& request : requests) rows.push_back(request.features);
    auto scale = scale_.to(torch::kFloat32);  // BAD: torch-repeated-transfer
    auto input = (torch::stack(rows) * scale).to(device_);
    auto output = net_->forward(input);  // BAD: torch-missing-no-grad
    answer(requests, torch::softmax(output, 1).cpu());
  }
}

void Server::answer(
    std::vector<Request>& requests, const torch::Tensor& probabilities) {
  const auto [confidence, label] = probabilities.max(1);
  const auto confidences = confidence.accessor<float, 1>();
  const auto labels = label.accessor<int64_t, 1>();
  for (size_t i = 0; i < requests.size(); ++i) {
    const auto row = static_cast<int64_t>(i);
    {
      std::lock_guard<std::mutex> lock(mutex_);
      recent_.push_back(confidences[row]);
      if (recent_.size() > kRecent) recent_.pop_front();
    }
    requests[i].answer.set_value({labels[row], confidences[row]});
  }
}

}  // namespace serving

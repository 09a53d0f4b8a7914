// Keyword spotting for many microphones at once. Each shard has a queue and a thread of its
// own; a microphone always talks to the same shard, which keeps its recurrent state.
#include <torch/torch.h>

#include <condition_variable>
#include <cstdio>
#include <deque>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_map>
#include <vector>

namespace {

constexpr int64_t kFrame = 64, kHidden = 32, kWords = 5;

struct SpotterImpl : torch::nn::Module {
  SpotterImpl() {
    front = register_module("front", torch::nn::Linear(kFrame, kHidden));
    memory = register_module("memory", torch::nn::GRUCell(kHidden, kHidden));
    words = register_module("words", torch::nn::Linear(kHidden, kWords));
  }
  std::pair<torch::Tensor, torch::Tensor> forward(const torch::Tensor& frame, const torch::Tensor& h) {
    auto next = memory(torch::relu(front(frame)), h);
    return {words(next), next};
  }
  torch::nn::Linear front{nullptr}, words{nullptr};
  torch::nn::GRUCell memory{nullptr};
};
TORCH_MODULE(Spotter);

struct Request {
  int64_t microphone;
  std::vector<int16_t> samples;
  std::vector<int32_t> levels;  // of the front end, one for each sample
  std::promise<int64_t> word;
};

class Queue {
 public:
  void push(std::unique_ptr<Request> request) {
    std::lock_guard<std::mutex> lock(mutex_);
    requests_.push_back(std::move(request));
    ready_.notify_one();
  }
  void close() {
    std::lock_guard<std::mutex> lock(mutex_);
    closed_ = true;
    ready_.notify_all();
  }
  std::unique_ptr<Request> pop() {
    std::unique_lock<std::mutex> lock(mutex_);
    ready_.wait(lock, [this] { return closed_ || !requests_.empty(); });
    if (requests_.empty())
      return nullptr;
    auto request = std::move(requests_.front());
    requests_.pop_front();
    return request;
  }

 private:
  std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<std::unique_ptr<Request>> requests_;
  bool closed_ = false;
};

torch::Tensor decode(Request& request) {
  auto pcm = torch::from_blob(request.samples.data(), {kFrame}, torch::kShort);  // RIGHT: torch-blob-dtype 16-bit samples, read as such
  auto levels = torch::from_blob(request.levels.data(), {kFrame});  // EXPECT: torch-blob-dtype
  return (pcm.to(torch::kFloat) / 32768.0 / (1.0 + levels)).unsqueeze(0);  // arithmetic copies
}

void serve(Spotter net, Queue& queue) {
  std::unordered_map<int64_t, torch::Tensor> states;
  while (auto request = queue.pop()) {
    auto& state = states[request->microphone];
    if (!state.defined())
      state = torch::zeros({1, kHidden});
    auto [logits, next] = net->forward(decode(*request), state);  // EXPECT: torch-missing-no-grad
    state = next;  // EXPECT: torch-undetached-hidden-state
    request->word.set_value(logits.argmax(1).item<int64_t>());
  }
}

// The night shift: goes through recordings with the same network.
double scan(Spotter net, int64_t frames) {
  torch::NoGradGuard no_grad;
  auto state = torch::zeros({1, kHidden});
  double peak = 0;
  for (int64_t i = 0; i < frames; ++i) {
    auto [logits, next] = net->forward(torch::randn({1, kFrame}), state);  // RIGHT: torch-missing-no-grad this thread holds a guard of its own
    peak = std::max(peak, logits.softmax(1).amax().item<double>());
    state = next;  // RIGHT: torch-undetached-hidden-state no graph under the guard
  }
  return peak;
}

// How far the noise floor has moved since the history was recorded.
float drift(std::vector<float> history, const std::vector<float>& fresh) {
  auto before = torch::from_blob(history.data(), {int64_t(history.size())});  // EXPECT: torch-blob-lifetime
  history.insert(history.end(), fresh.begin(), fresh.end());
  auto after = torch::from_blob(history.data(), {int64_t(history.size())});  // RIGHT: torch-blob-lifetime read before the vector changes again
  return (after.mean() - before.mean()).item<float>();
}

torch::Tensor noise_floor(int64_t n) {
  std::vector<float> floor(n, 0.01f);
  return torch::from_blob(floor.data(), {n}).clone();  // RIGHT: torch-blob-lifetime the clone has its own memory
}

}  // namespace

int main(int argc, char** argv) {
  torch::manual_seed(1);
  torch::set_num_threads(1);
  torch::NoGradGuard no_grad;
  Spotter net;
  net->eval();

  constexpr int kShards = 2;
  Queue queues[kShards];
  std::vector<std::thread> threads;
  for (auto& queue : queues)
    threads.emplace_back([&net, &queue] { serve(net, queue); });
  auto night = std::async(std::launch::async, scan, net, 50);

  std::vector<std::future<int64_t>> answers;
  for (int64_t i = 0; i < 60; ++i) {
    auto request = std::make_unique<Request>();
    request->microphone = i % 6;
    request->samples.assign(kFrame, int16_t(100 * i));
    request->levels.assign(kFrame, int32_t(i % 3));
    answers.push_back(request->word.get_future());
    queues[request->microphone % kShards].push(std::move(request));
  }
  int64_t heard = 0;
  for (auto& answer : answers)
    heard += answer.get() != 0;
  for (auto& queue : queues)
    queue.close();
  for (auto& thread : threads)
    thread.join();
  std::printf("%ld words, scan peak %.3f, floor %.3f\n", long(heard), night.get(), noise_floor(8).mean().item<double>());
  if (argc > 2)
    std::printf("drift %.4f\n", drift(std::vector<float>(argc, 0.02f), std::vector<float>(argc, 0.03f)));
}

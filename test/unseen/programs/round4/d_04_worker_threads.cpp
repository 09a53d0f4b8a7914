// Sensor windows are encoded by several threads; nothing is trained in this program.
#include <torch/torch.h>
#include <future>
#include <iostream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace {
constexpr int64_t kChannels = 4;

struct EncoderImpl : torch::nn::Module {
  EncoderImpl()
      : lstm(register_module("lstm", torch::nn::LSTM(torch::nn::LSTMOptions(kChannels, 32).batch_first(true)))),
        drop(register_module("drop", torch::nn::Dropout(0.1))),
        head(register_module("head", torch::nn::Linear(32, 3))) {}
  torch::Tensor all_steps(const torch::Tensor& x) { return std::get<0>(lstm->forward(x)); }
  torch::Tensor forward(const torch::Tensor& x) { return head(drop(all_steps(x).mean(1))); }
  torch::nn::LSTM lstm;
  torch::nn::Dropout drop;
  torch::nn::Linear head;
};
TORCH_MODULE(Encoder);

std::vector<torch::Tensor> answer_all(Encoder& net, const std::vector<torch::Tensor>& windows) {
  torch::NoGradGuard no_grad;
  std::vector<torch::Tensor> answers(windows.size());
  std::vector<std::thread> crew;
  for (size_t i = 0; i < windows.size(); ++i)
    crew.emplace_back([&, i] {
      answers[i] = net->forward(windows[i]);  // EXPECT: torch-thread-local-guard
    });
  for (auto& member : crew) member.join();
  return answers;
}

std::vector<torch::Tensor> answer_all_guarded(Encoder& net, const std::vector<torch::Tensor>& windows) {
  torch::NoGradGuard no_grad;
  std::vector<torch::Tensor> answers(windows.size());
  std::vector<std::thread> crew;
  for (size_t i = 0; i < windows.size(); ++i)
    crew.emplace_back([&, i] {
      torch::NoGradGuard own;
      answers[i] = net->forward(windows[i]);  // RIGHT: torch-thread-local-guard the thread has its own
    });
  for (auto& member : crew) member.join();
  return answers;
}

class Oracle {
 public:
  explicit Oracle(Encoder net) : net_(std::move(net)) { net_->eval(); }

  int64_t ask(const torch::Tensor& window) {
    auto pending = std::async(std::launch::async, [this, window] {
      auto logits = net_->forward(window);  // EXPECT: torch-thread-local-guard
      return logits.argmax(1).sum().item<int64_t>();
    });
    return pending.get();
  }

  int64_t ask_later(const torch::Tensor& window) {
    auto pending = std::async(std::launch::deferred, [this, window] {
      auto logits = net_->forward(window);  // RIGHT: torch-thread-local-guard deferred work runs in the thread that waits
      return logits.argmax(1).sum().item<int64_t>();
    });
    return pending.get();
  }

 private:
  Encoder net_;
  torch::NoGradGuard quiet_;
};

float confidence(Encoder& net, const torch::Tensor& window) {
  static torch::NoGradGuard once;
  return torch::softmax(net->forward(window), 1).max().item<float>();  // EXPECT: torch-thread-local-guard
}

float margin(Encoder& net, const torch::Tensor& window) {
  thread_local torch::NoGradGuard each;
  auto best = std::get<0>(torch::softmax(net->forward(window), 1).topk(2, 1));  // RIGHT: torch-thread-local-guard each thread makes the guard
  return (best.select(1, 0) - best.select(1, 1)).min().item<float>();
}

void encode(Encoder& net, const std::vector<torch::Tensor>& windows, std::vector<torch::Tensor>& last,
            std::vector<torch::Tensor>& first) {
  torch::NoGradGuard no_grad;
  for (const auto& window : windows) {
    auto steps = net->all_steps(window);
    last.push_back(steps.select(1, -1));           // EXPECT: torch-view-pins-storage
    first.push_back(steps.select(1, -2).clone());  // RIGHT: torch-view-pins-storage a copy of the step
  }
}

torch::Tensor empty_histogram() {
  c10::InferenceMode fast;
  return torch::zeros({128});
}

float histogram_of(const std::vector<torch::Tensor>& windows) {
  auto counts = empty_histogram(), own = empty_histogram().clone();
  for (const auto& window : windows) {
    counts.add_(window.histc(128, -3, 3));  // EXPECT: torch-inference-tensor
    own.add_(window.histc(128, -3, 3));     // RIGHT: torch-inference-tensor a clone made outside is an ordinary tensor
  }
  return counts.sum().item<float>() + own.sum().item<float>();
}

torch::Tensor parse(const std::string& line) {
  std::vector<float> numbers;
  std::istringstream words(line);
  for (float number; words >> number;) numbers.push_back(number);
  const auto steps = int64_t(numbers.size()) / kChannels;
  return torch::from_blob(numbers.data(), {1, steps, kChannels}).contiguous();  // EXPECT: torch-blob-lifetime
}

torch::Tensor parse_pair(const std::string& line) {
  std::vector<float> numbers;
  std::istringstream words(line);
  for (float number; words >> number;) numbers.push_back(number);
  const auto steps = int64_t(numbers.size()) / kChannels;
  auto seen = torch::from_blob(numbers.data(), {1, steps, kChannels});  // RIGHT: torch-blob-lifetime cat copies before the numbers go
  return torch::cat({seen, seen.flip(1)});
}
}  // namespace

int main(int argc, char** argv) {
  torch::manual_seed(1);
  std::vector<torch::Tensor> windows;
  for (int i = 0; i < 12; ++i) windows.push_back(torch::randn({8, 20, kChannels}));
  Encoder net;
  net->eval();
  std::cout << answer_all(net, windows)[0].mean().item<float>() << ' '
            << answer_all_guarded(net, windows)[1].mean().item<float>() << '\n';
  std::thread left([&] { std::cout << confidence(net, windows[0]) << '\n'; });
  std::thread right([&] { std::cout << confidence(net, windows[1]) << '\n'; });
  left.join(), right.join();
  std::thread upper([&] { std::cout << margin(net, windows[2]) << '\n'; });
  std::thread lower([&] { std::cout << margin(net, windows[3]) << '\n'; });
  upper.join(), lower.join();
  std::vector<torch::Tensor> last, first;
  encode(net, windows, last, first);
  std::cout << torch::stack(last).mean().item<float>() + torch::stack(first).mean().item<float>() << '\n';
  if (argc > 1) std::cout << histogram_of(windows) << ' ' << parse(argv[1]).sum().item<float>() << '\n';
  std::cout << parse_pair("1 2 3 4 5 6 7 8").sum().item<float>() << '\n';
  Oracle oracle(net);
  std::cout << oracle.ask(windows[2]) << ' ' << oracle.ask_later(windows[3]) << '\n';
}

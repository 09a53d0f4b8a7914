// An inference server for dispatch messages: decoding of requests, worker threads, two networks.
#include <torch/torch.h>

#include <cstdio>
#include <future>
#include <iostream>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

struct TaggerImpl : torch::nn::Module {
  TaggerImpl() {
    entry = register_module("entry", torch::nn::Linear(16, 32));
    drop = register_module("drop", torch::nn::Dropout(0.4));
    verdict = register_module("verdict", torch::nn::Linear(32, 5));
  }
  torch::Tensor forward(const torch::Tensor& x) { return verdict(drop(torch::relu(entry(x)))); }
  torch::nn::Linear entry{nullptr}, verdict{nullptr};
  torch::nn::Dropout drop{nullptr};
};
TORCH_MODULE(Tagger);

// --- decoding ---------------------------------------------------------------------------------

torch::Tensor decodeRow(const std::string& wire) {
  std::vector<float> row(16);
  for (size_t i = 0; i < row.size(); ++i) row[i] = wire[i % wire.size()] / 128.f;
  return torch::from_blob(row.data(), {1, 16});  // EXPECT: torch-blob-lifetime
}

torch::Tensor decodeCopy(const std::string& wire) {
  std::vector<float> row(16);
  for (size_t i = 0; i < row.size(); ++i) row[i] = wire[i % wire.size()] / 128.f;
  return torch::from_blob(row.data(), {1, 16}).clone();  // RIGHT: torch-blob-lifetime (a copy)
}

torch::Tensor decodeBytes(const std::string& wire) {
  auto bytes = torch::from_blob(const_cast<char*>(wire.data()), {static_cast<int64_t>(wire.size())}, torch::kByte);  // RIGHT: torch-blob-dtype (bytes)
  return bytes.to(torch::kFloat);
}

double loadFactor(const std::vector<double>& latencies) {
  auto t = torch::from_blob(const_cast<double*>(latencies.data()), {static_cast<int64_t>(latencies.size())});  // EXPECT: torch-blob-dtype
  return t.mean().item<double>();
}

float peak(const torch::Tensor& scores) {
  const float* cells = (scores * 100).contiguous().data_ptr<float>();  // EXPECT: torch-dangling-data
  float best = cells[0];
  for (int64_t i = 1; i < scores.numel(); ++i) best = std::max(best, cells[i]);
  return best;
}

float first(const torch::Tensor& scores) {
  return *(scores * 100).contiguous().data_ptr<float>();  // RIGHT: torch-dangling-data (used within its statement)
}

// --- models -----------------------------------------------------------------------------------

class Desk {
 public:
  explicit Desk(const std::string& path) {
    torch::load(urgency_, path);
    urgency_->eval();
    torch::load(district_, path);
    urgency_->eval();  // EXPECT: torch-partial-eval-mode
  }
  std::pair<torch::Tensor, torch::Tensor> judge(const torch::Tensor& x) {
    torch::NoGradGuard off;
    return {urgency_->forward(x).argmax(1), district_->forward(x).argmax(1)};
  }

 private:
  Tagger urgency_, district_;
};

std::vector<torch::Tensor> answerAll(Tagger& net, const std::vector<torch::Tensor>& requests) {
  std::vector<torch::Tensor> answers(requests.size());
  torch::NoGradGuard off;
  std::vector<std::thread> crew;
  for (size_t i = 0; i < requests.size(); ++i)
    crew.emplace_back([&, i] {
      answers[i] = net->forward(requests[i]);  // EXPECT: torch-thread-local-guard
    });
  for (auto& t : crew) t.join();
  return answers;
}

int64_t countUrgent(Tagger& net, const std::vector<torch::Tensor>& requests) {
  std::vector<std::future<int64_t>> jobs;
  for (const auto& r : requests)
    jobs.push_back(std::async(std::launch::async, [&net, r] {
      torch::NoGradGuard off;
      return net->forward(r).argmax(1).eq(0).sum().item<int64_t>();  // RIGHT: torch-thread-local-guard, torch-missing-no-grad (a guard of its own)
    }));
  int64_t n = 0;
  for (auto& j : jobs) n += j.get();
  return n;
}

torch::Tensor blankBoard() {
  c10::InferenceMode mode;
  return torch::zeros({8, 5});
}

void decay(int rounds) {
  auto board = blankBoard();
  auto mine = blankBoard().clone();
  for (int r = 0; r < rounds; ++r) {
    mine.mul_(0.9).add_(1);  // RIGHT: torch-inference-tensor (a clone)
    board.mul_(0.9);  // EXPECT: torch-inference-tensor
  }
}

}  // namespace

int main() {
  torch::manual_seed(2);
  const std::string path = "/tmp/e_dispatch_tagger.pt";
  Tagger net;
  torch::save(net, path);
  net->eval();
  std::vector<torch::Tensor> requests;
  for (const std::string& wire : {"fire at pier 4", "cat on roof", "flood, lower market"}) {
    requests.push_back(decodeCopy(wire));
    std::cout << decodeRow(wire).numel() << ' ' << decodeBytes(wire).mean().item<float>() << '\n';
  }
  Desk desk(path);
  auto [urgent, district] = desk.judge(torch::cat(requests));
  std::cout << urgent.sizes() << district.sizes() << ' ' << countUrgent(net, requests) << '\n';
  for (const auto& a : answerAll(net, requests)) std::cout << a.detach().max().item<float>() << ' ' << first(a.detach()) << '\n';
  std::cout << peak(torch::rand({40, 50})) << ' ' << loadFactor({0.5, 1.5, 2.5, 3.5}) << '\n';
  try {
    decay(3);
  } catch (const c10::Error& e) {
    std::cout << e.what_without_backtrace() << '\n';
  }
  std::remove(path.c_str());
}

// A decoder writes token by token, with a cache of the latest ones.

#include <torch/torch.h>

#include <ATen/DeviceAccelerator.h>

#include <iostream>
#include <vector>

namespace {

constexpr int64_t kWidth = 32;
constexpr int64_t kWindow = 24;

const torch::Device kDevice(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU);

class Housekeeping {
 public:
  void tick() {
    if (++ticks_ % 50 == 0 && kDevice.is_cuda())
      at::accelerator::emptyCache();
  }
  int ticks() const { return ticks_; }

 private:
  int ticks_ = 0;
};

class Decoder {
 public:
  Decoder() {
    query_->to(kDevice);
    head_->to(kDevice);
  }

  // The token that follows.
  int64_t next(int64_t token) {
    const auto row = table_.narrow(0, token, 1);
    remember(row);
    const auto weights = torch::softmax(query_->forward(row).mm(rows_.t()), 1);
    return head_->forward(weights.mm(rows_)).argmax(1).item<int64_t>();
  }

  int64_t remembered() const { return rows_.size(0); }

 private:
  void remember(const torch::Tensor& row) {
    if (!rows_.defined()) {
      rows_ = row;
      return;
    }
    // PLANT innocent torch-cat-in-loop/grows loop=W: the cache is cut to the latest rows, and each step reads it
    rows_ = torch::cat({rows_, row});
    if (rows_.size(0) > kWindow)
      rows_ = rows_.narrow(0, rows_.size(0) - kWindow, kWindow);
  }

  torch::Tensor table_ = torch::randn({16, kWidth}, kDevice);
  torch::nn::Linear query_{kWidth, kWidth};
  torch::nn::Linear head_{kWidth, 16};
  torch::Tensor rows_;
};

// How much of each beginning is masked.
double masked(int64_t tokens) {
  double sum = 0;
  for (int64_t length = 1; length <= tokens; ++length) {  // AT V
    // PLANT true torch-varying-shapes/grows loop=V needs=cuda: each mask is larger than all that were freed
    auto mask = torch::zeros({length, 65536}, kDevice);
    mask.select(0, length - 1).fill_(1);
    sum += mask.select(1, 0).sum().item<double>();
  }
  return sum;
}

std::vector<torch::Tensor> readSamples(int64_t count) {
  std::vector<torch::Tensor> samples;
  for (int64_t i = 0; i < count; ++i)
    samples.push_back(torch::full({4096}, static_cast<double>(i)));
  return samples;
}

double score(const std::vector<torch::Tensor>& samples) {
  auto sum = torch::zeros({}, kDevice);
  for (size_t begin = 0; begin + 8 <= samples.size(); begin += 2) {  // AT P
    const auto first = samples.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto batch = torch::stack(std::vector<torch::Tensor>(first, first + 8));
    // PLANT true torch-pageable-transfer/pageable loop=P needs=cuda: stack() gives memory that is not pinned
    const auto there = batch.to(kDevice, /*non_blocking=*/true);
    sum += there.mean();
  }
  return sum.item<double>();
}

}  // namespace

int main() {
  torch::set_num_threads(1);
  torch::manual_seed(0);
  torch::NoGradGuard no_grad;

  Decoder decoder;
  Housekeeping housekeeping;
  int64_t token = 3;
  int64_t sum = 0;
  for (int step = 0; step < 120; ++step) {  // AT W
    token = decoder.next((token + step) % 16);
    sum += token;
    // PLANT innocent torch-empty-cache-in-loop/each-iteration loop=W: only each fiftieth call does it
    housekeeping.tick();
  }
  std::cout << "tokens " << sum << " remembered " << decoder.remembered() << " ticks " << housekeeping.ticks()
            << " masked " << masked(48) << " score " << score(readSamples(90)) << '\n';
  return 0;
}

// Trains for some iterations and prints the processor time of one, in
// microseconds.
//   conv BATCH    a small network of convolutions on images of 32 x 32
//   tiny BATCH    a worst case: three layers of 32 numbers, all cost is calls
//   long 0        eight operations of four numbers each, all of them the
//                 program's own, and every 64th time their graph is kept
//   leak 0        a loss of a few numbers in each iteration, and all graphs are
//                 kept
#include <ctime>
#include <functional>
#include <iostream>
#include <torch/torch.h>

namespace nn = torch::nn;

static double processorTime() {
  timespec Time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &Time);
  return static_cast<double>(Time.tv_sec) * 1e6 +
         static_cast<double>(Time.tv_nsec) / 1e3;
}

// Named, since callgrind counts what is done in here.
__attribute__((noinline)) static void
measured(int Count, const std::function<void()> &Train) {
  for (int I = 0; I < Count; ++I)
    Train();
  asm volatile("");
}

static nn::Conv2d convolution(int From, int To) {
  return nn::Conv2d(nn::Conv2dOptions(From, To, 3).padding(1));
}

static void runLong(int Count) {
  std::vector<torch::Tensor> Kept;
  const auto W = torch::ones({4}, torch::requires_grad());
  double Sum = 0;
  const double Start = processorTime();
  for (int I = 0; I < Count; ++I) {
    auto X = W * 2;
    X = X + 1;
    X = X.relu();
    X = X - 1;
    X = X.sigmoid();
    X = X * X;
    X = X.neg();
    X = X.exp();
    if (I % 64 == 0)
      Kept.push_back(X);
    Sum += X.data_ptr<float>()[0];
  }
  std::cout << (processorTime() - Start) / Count << " " << Sum << "\n";
}

static void runLeak(int Count) {
  std::vector<torch::Tensor> Kept;
  const auto W = torch::ones({4}, torch::requires_grad());
  const double Start = processorTime();
  measured(Count, [&] { Kept.push_back((W * 2).sum()); });
  std::cout << (processorTime() - Start) / Count << " " << Kept.size() << "\n";
}

int main(int, char **Arguments) {
  if (std::string(Arguments[1]) == "leak") {
    torch::set_num_threads(1);
    runLeak(std::atoi(Arguments[3]));
    return 0;
  }
  if (std::string(Arguments[1]) == "long") {
    torch::set_num_threads(1);
    runLong(std::atoi(Arguments[3]));
    return 0;
  }
  const bool IsConv = std::string(Arguments[1]) == "conv";
  const int Batch = std::atoi(Arguments[2]);
  const int Count = std::atoi(Arguments[3]);
  torch::manual_seed(0);
  torch::set_num_threads(1);
  nn::Sequential Net;
  torch::Tensor X;
  if (IsConv) {
    Net = nn::Sequential(convolution(3, 32), nn::BatchNorm2d(32), nn::ReLU(),
                         convolution(32, 32), nn::BatchNorm2d(32), nn::ReLU(),
                         nn::MaxPool2d(2), convolution(32, 64), nn::ReLU(),
                         nn::MaxPool2d(2), nn::Flatten(),
                         nn::Linear(64 * 64, 10));
    X = torch::randn({Batch, 3, 32, 32});
  } else {
    Net = nn::Sequential(nn::Linear(16, 32), nn::ReLU(), nn::Linear(32, 32),
                         nn::ReLU(), nn::Linear(32, 10));
    X = torch::randn({Batch, 16});
  }
  auto Y = torch::randint(0, 10, {Batch}, torch::kLong);
  torch::optim::Adam Optimizer(Net->parameters(), 1e-3);
  double Sum = 0;
  const auto Train = [&] {
    Optimizer.zero_grad();
    auto Loss = torch::nll_loss(torch::log_softmax(Net->forward(X), 1), Y);
    Loss.backward();
    Optimizer.step();
    Sum += Loss.item<double>();
  };
  const int Warm = Count < 20 ? 1 : Count / 10;
  for (int I = 0; I < Warm; ++I)
    Train();
  const double Start = processorTime();
  measured(Count, Train);
  std::cout << (processorTime() - Start) / Count << " " << Sum << "\n";
}

// RUN: %check_torch %s torch-thread-local-guard %t
//
// Guards that are made once: those of namespace scope by the thread that begins
// the program, those in a function by the first thread that comes there.

#include <thread>
#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;

static torch::NoGradGuard everywhere;

static void work(Linear net) {
  static torch::NoGradGuard no_grad;
  for (int i = 0; i < 100; ++i)
    std::cout << net->forward(torch::rand({1, 4}));
  // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: forward pass of 'net' records a graph that no backward() runs (memory, time): grad mode is thread-local, and a static guard holds only in the first of the threads that run this; make the guard a local variable [torch-thread-local-guard]
}

void inThreads(Linear net) {
  std::vector<std::thread> workers;
  for (int i = 0; i < 4; ++i)
    workers.emplace_back(work, net);
  for (std::thread &worker : workers)
    worker.join();
}

// Two threads with code of their own come by the same guard.
static float askedByBoth(Linear net) {
  static torch::NoGradGuard no_grad;
  return net->forward(torch::rand({1, 4})).sum().item<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: forward pass of 'net' records a graph that no backward() runs (memory, time): grad mode is thread-local, and a static guard holds only in the first of the threads that run this; make the guard a local variable [torch-thread-local-guard]
}

void inTwoThreads(Linear net) {
  std::thread left([&] { std::cout << askedByBoth(net) << " left\n"; });
  std::thread right([&] { std::cout << askedByBoth(net) << " right\n"; });
  left.join();
  right.join();
}

// One thread, and a second that comes by another guard.
static float askedByOne(Linear net) {
  static torch::NoGradGuard no_grad;
  return net->forward(torch::rand({1, 4})).sum().item<float>();
}

static float askedByOther(Linear net) {
  static torch::NoGradGuard no_grad;
  return net->forward(torch::rand({1, 4})).sum().item<float>();
}

void eachHasItsOwn(Linear net) {
  std::thread left([&] { std::cout << askedByOne(net) << " left\n"; });
  std::thread right([&] { std::cout << askedByOther(net) << " right\n"; });
  left.join();
  right.join();
}

static void guardedOnce(Linear net) {
  static torch::NoGradGuard no_grad;
  std::cout << net->forward(torch::rand({1, 4}));
}

// One thread makes it, and is the only one.
void inOneThread(Linear net) {
  std::thread worker(guardedOnce, net);
  worker.join();
}

static void ofEach(Linear net) {
  static thread_local torch::NoGradGuard no_grad;
  std::cout << net->forward(torch::rand({1, 4}));
}

void eachHasOne(Linear net) {
  for (int i = 0; i < 4; ++i)
    std::thread(ofEach, net).detach();
}

static void both(Linear net) {
  static torch::NoGradGuard first;
  torch::NoGradGuard second;
  std::cout << net->forward(torch::rand({1, 4}));
}

void guardedAsWell(Linear net) {
  for (int i = 0; i < 4; ++i)
    std::thread(both, net).detach();
}

int main() {
  Linear net(4, 2);
  std::cout << net->forward(torch::rand({1, 4}));
  std::thread worker([&] { std::cout << net->forward(torch::rand({1, 4})); });
  // CHECK-MESSAGES: :[[@LINE-1]]:41: warning: forward pass of 'net' records a graph that no backward() runs (memory, time): grad mode is thread-local, and the guard of the thread that starts this one does not hold in it
  worker.join();
}

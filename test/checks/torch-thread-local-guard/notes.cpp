// RUN: %check_torch %s torch-thread-local-guard %t
//
// Where the guard is, and where the thread.

#include <functional>
#include <thread>
#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;

static Tensor predict(Linear &net, const Tensor &x) { return net->forward(x); }

void started(Linear first, Linear second, Tensor x) {
  torch::NoGradGuard no_grad;
  std::thread worker([&] {
    std::cout << predict(first, x);
    std::cout << second->forward(x);
  });
  worker.join();
}
// CHECK-NOTES: :[[@LINE-5]]:18: warning: forward pass of 'net' records a graph
// CHECK-NOTES: :[[@LINE-11]]:62: note: it is this one
// CHECK-NOTES: :[[@LINE-9]]:22: note: grad mode is off here, for this thread
// CHECK-NOTES: :[[@LINE-9]]:15: note: the thread starts here
// CHECK-NOTES: :[[@LINE-8]]:18: note: this forward pass does so as well

struct Pool {
  Pool() { thread = std::thread([this] { task(); }); }
  void submit(std::function<void()> given) { task = given; }
  std::thread thread;
  std::function<void()> task;
};
void task(Linear net, Tensor x) {
  Pool pool;
  torch::NoGradGuard no_grad;
  pool.submit([&] { std::cout << net->forward(x); });
}
// CHECK-NOTES: :[[@LINE-2]]:34: warning: forward pass of 'net' records a graph
// CHECK-NOTES: :[[@LINE-4]]:22: note: grad mode is off here, for this thread
// CHECK-NOTES: :[[@LINE-4]]:3: note: the task is handed out here

static void once(Linear net, Tensor x) {
  static torch::NoGradGuard no_grad;
  std::cout << net->forward(x);
}
void threads(Linear net, Tensor x) {
  for (int i = 0; i < 4; ++i)
    std::thread(once, net, x).detach();
}
// CHECK-NOTES: :[[@LINE-6]]:16: warning: forward pass of 'net' records a graph
// CHECK-NOTES: :[[@LINE-8]]:29: note: it is made here, once
// CHECK-NOTES: :[[@LINE-4]]:5: note: the thread starts here

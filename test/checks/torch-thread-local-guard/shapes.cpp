// RUN: %check_torch %s torch-thread-local-guard %t
//
// Forward passes in threads, and the guard in the thread that starts them.

#include <future>
#include <thread>
#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;

void thread(Linear net, Tensor x) {
  torch::NoGradGuard no_grad;
  Tensor y;
  std::thread worker([&] { y = net->forward(x); });
  // CHECK-MESSAGES: :[[@LINE-1]]:32: warning: forward pass of 'net' records a graph that no backward() runs (memory, time): grad mode is thread-local, and the guard of the thread that starts this one does not hold in it; put 'torch::NoGradGuard no_grad;' before it, in this thread [torch-thread-local-guard]
  worker.join();
}

// All that a function of the thread runs is one finding.
void several(Linear first, Linear second, const std::vector<Tensor> &xs) {
  c10::InferenceMode guard;
  std::vector<std::thread> workers;
  for (const Tensor &x : xs)
    workers.emplace_back([&] {
      // CHECK-FIXES: {{^}}    workers.emplace_back([&] {
      // CHECK-FIXES-NEXT: {{^}}      torch::NoGradGuard no_grad;
      const Tensor hidden = first->forward(x);
      // CHECK-MESSAGES: :[[@LINE-1]]:29: warning: forward pass of 'first' records a graph that no backward() runs (memory, time), and throws for a tensor made in inference mode: grad mode is thread-local
      std::cout << second->forward(hidden);
    });
  for (std::thread &worker : workers)
    worker.join();
}

// In a function that the thread calls: it is the thread that has no guard.
static Tensor predict(Linear &net, const Tensor &x) { return net->forward(x); }
static void answer(Linear net, const std::vector<Tensor> &xs) {
  // CHECK-FIXES: {{^}}static void answer(
  // CHECK-FIXES-NEXT: {{^}}  torch::NoGradGuard no_grad;
  for (const Tensor &x : xs)
    std::cout << predict(net, x).argmax(1);
  // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: forward pass of 'net' records a graph
}
void function(Linear net, const std::vector<Tensor> &xs) {
  torch::NoGradGuard no_grad;
  std::cout << predict(net, xs[0]);
  std::thread worker(answer, net, xs);
  worker.join();
}

// The guard is in a caller.
static Tensor inBackground(Linear net, Tensor x) {
  auto y = std::async(std::launch::async, [&] { return net->forward(x); });
  // CHECK-MESSAGES: :[[@LINE-1]]:56: warning: forward pass of 'net' records a graph
  return y.get();
}
void caller(Linear net, Tensor x) {
  torch::NoGradGuard no_grad;
  std::cout << inBackground(net, x);
}

// Nobody says when it runs; where it is put off, it runs under the guard.
void anyLaunch(Linear net, Tensor x) {
  torch::AutoGradMode off(false);
  auto y = std::async([&] { return net->forward(x).sum().item<float>(); });
  // CHECK-MESSAGES: :[[@LINE-1]]:36: warning: forward pass of 'net' records a graph
  std::cout << y.get();
}

// The guard lives as long as the object, and holds for the thread that made it.
class Server {
public:
  explicit Server(Linear net) : net(net) {
    thread = std::thread(&Server::run, this);
  }

private:
  void run() {
    for (;;)
      std::cout << net->forward(torch::rand({1, 4})).argmax();
    // CHECK-MESSAGES: :[[@LINE-1]]:20: warning: forward pass of 'net' records a graph
  }

  torch::NoGradGuard no_grad;
  Linear net;
  std::thread thread;
};

void serve() {
  Server server(Linear(4, 2));
}

// On the heap.
void heap(Linear net, Tensor x) {
  auto guard = std::make_unique<torch::NoGradGuard>();
  std::thread worker([&] { std::cout << net->forward(x); });
  // CHECK-MESSAGES: :[[@LINE-1]]:41: warning: forward pass of 'net' records a graph
  worker.join();
}

// A helper that others train through.
static Tensor sample(Linear &net, const Tensor &x) { return x - net->forward(x); }
struct Sampler {
  Linear net{4, 4};
  Tensor last;
  std::thread worker;
  void learn(const Tensor &x) { sample(net, x).sum().backward(); }
  void start() {
    net->eval();
    torch::NoGradGuard no_grad;
    worker = std::thread(&Sampler::serve, this);
  }
  void serve() {
    last = sample(net, torch::rand({1, 4})).cpu();
    // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: forward pass of
  }
};
void sampling() {
  Sampler server;
  server.learn(torch::rand({1, 4}));
  server.start();
  server.worker.join();
  std::cout << server.last;
}

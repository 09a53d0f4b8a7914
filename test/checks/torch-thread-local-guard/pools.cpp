// RUN: %check_torch %s torch-thread-local-guard %t
//
// Tasks of a pool: the guard is where they are handed out.

#include <c10/core/thread_pool.h>
#include <condition_variable>
#include <functional>
#include <future>
#include <mutex>
#include <queue>
#include <thread>
#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;

class Pool {
public:
  explicit Pool(int size) {
    for (int i = 0; i < size; ++i)
      threads.emplace_back([this] { run(); });
  }
  ~Pool() {
    for (std::thread &thread : threads)
      thread.join();
  }
  void submit(std::function<void()> task) {
    {
      std::lock_guard<std::mutex> lock(mutex);
      tasks.push(std::move(task));
    }
    arrived.notify_one();
  }

private:
  void run() {
    for (;;) {
      std::function<void()> task;
      {
        std::unique_lock<std::mutex> lock(mutex);
        arrived.wait(lock, [this] { return !tasks.empty(); });
        task = std::move(tasks.front());
        tasks.pop();
      }
      task();
    }
  }

  std::vector<std::thread> threads;
  std::queue<std::function<void()>> tasks;
  std::mutex mutex;
  std::condition_variable arrived;
};

void handedOut(Linear net, const std::vector<Tensor> &xs) {
  Pool pool(4);
  torch::NoGradGuard no_grad;
  for (const Tensor &x : xs)
    pool.submit([&] {
      // CHECK-FIXES: {{^}}    pool.submit([&] {
      // CHECK-FIXES-NEXT: {{^}}      torch::NoGradGuard no_grad;
      std::cout << net->forward(x).argmax(1);
      // CHECK-MESSAGES: :[[@LINE-1]]:20: warning: forward pass of 'net' records a graph that no backward() runs (memory, time): grad mode is thread-local, and the guard where the task is handed out does not hold in the thread that runs it; put 'torch::NoGradGuard no_grad;' before it, in this thread [torch-thread-local-guard]
    });
}

void library(Linear net, Tensor x) {
  c10::ThreadPool pool(2);
  torch::NoGradGuard no_grad;
  pool.run([&] { std::cout << net->forward(x); });
  // CHECK-MESSAGES: :[[@LINE-1]]:31: warning: forward pass of 'net' records a graph
  pool.waitWorkComplete();
}

// Tasks that return something, wrapped twice.
class Futures {
public:
  explicit Futures(int size) {
    for (int i = 0; i < size; ++i)
      threads.emplace_back([this] {
        for (;;) {
          std::function<void()> task = std::move(tasks.front());
          tasks.pop();
          task();
        }
      });
  }
  template <class F, class... Args> auto submit(F &&f, Args &&...args) {
    using Result = std::invoke_result_t<F, Args...>;
    auto task = std::make_shared<std::packaged_task<Result()>>(
        std::bind(std::forward<F>(f), std::forward<Args>(args)...));
    auto result = task->get_future();
    tasks.emplace([task] { (*task)(); });
    return result;
  }

private:
  std::vector<std::thread> threads;
  std::queue<std::function<void()>> tasks;
};

void wrapped(Linear net, Tensor x) {
  Futures pool(2);
  torch::NoGradGuard no_grad;
  auto result = pool.submit([&] { return net->forward(x); });
  // CHECK-MESSAGES: :[[@LINE-1]]:42: warning: forward pass of 'net' records a graph
  std::cout << result.get();
}

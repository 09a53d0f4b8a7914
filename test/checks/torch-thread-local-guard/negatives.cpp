// RUN: %check_torch %s torch-thread-local-guard %t
//
// Threads that look unguarded and are not, and those that train.

#include <ATen/Parallel.h>
#include <ATen/ThreadLocalState.h>
#include <functional>
#include <future>
#include <queue>
#include <thread>
#include <torch/script.h>
#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;
using torch::optim::SGD;

void guarded(Linear net, Tensor x) {
  torch::NoGradGuard no_grad;
  std::thread worker([&] {
    torch::NoGradGuard own;
    std::cout << net->forward(x);
  });
  worker.join();
}

// The guard is in what the thread calls, in a class of the user's, in a macro.
static Tensor predict(Linear &net, const Tensor &x) {
  c10::InferenceMode guard;
  return net->forward(x);
}
struct Quiet {
  torch::NoGradGuard guard;
};
#define NO_GRAD torch::NoGradGuard no_grad_in_macro
void guardedBelow(Linear net, Tensor x) {
  torch::NoGradGuard no_grad;
  std::thread first([&] { std::cout << predict(net, x); });
  std::thread second([&] {
    Quiet quiet;
    std::cout << net->forward(x);
  });
  std::thread third([&] {
    NO_GRAD;
    std::cout << net->forward(x);
  });
  std::thread fourth([&] {
    torch::GradMode::set_enabled(false);
    std::cout << net->forward(x);
  });
  first.join(), second.join(), third.join(), fourth.join();
}

// A class, or a function, that lies in another file may be a guard.
class Switch {
public:
  Switch();
  ~Switch();
};
void quietly(bool quiet);
void unseenGuard(Linear net, Tensor x) {
  torch::NoGradGuard no_grad;
  std::thread first([&] {
    Switch off;
    std::cout << net->forward(x);
  });
  std::thread second([&] {
    quietly(true);
    std::cout << net->forward(x);
  });
  first.join(), second.join();
}

// Somebody has asked for it.
void askedFor(Linear net, Tensor x) {
  torch::NoGradGuard no_grad;
  std::thread worker([&] {
    torch::AutoGradMode on(true);
    std::cout << net->forward(x).grad_fn()->name();
  });
  worker.join();
}

// No guard anywhere: torch-missing-no-grad may speak.
void noGuard(Linear net, Tensor x) {
  std::thread worker([&] { std::cout << net->forward(x); });
  worker.join();
}
void endedBefore(Linear net, Tensor x) {
  { torch::NoGradGuard no_grad; }
  std::thread worker([&] { std::cout << net->forward(x); });
  worker.join();
}
void maybe(Linear net, Tensor x, bool train) {
  torch::AutoGradMode mode(train);
  std::thread worker([&] { std::cout << net->forward(x); });
  worker.join();
}

// These carry the grad mode with them, or run in the thread that waits.
void carried(Linear net, Tensor x) {
  torch::NoGradGuard no_grad;
  at::launch([=]() mutable { std::cout << net->forward(x); });
  auto later = std::async(std::launch::deferred,
                          [&] { return net->forward(x).sum().item<float>(); });
  std::cout << later.get();
  std::for_each(&x, &x + 1,
                [&](const Tensor &each) { std::cout << net->forward(each); });
  at::ThreadLocalState state;
  std::thread worker([&] {
    at::ThreadLocalStateGuard guard(state);
    std::cout << net->forward(x);
  });
  worker.join();
}

// Without OpenMP one thread does all of it.
void serial(Linear net, std::vector<Tensor> xs) {
  torch::NoGradGuard no_grad;
  at::parallel_for(0, xs.size(), 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      std::cout << net->forward(xs[i]);
  });
}

// The threads train, whatever the one that starts them does.
void trained(Linear net, Tensor x) {
  torch::NoGradGuard no_grad;
  std::thread worker([&] {
    SGD optimizer(net->parameters(), 0.1);
    for (int i = 0; i < 100; ++i) {
      optimizer.zero_grad();
      net->forward(x).sum().backward();
      optimizer.step();
    }
  });
  worker.join();
}
void trainedOutside(Linear net, Tensor x) {
  std::future<Tensor> y;
  {
    torch::NoGradGuard no_grad;
    y = std::async(std::launch::async, [&] { return net->forward(x); });
  }
  y.get().sum().backward();
}
void collected(Linear net, const std::vector<Tensor> &xs) {
  std::vector<Tensor> ys(xs.size());
  {
    torch::NoGradGuard no_grad;
    std::vector<std::thread> workers;
    for (size_t i = 0; i < xs.size(); ++i)
      workers.emplace_back([&, i] { ys[i] = net->forward(xs[i]); });
    for (std::thread &worker : workers)
      worker.join();
  }
  torch::stack(ys).sum().backward();
}

// Nobody can see what becomes of it.
void givenAway(const Tensor &y);
void unseen(Linear net, Tensor x) {
  torch::NoGradGuard no_grad;
  std::thread worker([&] { givenAway(net->forward(x)); });
  worker.join();
}

// Nothing to record.
void frozen(Linear net, Tensor x) {
  for (Tensor &p : net->parameters())
    p.requires_grad_(false);
  torch::NoGradGuard no_grad;
  std::thread worker([&] { std::cout << net->forward(x); });
  worker.join();
}
void withoutParameters(Tensor x) {
  torch::nn::ReLU relu;
  torch::NoGradGuard no_grad;
  std::thread worker([&] { std::cout << relu->forward(x); });
  worker.join();
}

// A guard in the function that all threads of the pool begin with; and a task
// that is handed out without one, too.
class Pool {
public:
  Pool(bool) {
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([this] {
        torch::NoGradGuard no_grad;
        for (;;)
          run();
      });
  }
  void submit(std::function<void()> task) { tasks.push(std::move(task)); }
  void run() {
    auto task = std::move(tasks.front());
    tasks.pop();
    task();
  }
  std::queue<std::function<void()>> tasks;
  std::vector<std::thread> threads;
};
void pool(Linear net, Tensor x) {
  Pool pool(true);
  torch::NoGradGuard no_grad;
  pool.submit([&] { std::cout << net->forward(x); });
}
class Threads {
public:
  Threads() {
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([this] {
        for (;;) {
          auto task = std::move(tasks.front());
          tasks.pop();
          task();
        }
      });
  }
  void submit(std::function<void()> task) { tasks.push(std::move(task)); }
  std::queue<std::function<void()>> tasks;
  std::vector<std::thread> threads;
};
void sometimes(Linear net, Tensor x, bool quiet) {
  Threads threads;
  auto task = [&] { std::cout << net->forward(x); };
  threads.submit(task);
  torch::NoGradGuard no_grad;
  threads.submit(task);
}
void submitter(Linear net, Tensor x) {
  Threads threads;
  threads.submit([&] { std::cout << net->forward(x); });
  torch::NoGradGuard no_grad;
  std::cout << net->forward(x);
}

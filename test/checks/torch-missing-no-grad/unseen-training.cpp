// RUN: %check_torch %s torch-missing-no-grad %t -still-warns
//
// Code that lies in another file may train: a guard that is around its call would make its
// backward() throw. So no guard is put around what gets a module or an optimizer, what a pass
// with a graph is given to, or what is called for nothing but what it does.

#include <chrono>
#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;

struct Logger {
  virtual ~Logger() = default;
  virtual void addScalar(const std::string &name, float value) = 0;
};

struct Rollouts {
  std::vector<Tensor> states;
  void add(const Tensor &state, float value);
  void clear();
};

// Its methods lie elsewhere: train() steps.
class Trainer {
public:
  explicit Trainer(Linear net);
  void train(const Rollouts &rollouts);

private:
  std::shared_ptr<torch::optim::Adam> optimizer;
};

class Stopwatch {
public:
  explicit Stopwatch(std::string name);
  void lap();

private:
  std::string name;
  std::vector<std::pair<int, double>> laps;
  std::chrono::steady_clock::time_point start;
  void *events[2];
};

class Loop {
public:
  Loop();
  ~Loop();
  void turn();

private:
  struct Parts;
  std::unique_ptr<Parts> parts;
};

struct Algorithm {
  virtual ~Algorithm() = default;
  virtual void learn() = 0;
};

void fit(Linear net, const Tensor &batch);
void backpropagate(const Tensor &loss);
Tensor observe(int environment);

// The trainer is called in the loop of iterations: the guard goes into the loop before it, and
// what only collects and writes a log is under it.
// CHECK-FIXES: static void collects(
// CHECK-FIXES-NOT: NoGradGuard
// CHECK-FIXES: for (int step = 0; step < 200; ++step) {{\{[[:space:]]*}}torch::NoGradGuard no_grad;
static void collects(Linear net, Trainer &trainer, Logger &logger) {
  Rollouts rollouts;
  for (int iteration = 0; iteration < 100; ++iteration) {
    net->eval();
    for (int step = 0; step < 200; ++step) {
      Tensor state = observe(step);
      float value = net->forward(state).item<float>();
      // CHECK-MESSAGES: :[[@LINE-1]]:21: warning: forward pass of 'net' keeps all intermediate results for a backward() that never comes (memory, time); put 'torch::NoGradGuard no_grad;' before it
      logger.addScalar("value", value);
      rollouts.add(state, value);
    }
    net->train();
    trainer.train(rollouts);
  }
}

// A function gets the network.
// CHECK-FIXES: static void validates(
// CHECK-FIXES-NOT: NoGradGuard
// CHECK-FIXES: for (const Tensor &batch : valid) {{\{[[:space:]]*}}torch::NoGradGuard no_grad;
static void validates(Linear net, const std::vector<Tensor> &train,
                      const std::vector<Tensor> &valid) {
  for (const Tensor &batch : train)
    fit(net, batch);
  net->eval();
  float sum = 0;
  for (const Tensor &batch : valid) {
    sum += net->forward(batch).sum().item<float>();
    // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: forward pass of 'net' {{.*}}; put 'torch::NoGradGuard no_grad;' before it
  }
  std::cout << sum;
}

// Through a function that is seen.
static void epoch(Trainer &trainer, const Rollouts &rollouts) {
  trainer.train(rollouts);
}

// CHECK-FIXES: static void throughSeen(
// CHECK-FIXES-NOT: NoGradGuard
// CHECK-FIXES: if (i % 10 == 0) {{\{[[:space:]]*}}torch::NoGradGuard no_grad;
static void throughSeen(Linear net, Trainer &trainer, const Tensor &sample) {
  Rollouts rollouts;
  for (int i = 0; i < 100; ++i) {
    epoch(trainer, rollouts);
    if (i % 10 == 0) {
      net->eval();
      std::cout << net->forward(sample).max().item<float>();
      // CHECK-MESSAGES: :[[@LINE-1]]:20: warning: forward pass of 'net' {{.*}}; put 'torch::NoGradGuard no_grad;' before it
      net->train();
    }
  }
}

// A stop watch holds times and a name: it trains nothing.
// CHECK-FIXES: static void timed(Linear net, const std::vector<Tensor> &valid) {{\{[[:space:]]*}}torch::NoGradGuard no_grad;
static void timed(Linear net, const std::vector<Tensor> &valid) {
  Stopwatch watch("validation");
  net->eval();
  float sum = 0;
  for (const Tensor &batch : valid) {
    sum += net->forward(batch).sum().item<float>();
    // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: forward pass of 'net' {{.*}}; put 'torch::NoGradGuard no_grad;' before it
    watch.lap();
  }
  std::cout << sum;
}

// What it points to is in another file.
// CHECK-FIXES: static void besidePointer(
// CHECK-FIXES-NOT: NoGradGuard
static void besidePointer(Linear net, Loop &loop, const Tensor &sample) {
  for (int i = 0; i < 100; ++i) {
    net->eval();
    std::cout << net->forward(sample).max().item<float>();
    // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: forward pass of 'net' {{.*}}; put it into a scope of its own that begins with 'torch::NoGradGuard no_grad;'
    loop.turn();
  }
}

// In the same block: no guard can be put at its start.
// CHECK-FIXES: static void besideInterface(
// CHECK-FIXES-NOT: NoGradGuard
static void besideInterface(Linear net, Algorithm &algorithm,
                            const Tensor &sample) {
  for (int i = 0; i < 100; ++i) {
    net->eval();
    std::cout << net->forward(sample).max().item<float>();
    // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: forward pass of 'net' {{.*}}; put it into a scope of its own that begins with 'torch::NoGradGuard no_grad;'
    algorithm.learn();
  }
}

// A loss is given to code that is not seen.
static void besideLoss(Linear net, const Tensor &batch, const Tensor &sample) {
  for (int i = 0; i < 100; ++i) {
    net->train();
    backpropagate(net->forward(batch).mean());
    net->eval();
    std::cout << net->forward(sample).max().item<float>();
    // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: forward pass of 'net' {{.*}}; put it into a scope of its own that begins with 'torch::NoGradGuard no_grad;'
  }
}

// Nothing here gets what is trained: the whole function.
// CHECK-FIXES: static float reads(Linear net, const std::vector<Tensor> &valid) {{\{[[:space:]]*}}torch::NoGradGuard no_grad;
static float reads(Linear net, const std::vector<Tensor> &valid) {
  net->eval();
  float sum = 0;
  for (size_t i = 0; i < valid.size(); ++i) {
    sum += net->forward(observe(static_cast<int>(i))).sum().item<float>();
    // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: forward pass of 'net'
  }
  return sum;
}

std::unique_ptr<Logger> makeLogger();
std::unique_ptr<Algorithm> makeAlgorithm();

int main() {
  Linear net(8, 1);
  Trainer trainer(net);
  const auto logger = makeLogger();
  const auto algorithm = makeAlgorithm();
  const std::vector<Tensor> batches{observe(0), observe(1)};
  collects(net, trainer, *logger);
  validates(net, batches, batches);
  throughSeen(net, trainer, batches[0]);
  timed(net, batches);
  Loop loop;
  besidePointer(net, loop, batches[0]);
  besideInterface(net, *algorithm, batches[0]);
  besideLoss(net, batches[0], batches[1]);
  std::cout << reads(net, batches);
}

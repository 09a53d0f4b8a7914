// RUN: %check_torch %s torch-retained-graph %t
//
// What the caller passes by address or reference gets the sum with its graph:
// the caller goes backward. A thread that is kept has the address of a tensor.

#include <mutex>
#include <thread>
#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;

void episode(Linear net, Tensor state, int steps, Tensor *loss,
             std::mutex &mutex) {
  Tensor probabilities = torch::empty({steps});
  Tensor goods = state.clone();
  for (int t = 0; t < steps; ++t) {
    Tensor p = net->forward(goods).sum();
    probabilities[t] = p;
    goods = goods + p;
  }
  std::lock_guard<std::mutex> lock(mutex);
  *loss += (probabilities * probabilities.detach()).sum();
}

void episodes(Linear net, Tensor state, int steps, Tensor &loss) {
  Tensor sum = torch::zeros({});
  for (int t = 0; t < steps; ++t)
    sum = sum + net->forward(state).sum();
  loss = loss + sum;
}

// Only a number goes there.
void report(Linear net, Tensor state, int steps, Tensor &loss) {
  Tensor sum = torch::zeros({});
  for (int t = 0; t < steps; ++t) {
    Tensor step = net->forward(state).sum();
    sum = sum + step;
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: adding 'step' to 'sum' keeps what backward() would need of all iterations (their autograd graphs)
  }
  loss.fill_(sum.item<double>());
}

void train(Linear net, torch::optim::SGD &optimizer, Tensor state) {
  std::mutex mutex;
  for (int epoch = 0; epoch < 100; ++epoch) {
    optimizer.zero_grad();
    Tensor loss = torch::zeros({});
    std::vector<std::thread> threads, others;
    for (int i = 0; i < 4; ++i) {
      threads.push_back(std::thread(episode, net, state, 4, &loss, std::ref(mutex)));
      others.emplace_back(episode, net, state, 4, &loss, std::ref(mutex));
    }
    for (auto &each : threads)
      each.join();
    for (auto &each : others)
      each.join();
    loss.backward();
    optimizer.step();
  }
}

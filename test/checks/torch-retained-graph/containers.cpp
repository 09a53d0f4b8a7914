// RUN: %check_torch %s torch-retained-graph %t
//
// A tensor with history is put into a container that outlives the iteration:
// the kinds of containers and of insertions.

#include <torch/torch.h>

#include <deque>
#include <list>
#include <map>
#include <unordered_map>

using torch::Tensor;
using torch::nn::Linear;

void pushBack(Linear net, torch::optim::SGD &opt, Tensor x, Tensor y) {
  std::vector<torch::Tensor> losses;
  for (int i = 0; i < 100; ++i) {
    opt.zero_grad();
    auto loss = torch::mse_loss(net->forward(x), y);
    loss.backward();
    opt.step();
    losses.push_back(loss);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: tensor 'loss' kept in 'losses' keeps what its backward() would need (its autograd graph) for every iteration, so memory grows with each; store 'loss.item<float>()' or 'loss.detach()' [torch-retained-graph]
  }
  for (const auto &l : losses)
    std::cout << l.item<float>() << '\n';
}

// No backward() at all: the whole graph stays, not only its nodes.
static void evaluation(Linear net, const std::vector<Tensor> &xs) {
  std::deque<Tensor> outputs;
  for (const auto &x : xs) {
    auto output = torch::relu(net->forward(x));
    outputs.push_front(output);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: tensor 'output' kept in 'outputs' keeps what its backward() would need (its autograd graph) for every iteration
  }
  std::cout << outputs.size() << '\n';
}

static void emplaceBackMoved(Linear net, Tensor x, Tensor y) {
  std::vector<Tensor> history;
  for (int i = 0; i < 100; ++i) {
    Tensor loss = torch::mse_loss(net->forward(x), y);
    std::cout << loss.item<float>() << '\n';
    // Moving the handle does not drop the graph.
    history.emplace_back(std::move(loss));
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: tensor 'loss' kept in 'history' keeps what its backward() would need (its autograd graph) for every iteration
  }
}

void insertAtEnd(Linear net, Tensor x, Tensor y) {
  std::list<Tensor> history;
  int i = 0;
  while (i++ < 100) {
    auto loss = torch::mse_loss(net->forward(x), y);
    loss.backward();
    history.insert(history.end(), loss);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: tensor 'loss' kept in 'history' keeps what its backward() would need (its autograd graph) for every iteration
  }
}

// No name for the tensor.
static void unnamed(Linear net, const std::vector<Tensor> &xs) {
  std::vector<Tensor> features;
  for (const auto &x : xs)
    features.push_back(net->forward(x));
  // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: tensor kept in 'features' keeps what its backward() would need (its autograd graph) for every iteration, so memory grows with each; store '.item<float>()' or '.detach()' of it
  std::cout << features.size() << '\n';
}

// A key of its own for each iteration.
void freshKeys(Linear net, Tensor x, Tensor y) {
  std::map<int, Tensor> byStep;
  std::unordered_map<std::string, Tensor> byName;
  for (int i = 0; i < 100; ++i) {
    auto loss = torch::mse_loss(net->forward(x), y);
    loss.backward();
    byStep[i] = loss;
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: tensor 'loss' kept in 'byStep' keeps what its backward() would need (its autograd graph) for every iteration
    byName.emplace("step" + std::to_string(i), loss);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: tensor 'loss' kept in 'byName' keeps what its backward() would need (its autograd graph) for every iteration
  }
}

static void subscript(Linear net, const std::vector<Tensor> &xs) {
  // The vector does not grow, the graphs in it do.
  std::vector<Tensor> scores(xs.size());
  for (size_t i = 0; i < xs.size(); ++i) {
    auto score = net->forward(xs[i]).sum();
    scores[i] = score;
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: tensor 'score' kept in 'scores' keeps what its backward() would need (its autograd graph) for every iteration
  }
  for (const auto &score : scores)
    std::cout << score.item<float>() << '\n';
}

static void nestedContainers(Linear net, const std::vector<Tensor> &xs) {
  std::array<std::vector<Tensor>, 2> perClass;
  for (size_t i = 0; i < xs.size(); ++i) {
    auto score = net->forward(xs[i]);
    perClass[i % 2].push_back(score);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: tensor 'score' kept in '{{.*}}perClass{{.*}}' keeps what its backward() would need (its autograd graph) for every iteration
  }
}

void listOfTorch(Linear net, Tensor x, Tensor y) {
  c10::List<Tensor> losses;
  for (int i = 0; i < 100; ++i) {
    auto loss = torch::mse_loss(net->forward(x), y);
    loss.backward();
    losses.push_back(loss);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: tensor 'loss' kept in 'losses' keeps what its backward() would need (its autograd graph) for every iteration
  }
}

// Stacked after the loop, but only read: the graphs were built for nothing.
static void stackedAndRead(Linear net, const std::vector<Tensor> &xs,
                           Tensor y) {
  std::vector<Tensor> losses;
  for (const auto &x : xs) {
    auto loss = torch::mse_loss(net->forward(x), y);
    losses.push_back(loss);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: tensor 'loss' kept in 'losses' keeps what its backward() would need (its autograd graph) for every iteration
  }
  std::cout << torch::stack(losses).mean().item<float>() << '\n';
}

// Where nothing is backwarded, the callers are known: no guard is in force.
int main() {
  Linear net(8, 2);
  std::vector<Tensor> xs{torch::rand({4, 8}), torch::rand({4, 8})};
  auto y = torch::rand({4, 2});
  evaluation(net, xs);
  emplaceBackMoved(net, xs[0], y);
  unnamed(net, xs);
  subscript(net, xs);
  nestedContainers(net, xs);
  stackedAndRead(net, xs, y);
}

// RUN: %check_torch %s torch-retained-graph %t
//
// The tensor is carried: in a struct, tuple or pair, through a copy or a view,
// in a callback, or as its node alone.

#include <torch/script.h>
#include <torch/torch.h>

#include <functional>

using torch::Tensor;
using torch::nn::Linear;

struct Transition {
  Tensor state, logProb;
  float reward;
};

static void structs(Linear policy, Tensor state) {
  std::vector<Transition> memory;
  for (int step = 0; step < 1000; ++step) {
    auto logProb = torch::log_softmax(policy->forward(state), -1).max();
    memory.push_back({state, logProb, 1.0f});
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: tensor {{.*}}kept in 'memory' keeps what its backward() would need (its autograd graph) for every iteration
  }
  std::cout << memory.size() << '\n';
}

static void namedStruct(Linear policy, Tensor state) {
  std::vector<Transition> memory;
  for (int step = 0; step < 1000; ++step) {
    Transition t;
    t.state = state;
    t.logProb = torch::log_softmax(policy->forward(state), -1).max();
    t.reward = 1.0f;
    memory.push_back(t);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: 't' kept in 'memory' keeps what its backward() would need (its autograd graph) for every iteration, so memory grows with each; store it with '.detach()' of its tensors [torch-retained-graph]
  }
  std::cout << memory.size() << '\n';
}

void pairs(Linear net, Tensor x, Tensor y) {
  std::vector<std::pair<int, Tensor>> curve;
  for (int i = 0; i < 100; ++i) {
    auto loss = torch::mse_loss(net->forward(x), y);
    loss.backward();
    curve.emplace_back(i, loss);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: tensor {{.*}}kept in 'curve' keeps what its backward() would need (its autograd graph) for every iteration
  }
}

void tuples(Linear net, Tensor x, Tensor y) {
  std::vector<std::tuple<Tensor, Tensor>> rows;
  for (int i = 0; i < 100; ++i) {
    auto out = net->forward(x);
    auto loss = torch::mse_loss(out, y);
    loss.backward();
    rows.push_back(std::make_tuple(x, loss));
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: tensor {{.*}}kept in 'rows' keeps what its backward() would need (its autograd graph) for every iteration
  }
}

// The values of max() have a history, its indices have not.
static void valuesAndIndices(Linear net, const std::vector<Tensor> &xs) {
  std::vector<Tensor> best, where;
  for (const auto &x : xs) {
    auto [values, indices] = net->forward(x).max(1);
    best.push_back(values);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: tensor 'values' kept in 'best' keeps what its backward() would need (its autograd graph) for every iteration
    where.push_back(indices);
  }
}

// A copy, a view and a transfer all keep the history; one guard is missing, and
// the first says so.
static void copiesAndViews(Linear net, const std::vector<Tensor> &xs) {
  std::vector<Tensor> copies, views, hosts;
  for (const auto &x : xs) {
    auto out = net->forward(x);
    copies.push_back(out.clone());
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: tensor {{.*}}kept in 'copies' keeps what its backward() would need (its autograd graph) for every iteration
    views.push_back(out[0]);
    hosts.push_back(out.to(torch::kCPU).contiguous());
  }
}

void callbacks(Linear net, Tensor x, Tensor y) {
  std::vector<std::function<void()>> atEnd;
  for (int i = 0; i < 100; ++i) {
    auto loss = torch::mse_loss(net->forward(x), y);
    loss.backward();
    atEnd.push_back([loss] { std::cout << loss << '\n'; });
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: tensor {{.*}}kept in 'atEnd' keeps what its backward() would need (its autograd graph) for every iteration
  }
  for (auto &f : atEnd)
    f();
}

// The node holds the graph without any tensor.
void nodes(Linear net, Tensor x, Tensor y) {
  std::vector<std::shared_ptr<torch::autograd::Node>> kept;
  for (int i = 0; i < 100; ++i) {
    auto loss = torch::mse_loss(net->forward(x), y);
    loss.backward();
    kept.push_back(loss.grad_fn());
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: {{.*}}'kept' keeps what its backward() would need (its autograd graph) for every iteration
  }
}

// A scripted module has parameters too.
static void scripted(torch::jit::Module &module,
                     const std::vector<Tensor> &xs) {
  std::vector<Tensor> outputs;
  for (const auto &x : xs) {
    auto output = module.forward({x}).toTensor();
    outputs.push_back(output);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: tensor 'output' kept in 'outputs' keeps what its backward() would need (its autograd graph) for every iteration
  }
}

// Where nothing is backwarded, the callers are known: no guard is in force.
int main(int argc, char **argv) {
  Linear net(8, 2);
  std::vector<Tensor> xs{torch::rand({4, 8}), torch::rand({4, 8})};
  structs(net, xs[0]);
  namedStruct(net, xs[0]);
  valuesAndIndices(net, xs);
  copiesAndViews(net, xs);
  torch::jit::Module module = torch::jit::load(argv[1]);
  scripted(module, xs);
}

// RUN: %check_torch %s torch-retained-graph %t
//
// A container that a loop fills and that the loop around it fills again has a
// fixed size. What is computed from what was there the last time chains all the
// same.

#include <functional>
#include <stack>
#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;

// The activations of all layers, kept for the loss of the last one.
struct Deep {
  std::vector<Linear> layers;
  std::vector<Tensor> values;

  void forward() {
    for (size_t i = 0; i < layers.size(); ++i)
      values[i + 1] = torch::relu(layers[i]->forward(values[i]));
  }

  void train(Tensor target, torch::optim::SGD &optimizer) {
    for (int epoch = 0; epoch < 100; ++epoch) {
      optimizer.zero_grad();
      forward();
      torch::mse_loss(values.back(), target).backward();
      optimizer.step();
    }
  }
};

// The last loss of each task.
void tasks(Linear net, torch::optim::SGD &optimizer, std::vector<Tensor> xs) {
  std::vector<Tensor> last(xs.size());
  for (int epoch = 0; epoch < 100; ++epoch) {
    Tensor sum = torch::zeros({});
    for (size_t i = 0; i < xs.size(); ++i) {
      last[i] = net->forward(xs[i]).pow(2).sum();
      sum = sum + last[i];
    }
    optimizer.zero_grad();
    sum.backward();
    optimizer.step();
  }
}

// One for each step of all epochs.
void all(Linear net, torch::optim::SGD &optimizer, Tensor x, int steps) {
  std::vector<Tensor> losses(100 * steps);
  for (int epoch = 0; epoch < 100; ++epoch)
    for (int i = 0; i < steps; ++i) {
      optimizer.zero_grad();
      Tensor loss = net->forward(x).sum();
      loss.backward();
      optimizer.step();
      losses[epoch * steps + i] = loss;
      // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: tensor 'loss' kept in 'losses' keeps what its backward() would need (its autograd graph) for every iteration, so memory grows with each; store 'loss.item<float>()' or 'loss.detach()'
    }
}

// The worst loss of each task is compared with the next one.
void worst(Linear net, torch::optim::SGD &optimizer, std::vector<Tensor> xs) {
  std::vector<Tensor> worst(xs.size(), torch::zeros({}));
  for (int epoch = 0; epoch < 100; ++epoch) {
    Tensor sum = torch::zeros({});
    for (size_t i = 0; i < xs.size(); ++i) {
      Tensor loss = net->forward(xs[i]).pow(2).sum();
      worst[i] = torch::max(worst[i], loss);
      // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: tensor kept in 'worst' keeps what its backward() would need (its autograd graph)
      sum = sum + loss;
    }
    optimizer.zero_grad();
    sum.backward();
    optimizer.step();
  }
}

// A tape: it goes back step by step and reads the gradients that backward()
// leaves in what it keeps.
class Tape {
public:
  Tensor run(const std::function<Tensor(Tensor)> &step, Tensor x) {
    x = x.detach().requires_grad_();
    Tensor y = step(x);
    in.push(x);
    out.push(y);
    return y;
  }

  void backward(Tensor gradient) {
    while (!out.empty()) {
      out.top().backward(gradient);
      gradient = in.top().grad();
      out.pop();
      in.pop();
    }
  }

private:
  std::stack<Tensor> in, out;
};

void steps(std::vector<Linear> layers, torch::optim::SGD &optimizer, Tensor x) {
  Tape tape;
  for (int epoch = 0; epoch < 100; ++epoch) {
    optimizer.zero_grad();
    Tensor y = x;
    for (auto &layer : layers)
      y = tape.run([&](Tensor t) { return layer->forward(t); }, y);
    tape.backward(torch::ones_like(y));
    optimizer.step();
  }
}

// Its readers never ask for a gradient.
class Log {
public:
  void add(Tensor loss) {
    seen.push_back(loss);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: tensor 'loss' kept in 'seen' keeps what its backward() would need (its autograd graph)
  }
  double last() const { return seen.back().item<double>(); }

private:
  std::vector<Tensor> seen;
};

void logged(Linear net, torch::optim::SGD &optimizer, Tensor x) {
  Log log;
  for (int i = 0; i < 1000; ++i) {
    optimizer.zero_grad();
    Tensor loss = net->forward(x).sum();
    loss.backward();
    optimizer.step();
    log.add(loss);
  }
  log.last();
}

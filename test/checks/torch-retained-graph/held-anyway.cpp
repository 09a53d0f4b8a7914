// RUN: %check_torch %s torch-retained-graph %t -- -config="{CheckOptions: {torch-retained-graph.Strict: true}}"
//
// Another handle to what is held anyway keeps nothing alive.

#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;

struct Frame {
  Tensor pose, color;
};

Tensor render(Linear net, const Tensor &pose) { return net->forward(pose); }

// The frames, a parameter and a member have them.
struct Mapper {
  Linear net{3, 3};
  Tensor newest;
  std::vector<Frame> frames;

  void optimize(torch::optim::SGD &optimizer, Tensor &current, int64_t steps) {
    Tensor pose;
    for (int64_t step = 0; step < steps; ++step) {
      if (step % 3 == 0)
        pose = current;
      else if (step % 3 == 1)
        pose = frames[step].pose;
      else
        pose = newest;
      optimizer.zero_grad();
      render(net, pose).sum().backward();
      optimizer.step();
    }
    std::cout << pose.sizes();
  }
};

// Of what the iteration makes it is the only one.
void last(Linear net, torch::optim::SGD &optimizer, const std::vector<Tensor> &xs) {
  Tensor kept, pose;
  for (const Tensor &x : xs) {
    auto loss = net->forward(x).sum();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    kept = loss;
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: tensor 'loss' kept in 'kept' keeps what one more backward() would need (its autograd graph) until it is overwritten
    Frame frame;
    frame.pose = net->forward(x);
    pose = frame.pose;
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: tensor 'frame.pose' kept in 'pose' keeps what one more backward() would need (its autograd graph) until it is overwritten
  }
  std::cout << kept.sizes() << pose.sizes();
}

// An object with tensors has no detach(): there is no fix.
void objects(Linear net, const std::vector<Tensor> &xs) {
  std::vector<Frame> frames;
  for (const Tensor &x : xs) {
    Frame frame;
    frame.pose = net->forward(x);
    frames.push_back(frame);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: 'frame' kept in 'frames' keeps what its backward() would need (its autograd graph) for every iteration, so memory grows with each; store it with '.detach()' of its tensors
  }
  std::cout << frames.size();
}

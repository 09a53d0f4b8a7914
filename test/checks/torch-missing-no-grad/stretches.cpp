// RUN: %check_torch %s torch-missing-no-grad %t
//
// Where the same block trains, the passes before and behind that fit into a scope of
// their own each: one finding for each of these.
#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;

int act(Linear actor, Linear critic, torch::optim::SGD &opt, Tensor state) {
  actor->eval();
  critic->eval();
  auto mean = actor->forward(state);
  // CHECK-MESSAGES: :[[@LINE-1]]:15: warning: forward pass of 'actor' keeps all intermediate results for a backward() that never comes (memory, time); put it into a scope of its own
  auto value = critic->forward(state * 2);
  auto other = critic->forward(state * 3);
  std::cout << mean.argmax() << value.argmax() << other.argmax() << '\n';

  critic->train();
  opt.zero_grad();
  critic->forward(state).sum().backward();
  opt.step();

  critic->eval();
  auto after = critic->forward(state * 2);
  // CHECK-MESSAGES: :[[@LINE-1]]:16: warning: forward pass of 'critic' keeps all intermediate results
  return actor->forward(state).argmax().item<int>() +
         after.argmax().item<int>();
}

// RUN: %check_torch %s torch-view-pins-storage %t
//
// Positions that nobody has written as a number: a tensor has said where, or it
// is the middle of what is there.

#include <torch/torch.h>

using torch::Tensor;

constexpr int64_t Frame = 400;

class Samples {
public:
  void offer(const Tensor &recording) {
    const Tensor filtered = torch::tanh(recording);
    const auto energy = filtered.square().unfold(0, Frame, Frame).sum(-1);
    const auto at = energy.argmax().item<int64_t>() * Frame;
    loudest.push_back(filtered.narrow(0, at, Frame));
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: a view kept in 'loudest' is a small part of a tensor
  }
  std::vector<Tensor> loudest;
};

void ofEach(const std::vector<Tensor> &volumes, Samples &samples) {
  torch::NoGradGuard guard;
  std::vector<Tensor> previews, best, sums;
  for (const Tensor &volume : volumes) {
    Tensor labels = torch::softmax(volume, 1);
    const int64_t middle = labels.size(0) / 2;
    previews.push_back(labels[middle].narrow(0, 0, 24));
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: a view kept in 'previews' is a small part of a tensor
    sums.push_back(labels.sum());
    Tensor scores = torch::sigmoid(volume);
    best.push_back(scores[scores.amax(1).argmax().item<int64_t>()]);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: a view kept in 'best' is a small part of a tensor
    samples.offer(volume);
  }
}

// A half that the number of rows gives, a position that goes on, one that a
// caller gives, and copies.
void right(const std::vector<Tensor> &volumes, int64_t given) {
  torch::NoGradGuard guard;
  std::vector<Tensor> halves, all, some, copies;
  for (const Tensor &volume : volumes) {
    Tensor labels = torch::softmax(volume, 1);
    halves.push_back(labels.narrow(0, 0, labels.size(0) / 2));
    Tensor scores = torch::sigmoid(volume);
    for (int64_t i = 0; i < scores.size(0); ++i)
      all.push_back(scores[i]);
    Tensor other = torch::tanh(volume);
    some.push_back(other[given]);
    Tensor last = torch::exp(volume);
    copies.push_back(last[last.size(0) / 2].clone());
  }
}

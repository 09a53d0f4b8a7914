// RUN: %check_torch %s torch-inference-tensor %t
//
// What an operation computes in inference mode, and another function changes in
// place outside of it.

#include <torch/torch.h>

#include <utility>

using torch::Tensor;

class Average {
public:
  void warm(const Tensor &first) {
    c10::InferenceMode guard;
    mean_ = first.mean(0);
    // In the mode that it was made in.
    mean_.div_(mean_.norm());
    spread_ = first.std(0);
    both_ = first.sum(0);
    view_ = first.select(0, 1);
    second_ = first.sum(0);
    open = first.sum(0);
    shared_ = first.sum(0);
    copied_ = first.sum(0).clone();
  }

  void adapt(const Tensor &next) {
    mean_.mul_(0.95).add_(next.mean(0), 0.05);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: in-place operation on a tensor that was made in inference mode throws outside of it, under a NoGradGuard as well; make the tensor outside of inference mode, or write to its 'clone()' [torch-inference-tensor]
    // CHECK-MESSAGES: :[[@LINE-15]]:13: note: it is made here
    spread_ = spread_ * 0.95 + next.std(0) * 0.05;
    spread_.clamp_min_(1e-3);
    view_.add_(1);
    second_ = second_ + 1;
    second_.add_(1);
    open.add_(1);
    shared_.add_(1);
    {
      torch::InferenceMode guard;
      both_.add_(1);
    }
    set(both_);
  }

  void follow(const Tensor &next) {
    torch::NoGradGuard guard;
    copied_.lerp_(next.mean(0), 0.1);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: in-place operation on a tensor
  }

  Tensor open;

private:
  static void set(Tensor &one) { one = torch::rand({4}); }

  Tensor mean_, spread_, both_, view_, second_, shared_, copied_;

  friend void share(Average &average);
};

// Another name for the member, and a member of another object.
void share(Average &average) {
  auto &one = average.shared_;
  one = torch::zeros({4});
  average.open = torch::zeros({4});
}

static Tensor centre(const Tensor &x) {
  torch::InferenceMode guard;
  return x - x.mean();
}

int main() {
  auto x = torch::rand({8, 4});
  Average average;
  share(average);
  average.warm(x);
  average.adapt(x);
  average.follow(x);
  auto centred = centre(x);
  centred.mul_(2);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: in-place operation on a tensor
  auto free = centre(x).clone();
  free.mul_(2);
  Tensor either = x;
  if (x.numel() > 4)
    either = centre(x);
  either.mul_(2);
}

// RUN: %check_torch %s torch-inference-tensor %t
//
// A part of an inference tensor, or another view of it, has no version counter either.

#include <torch/torch.h>

using torch::Tensor;

class Gallery {
public:
  void enrol(const Tensor &x) {
    c10::InferenceMode guard;
    centres_ = x.mean(1);
    spreads_ = x.var(1);
    counts_ = torch::zeros({8, 1});
    shifts_ = x.sum(1);
    copies_ = x.sum(1);
    outside_ = torch::zeros({8, 4});
  }

  void follow(int64_t id, const Tensor &next) {
    centres_.select(0, id).lerp_(next, 0.05);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: in-place operation on a tensor that was made in inference mode throws outside of it
    // CHECK-MESSAGES: :[[@LINE-11]]:16: note: it is made here
    torch::NoGradGuard no_grad;
    counts_[id] += 1;
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: in-place operation on a tensor that was made in inference mode
    spreads_.narrow(0, id, 1).view({-1}) = next;
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: in-place operation on a tensor that was made in inference mode
    shifts_.view({-1}).slice(0, 0, 4).add_(next);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: in-place operation on a tensor that was made in inference mode
  }

  // What is behind detach() is not looked at; a copy has other memory.
  void right(int64_t id, const Tensor &next) {
    copies_.detach().select(0, id).add_(next);
    copies_.data()[id].add_(next);
    copies_.clone()[id].add_(next);
    next[id].add_(copies_[id]);
    outside_ = outside_.clone();
    outside_[id].add_(next);
    c10::InferenceMode guard;
    copies_[id].add_(next);
  }

private:
  Tensor centres_, spreads_, counts_, shifts_, copies_, outside_;
};

static Tensor rows(const Tensor &x) {
  c10::InferenceMode guard;
  return x.softmax(1);
}

// A view of what was made outside is an ordinary tensor.
static Tensor part(const Tensor &x) {
  c10::InferenceMode guard;
  return x.narrow(0, 0, 2);
}

int main() {
  auto x = torch::rand({8, 4, 4});
  Gallery gallery;
  gallery.enrol(x);
  gallery.follow(0, x);
  gallery.right(0, x);
  auto weights = rows(x);
  weights[0].mul_(2);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: in-place operation on a tensor that was made in inference mode
  auto first = part(x);
  first[0].mul_(2);
  auto either = x.numel() > 4 ? rows(x) : x * 2;
  either[0].mul_(2);
}

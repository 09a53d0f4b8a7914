// RUN: %check_torch %s torch-reassigned-member %t
//
// Classes that register in a method that their constructor calls: reset() of
// torch::nn::Cloneable, a helper. And copies of modules.

#include <torch/torch.h>

struct NetImpl : torch::nn::Cloneable<NetImpl> {
  NetImpl() { NetImpl::reset(); }
  void reset() override {
    body = register_module("body", torch::nn::Linear(8, 8));
    head = register_module("head", torch::nn::Linear(8, 2));
  }
  torch::Tensor forward(torch::Tensor x) { return head(body(x).relu()); }
  torch::nn::Linear body{nullptr}, head{nullptr};
};
TORCH_MODULE(Net);

static Net copyOf(const Net &net) {
  return Net(std::dynamic_pointer_cast<NetImpl>(net->clone()));
}

Net personalise(const Net &net, int labels) {
  auto copy = copyOf(net);
  copy->head = torch::nn::Linear(8, labels);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: assigning to 'copy->head' replaces the registered module
  return copy;
}

std::shared_ptr<NetImpl> byPointer(const NetImpl &net, int labels) {
  auto copy = std::dynamic_pointer_cast<NetImpl>(net.clone());
  copy->head = torch::nn::Linear(8, labels);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: assigning to 'copy->head' replaces the registered module
  return copy;
}

void given(Net net, int labels) {
  net->head = torch::nn::Linear(8, labels);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: assigning to 'net->head' replaces the registered module
}

// As it should be: registered again.
Net restarted(const Net &net) {
  auto copy = copyOf(net);
  copy->head = copy->replace_module("head", torch::nn::Linear(8, 2));
  return copy;
}

struct PlainImpl : torch::nn::Module {
  explicit PlainImpl(bool deep) {
    setUp();
    if (deep)
      addMore();
  }
  torch::nn::Linear in{nullptr}, more{nullptr}, late{nullptr};
  // It may be there by then or not.
  void addLater() { late = register_module("late", torch::nn::Linear(8, 8)); }

private:
  void setUp() { build(8); }
  void build(int size) {
    in = register_module("in", torch::nn::Linear(size, size));
  }
  void addMore() { more = register_module("more", torch::nn::Linear(8, 8)); }
};

void plain(PlainImpl &net) {
  net.in = torch::nn::Linear(8, 8);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: assigning to 'net.in' replaces the registered module
  net.more = torch::nn::Linear(8, 8);
  net.late = torch::nn::Linear(8, 8);
}

// Calls itself, and registers nothing of its own.
struct OddImpl : torch::nn::Module {
  OddImpl() { build(3); }
  void build(int left) {
    if (left > 0)
      this->build(left - 1);
    build(0);
  }
  torch::nn::Linear fc{nullptr};
};

void odd(OddImpl &net) { net.fc = torch::nn::Linear(8, 8); }

// RUN: %check_torch %s torch-parameter-copy %t -still-warns
//
// Where the type, or what is meant, does not allow one.

#include <torch/torch.h>

using torch::Tensor;

std::vector<Tensor> weights();

#define SET(a, b) a = b

void all(torch::nn::Linear net, const std::vector<Tensor> &tensors, Tensor x,
         std::map<std::string, Tensor> &cache, Tensor m) {
  weights()[0] = x;
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: this replaces an element
  SET(net->parameters()[0], x);
  // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: this replaces an element
  // Of other sizes copy_() throws: nothing shows that these fit.
  net->parameters()[1] = tensors[1].clone();
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: this replaces an element
  // The elements are const.
  for (auto t : tensors)
    t = t.cuda();
  // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: 't' is a copy of the element
  for (auto [name, value] : cache)
    value = value.cuda();
  // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: 'value' is a copy of the element
  auto row = m[0];
  row = m[1];
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: assigning to 'row'
}
void move(Tensor x) { x = x.cuda(); }
// CHECK-MESSAGES: :[[@LINE-1]]:23: warning: the parameter 'x' is a copy

// All of them at once, into a vector that ends with the statement.
std::shared_ptr<torch::nn::LinearImpl> copyOf(torch::nn::LinearImpl &net) {
  auto copied = std::make_shared<torch::nn::LinearImpl>(4, 4);
  copied->parameters() = net.parameters();
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: this replaces the temporary that 'copied->parameters()' returns, which is lost with it; the module keeps its tensors: go through both lists and write into each with '.copy_(...)' under 'torch::NoGradGuard' [torch-parameter-copy]
  // A vector with a name is one.
  std::vector<Tensor> trained;
  trained = net.parameters();
  trained = copied->buffers();
  for (auto &t : trained)
    t.detach().zero_();
  return copied;
}

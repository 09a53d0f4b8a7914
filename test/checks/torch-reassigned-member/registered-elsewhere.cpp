// RUN: %check_torch %s torch-reassigned-member %t -still-warns
// What is registered afterwards, but is not the new one.

#include <torch/torch.h>

#include <memory>

using torch::Tensor;
namespace nn = torch::nn;

struct NetImpl : nn::Module {
  explicit NetImpl(int64_t n)
      : body(register_module("body", nn::Linear(8, 8))),
        head(register_module("head", nn::Linear(8, n))) {}
  Tensor forward(Tensor x) { return head(torch::relu(body(x))); }
  nn::Linear body, head;
};
TORCH_MODULE(Net);

// Another object of the class does it right.
void twoNets(const Tensor &x) {
  Net first(3);
  first->head = nn::Linear(8, 2);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: assigning to 'first->head'
  // replaces the registered module
  Net second(3);
  second->head = second->replace_module("head", nn::Linear(8, 2));
  first->forward(x) + second->forward(x);
}

// Another member of the same object.
void twoMembers(const Tensor &x) {
  auto net = std::make_shared<NetImpl>(3);
  net->head = nn::Linear(8, 2);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: assigning to 'net->head' replaces
  // the registered module
  net->body = net->replace_module("body", nn::Linear(8, 8));
  net->forward(x);
}

// A helper, before another network is built.
static void giveNewHead(NetImpl &net, int64_t n) {
  net.head = nn::Linear(8, n);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: assigning to 'net.head' replaces
  // the registered module
}
void throughHelper(const Tensor &x) {
  NetImpl net(3);
  giveNewHead(net, 2);
  NetImpl other(4);
  net.forward(x) + other.forward(x);
}

template <class Layer> void inTemplate(const Tensor &x) {
  Net net(3);
  net->head = Layer(8, 2);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: assigning to 'net->head' replaces
  // the registered module
  Net next(2);
  net->forward(x) + next->forward(x);
}
template void inTemplate<nn::Linear>(const Tensor &);

// The next iteration makes another network in the same place.
void inLoop(const Tensor &x, int n) {
  for (int i = 0; i < n; ++i) {
    Net net(3);
    net->head = nn::Linear(8, 2);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: assigning to 'net->head' replaces the registered module
    net->forward(x);
  }
}

// Right: the new one is registered afterwards, by whatever name it is known.
void registeredLater(const Tensor &x) {
  Net net(3);
  net->head = nn::Linear(8, 2);
  net->replace_module("head", net->head);
  nn::Linear fresh(8, 8);
  net->body = fresh;
  net->replace_module("body", fresh);
  net->forward(x);
}
void registeredThroughAnotherHandle(const Tensor &x) {
  Net net(3);
  Net same = net;
  nn::Linear fresh(8, 2);
  net->head = fresh;
  same->replace_module("head", fresh);
  net->forward(x);
}

// RUN: %check_torch %s torch-dangling-data %t
//
// What the pass of a module of the file returns is a temporary, as far as its
// forward() shows that nobody else has it.

#include <torch/torch.h>

using torch::Tensor;
namespace nn = torch::nn;

struct BlockImpl : nn::Module {
  BlockImpl() : fc(register_module("fc", nn::Linear(4, 4))),
                drop(register_module("drop", nn::Dropout(0.1))) {}
  Tensor forward(Tensor x) {
    x = torch::relu(fc(x));
    return drop(x).view({-1, 2, 2});
  }
  nn::Linear fc;
  nn::Dropout drop;
};
TORCH_MODULE(Block);

struct NetImpl : nn::Module {
  NetImpl() : block(register_module("block", Block())) {}
  Tensor forward(const Tensor &x) {
    Tensor y = block(x);
    if (y.numel() > 8)
      y = y * 2;
    return y;
  }
  Block block;
};
TORCH_MODULE(Net);

// Keeps what it returns.
struct CachedImpl : nn::Module {
  CachedImpl() : fc(register_module("fc", nn::Linear(4, 4))) {}
  Tensor forward(const Tensor &x) {
    Tensor y = fc(x);
    last = y;
    return y;
  }
  nn::Linear fc;
  Tensor last;
};
TORCH_MODULE(Cached);

// May return what it is given.
struct PassImpl : nn::Module {
  Tensor forward(Tensor x) {
    if (is_training())
      x = x * 2;
    return x;
  }
};
TORCH_MODULE(Pass);

// Or an element of what it keeps.
struct TableImpl : nn::Module {
  TableImpl() : rows(register_buffer("rows", torch::ones({8, 4}))) {}
  Tensor forward(int64_t i) { return rows.narrow(0, i, 1); }
  Tensor rows;
};
TORCH_MODULE(Table);

float use(const float *p);

float passes(Net net, const Tensor &x) {
  const float *first = net->forward(x).data_ptr<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:24: warning: 'data_ptr' of a temporary tensor
  float sum = use(first);
  const auto shape = net(x).sizes();
  // CHECK-MESSAGES: :[[@LINE-1]]:22: warning: 'sizes' of a temporary tensor
  for (int64_t each : shape)
    sum += each;
  return sum + use(net(x).data_ptr<float>());
}

float held(Cached cached, Pass pass, Table table, const Tensor &x) {
  const float *a = cached->forward(x).data_ptr<float>();
  const float *b = pass->forward(x).data_ptr<float>();
  const float *c = table->forward(2).data_ptr<float>();
  return use(a) + use(b) + use(c);
}

struct Service {
  Net net;
  int64_t rows(const Tensor &x) {
    torch::NoGradGuard off;
    const auto shape = net->forward(x).sizes();
    // CHECK-MESSAGES: :[[@LINE-1]]:24: warning: 'sizes' of a temporary tensor
    return shape[0] * shape[1];
  }
};

int main() {
  Service service{Net()};
  const auto x = torch::ones({4, 4});
  return static_cast<int>(service.rows(x) + passes(service.net, x) +
                          held(Cached(), Pass(), Table(), x));
}

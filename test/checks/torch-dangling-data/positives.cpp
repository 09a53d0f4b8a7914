// RUN: %check_torch %s torch-dangling-data %t -still-warns
//
// Pointers, references and lists into objects that a statement has made, and that end
// with it.

#include <torch/script.h>
#include <torch/torch.h>

#include <iostream>
#include <vector>

using torch::Tensor;

void use(const float *);
std::vector<int64_t> makeShape();

// ----- the memory of temporary tensors -----

float sum(Tensor x, Tensor mean) {
  const float *p = (x - mean).data_ptr<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:20: warning: 'data_ptr' of a temporary tensor: its memory is freed at the end of the statement, and the pointer is used afterwards; give the tensor a name [torch-dangling-data]
  // CHECK-FIXES: auto p_owner = x - mean;
  // CHECK-FIXES: const float *p = p_owner.data_ptr<float>();
  return p[0] + p[1];
}

void dense(Tensor x) {
  auto p = x.t().contiguous().const_data_ptr<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: 'const_data_ptr' of a temporary tensor:
  use(p);
}

void host(Tensor x) {
  float *p = nullptr;
  p = x.to(torch::kCPU).data_ptr<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: 'data_ptr' of a temporary tensor:
  use(p);
}

float scripted(torch::jit::Module &net, Tensor x) {
  auto *p = net.forward({x}).toTensor().data_ptr<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:13: warning: 'data_ptr' of a temporary tensor:
  return *p;
}

float layered(torch::nn::Linear layer, Tensor x) {
  auto *p = layer->forward(x).view({-1}).data_ptr<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:13: warning: 'data_ptr' of a temporary tensor:
  return *p;
}

float *returned(Tensor x) {
  return (x * 2).data_ptr<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: 'data_ptr' of a temporary tensor: its memory is freed at the end of the statement, and the pointer is returned; copy the elements, or keep the tensor
}

class Reader {
public:
  void set(Tensor x) {
    data = torch::softmax(x, 0).data_ptr<float>();
    // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: 'data_ptr' of a temporary tensor: its memory is freed at the end of the statement, and the pointer is kept in 'data'; copy the elements, or keep the tensor
  }

private:
  float *data = nullptr;
};

// ----- tensors with a name -----

float *local(int64_t n) {
  Tensor t = torch::zeros({n});
  return t.data_ptr<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: 'data_ptr' of 't', which ends with its scope, and the pointer is returned; copy the elements, or keep the tensor
}

float boundAnew(int64_t n) {
  Tensor t = torch::zeros({n});
  auto *p = t.data_ptr<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:13: warning: 'data_ptr' of 't', which gets other memory, and the pointer is used afterwards; take it anew, or keep the tensor
  t = torch::ones({2 * n});
  return *p;
}

float resized(int64_t n) {
  Tensor t = torch::zeros({n});
  auto *p = t.data_ptr<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:13: warning: 'data_ptr' of 't', which gets other memory
  t.resize_({2 * n});
  return *p;
}

int64_t sizesBoundAnew(int64_t n) {
  auto t = torch::zeros({n});
  auto shape = t.sizes();
  // CHECK-MESSAGES: :[[@LINE-1]]:16: warning: 'sizes' of 't', which gets other memory, and the list is used afterwards
  t = torch::zeros({2 * n});
  return shape[0];
}

// ----- their sizes -----

void sizes(Tensor x) {
  auto shape = x.view({-1, 2}).sizes();
  // CHECK-MESSAGES: :[[@LINE-1]]:16: warning: 'sizes' of a temporary tensor: they are freed with it at the end of the statement, and the list is used afterwards; give the tensor a name
  std::cout << shape[0];
}

void strides(Tensor x) {
  const auto steps = torch::zeros({2, 3}).strides();
  // CHECK-MESSAGES: :[[@LINE-1]]:22: warning: 'strides' of a temporary tensor:
  for (auto step : steps)
    std::cout << step;
}

// ----- lists -----

Tensor list(Tensor x) {
  at::IntArrayRef shape = {2, 3};
  // CHECK-FIXES: std::vector<int64_t> shape = {2, 3};
  // CHECK-MESSAGES: :[[@LINE-2]]:27: warning: 'ArrayRef' refers to a temporary list that ends with the statement, and is used afterwards; use a 'std::vector'
  return x.view(shape);
}

Tensor ofVector(Tensor x) {
  torch::IntArrayRef shape = makeShape();
  // CHECK-MESSAGES: :[[@LINE-1]]:30: warning: 'ArrayRef' refers to a temporary list
  return x.view(shape);
}

Tensor tensors(Tensor a, Tensor b) {
  at::TensorList both = {a, b};
  // CHECK-FIXES: std::vector<torch::Tensor> both = {a, b};
  // CHECK-MESSAGES: :[[@LINE-2]]:25: warning: 'ArrayRef' refers to a temporary list
  return torch::cat(both);
}

at::IntArrayRef ofLocal() {
  std::vector<int64_t> shape = {2, 3};
  return shape;
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: 'ArrayRef' refers to 'shape', which ends with its scope, and is returned; use a 'std::vector'
}

// ----- parts of results -----

void elements(torch::jit::Module &net, Tensor x) {
  for (auto &e : net.forward({x}).toTuple()->elements())
    // CHECK-FIXES: auto e_owner = net.forward({x}).toTuple();
    // CHECK-FIXES: for (auto &e : e_owner->elements())
    // CHECK-MESSAGES: :[[@LINE-3]]:18: warning: 'elements' refers into a temporary result that ends with the statement, and is used afterwards; give the result a name
    std::cout << e.toTensor().sum();
}

void tuple(torch::jit::Module &net, Tensor x) {
  const auto &both = net.forward({x}).toTupleRef().elements();
  // CHECK-MESSAGES: :[[@LINE-1]]:22: warning: 'toTupleRef' refers into a temporary result
  std::cout << both[0].toTensor();
}

void named(torch::nn::Linear layer) {
  for (auto &item : layer->named_parameters().items())
    // CHECK-MESSAGES: :[[@LINE-1]]:21: warning: 'items' refers into a temporary result
    std::cout << item.key();
  auto *weight = layer->named_parameters().find("weight");
  // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: 'find' refers into a temporary result
  std::cout << weight->sum();
  auto &bias = layer->named_parameters()["bias"];
  // CHECK-MESSAGES: :[[@LINE-1]]:16: warning: {{.*}} refers into a temporary result
  std::cout << bias.sum();
}

// Those of another dimension do not.
float columns(int64_t n, int i) {
  auto u = torch::zeros({n, 4, 5});
  auto *a = u.select(1, i).contiguous().data_ptr<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:13: warning: 'data_ptr' of a temporary tensor
  auto *b = u.slice(0, 0, n, 2).contiguous().data_ptr<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:13: warning: 'data_ptr' of a temporary tensor
  return *a + *b;
}

// Two owners of one function have two names.
void again(torch::nn::Linear layer) {
  auto *w = layer->named_parameters(false).find("weight");
  // CHECK-FIXES: auto w_owner = layer->named_parameters(false);
  // CHECK-FIXES: auto *w = w_owner.find("weight");
  // CHECK-MESSAGES: :[[@LINE-3]]:13: warning: 'find' refers into a temporary result
  std::cout << w->sum();
  w = layer->named_parameters(false).find("bias");
  // CHECK-FIXES: auto w_owner2 = layer->named_parameters(false);
  // CHECK-FIXES: w = w_owner2.find("bias");
  // CHECK-MESSAGES: :[[@LINE-3]]:7: warning: 'find' refers into a temporary result
  std::cout << w->sum();
}

// What only one branch evaluates does not come before the statement.
float chosen(const Tensor *x, int64_t n) {
  const float *p = x ? (*x * 2).data_ptr<float>() : nullptr;
  // CHECK-FIXES: const float *p = x ? (*x * 2).data_ptr<float>() : nullptr;
  // CHECK-MESSAGES: :[[@LINE-2]]:24: warning: 'data_ptr' of a temporary tensor
  const bool isThere = x && (p = (*x + 1).data_ptr<float>());
  // CHECK-FIXES: const bool isThere = x && (p = (*x + 1).data_ptr<float>());
  // CHECK-MESSAGES: :[[@LINE-2]]:34: warning: 'data_ptr' of a temporary tensor
  return isThere ? p[n] : 0;
}

// Of a function of the file that returns what it has just made.
static Tensor gaps(const Tensor &a, const Tensor &b) { return (a - b).abs(); }
static Tensor flatGaps(const Tensor &a, const Tensor &b, bool isSigned) {
  if (isSigned)
    return (a - b).flatten();
  return gaps(a, b).flatten();
}
float ofFunctions(const Tensor &x, const Tensor &y) {
  const float *p = gaps(x, y).data_ptr<float>();
  // CHECK-FIXES: auto p_owner = gaps(x, y);
  // CHECK-FIXES: const float *p = p_owner.data_ptr<float>();
  // CHECK-MESSAGES: :[[@LINE-3]]:20: warning: 'data_ptr' of a temporary tensor
  auto *q = flatGaps(x, y, true).contiguous().data_ptr<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:13: warning: 'data_ptr' of a temporary tensor
  return *p + *q;
}

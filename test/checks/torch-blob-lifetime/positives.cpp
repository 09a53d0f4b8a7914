// RUN: %check_torch %s torch-blob-lifetime %t
//
// Memory that is gone before the tensor: who owns it, and where the tensor goes.

#include <torch/torch.h>

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <vector>

using torch::Tensor;
using Values = std::vector<float>;

Values load();
void fill(float *);

// ----- returned -----

Tensor fromVector(int64_t n) {
  std::vector<float> values(n);
  return torch::from_blob(values.data(), {n});
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: tensor still points into 'values', which ends with its scope, and the tensor is returned (use after free); append '.clone()' [torch-blob-lifetime]
  // CHECK-FIXES: return torch::from_blob(values.data(), {n}).clone();
}

Tensor fromArray() {
  float values[4] = {1, 2, 3, 4};
  auto t = torch::from_blob(values, {2, 2});
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: tensor still points into 'values'
  // CHECK-FIXES: auto t = torch::from_blob(values, {2, 2}).clone();
  return t;
}

Tensor fromStdArray() {
  std::array<float, 4> values = {1, 2, 3, 4};
  return torch::from_blob(values.data(), {4}).view({2, 2});
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: tensor still points into 'values'
  // CHECK-FIXES: return torch::from_blob(values.data(), {4}).clone().view({2, 2});
}

Tensor fromScalar() {
  float value = 3;
  return torch::from_blob(&value, {1});
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: tensor still points into 'value'
}

Tensor fromParameter(std::vector<float> values) {
  return torch::from_blob(&values[0], {4});
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: tensor still points into 'values', which ends with its scope, and the tensor is returned
}

Tensor fromString(int64_t n) {
  std::string bytes(n, 'x');
  return torch::from_blob(bytes.data(), {n}, torch::kByte);
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: tensor still points into 'bytes'
}

Tensor fromUnique(int64_t n) {
  auto buffer = std::make_unique<float[]>(n);
  fill(buffer.get());
  return torch::from_blob(buffer.get(), {n});
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: tensor still points into an object on the heap, which ends with its scope, and the tensor is returned
}

Tensor fromTemporary() {
  auto t = torch::from_blob(load().data(), {4});
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: tensor still points into a temporary object, which ends with the statement, and the tensor is returned
  return t;
}

struct Frame {
  std::vector<float> pixels;
  float pose[6];
};

Tensor fromMember() {
  Frame frame;
  frame.pixels = load();
  Tensor pixels = torch::from_blob(frame.pixels.data(), {4});
  // CHECK-MESSAGES: :[[@LINE-1]]:19: warning: tensor still points into 'frame.pixels'
  Tensor pose = torch::from_blob(frame.pose, {6});
  // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: tensor still points into 'frame.pose'
  return pixels.numel() > 2 ? pixels : pose;
}

// ----- what keeps the memory -----

Tensor onTheCpu(torch::Device device) {
  Values values = load();
  auto t = torch::from_blob(values.data(), {4}, torch::kFloat32);
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: tensor still points into 'values'
  return t.to(device).to(torch::kFloat32).contiguous().cpu().toType(torch::kFloat).unsqueeze(0);
}

std::vector<Tensor> inContainer() {
  std::vector<Tensor> rows;
  for (int i = 0; i < 4; ++i) {
    Values row = load();
    rows.push_back(torch::from_blob(row.data(), {4}));
    // CHECK-MESSAGES: :[[@LINE-1]]:20: warning: tensor still points into 'row', which ends with its scope, and the tensor is returned
    // CHECK-FIXES: rows.push_back(torch::from_blob(row.data(), {4}).clone());
  }
  return rows;
}

Tensor stacked() {
  std::vector<Tensor> rows;
  for (int i = 0; i < 4; ++i) {
    Values row = load();
    rows.emplace_back(torch::from_blob(row.data(), {4}));
    // CHECK-MESSAGES: :[[@LINE-1]]:23: warning: tensor still points into 'row', which ends with its scope, and the tensor is read afterwards
  }
  return torch::stack(rows);
}

std::pair<Tensor, Tensor> inPair() {
  Values x = load();
  float y[2] = {1, 2};
  return {torch::from_blob(x.data(), {4}), torch::from_blob(y, {2}).clone()};
  // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: tensor still points into 'x'
}

// ----- kept elsewhere -----

class Batch {
public:
  explicit Batch(std::vector<float> weights) {
    weight = torch::from_blob(weights.data(), {4});
    // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: tensor still points into 'weights', which ends with its scope, and the tensor is kept in 'weight' (use after free); append
  }
  void add() {
    Values values = load();
    all.push_back(torch::from_blob(values.data(), {4}).reshape({2, 2}));
    // CHECK-MESSAGES: :[[@LINE-1]]:19: warning: tensor still points into 'values', which ends with its scope, and the tensor is kept in 'all'
  }
  void later(std::function<void()> &task) {
    Values values = load();
    Tensor t = torch::from_blob(values.data(), {4});
    // CHECK-MESSAGES: :[[@LINE-1]]:16: warning: tensor still points into 'values'{{.*}} and the tensor is kept in 'task'
    task = [t] { std::cout << t.sum(); };
  }

private:
  std::vector<Tensor> all;
  Tensor weight;
};

void outParameter(Tensor &result) {
  double values[3] = {1, 2, 3};
  result = torch::from_blob(values, {3}, torch::kDouble);
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: tensor still points into 'values'{{.*}} kept in 'result'
}

Tensor global;
void setGlobal() {
  Values values = load();
  global = torch::from_blob(values.data(), {4});
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: tensor still points into 'values'{{.*}} kept in 'global'
}

// ----- read afterwards -----

double afterScope(bool deep) {
  Tensor t;
  if (deep) {
    Values values = load();
    t = torch::from_blob(values.data(), {4});
    // CHECK-MESSAGES: :[[@LINE-1]]:9: warning: tensor still points into 'values', which ends with its scope, and the tensor is read afterwards (use after free); append
  } else {
    t = torch::zeros({4});
  }
  return t.sum().item<double>();
}

double afterDelete() {
  float *values = new float[4];
  fill(values);
  Tensor t = torch::from_blob(values, {4});
  // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: tensor still points into an object on the heap, which is freed, and the tensor is read afterwards
  delete[] values;
  return t.sum().item<double>();
}

double afterClear() {
  Values values = load();
  Tensor t = torch::from_blob(values.data(), {4});
  // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: tensor still points into 'values', which is given other elements, and the tensor is read afterwards
  values.clear();
  values.push_back(1);
  return t.sum().item<double>();
}

double afterResize() {
  Values values = load();
  Tensor t = torch::from_blob(values.data(), {4});
  // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: tensor still points into 'values'
  values.resize(100);
  return t.sum().item<double>();
}

double afterAssignment() {
  Values values = load();
  Tensor t = torch::from_blob(values.data(), {4});
  // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: tensor still points into 'values'
  values = load();
  return t.sum().item<double>();
}

// ----- helpers -----

Tensor wrap(std::vector<float> &values) { return torch::from_blob(values.data(), {4}); }
// CHECK-MESSAGES: :[[@LINE-1]]:50: warning: tensor still points into 'local', which
Tensor wrapped() {
  Values local = load();
  return wrap(local);
}

template <class T> Tensor convert(T *first, int64_t n) {
  return torch::from_blob(first, {n});
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: tensor still points into 'data'
}
Tensor converted() {
  float data[8];
  fill(data);
  return convert(data, 8);
}

auto viaLambda() {
  Values values = load();
  auto make = [&](int64_t n) { return torch::from_blob(values.data(), {n}); };
  // CHECK-MESSAGES: :[[@LINE-1]]:39: warning: tensor still points into 'values'
  return make(4);
}

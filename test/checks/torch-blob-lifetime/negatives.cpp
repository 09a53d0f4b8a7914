// RUN: %check_torch %s torch-blob-lifetime %t
//
// Memory that lives as long as the tensor, that the tensor has a copy of, or of
// which that cannot be known.

#include <torch/torch.h>

#include <future>
#include <list>
#include <map>
#include <memory>
#include <vector>

using torch::Tensor;
using Values = std::vector<float>;

Values load();
void fill(float *);
float *borrowed();
Tensor unknown(Tensor);

// ----- a copy -----

Tensor cloned() {
  Values values = load();
  auto t = torch::from_blob(values.data(), {4}).clone();
  return t;
}

Tensor clonedLater() {
  Values values = load();
  auto t = torch::from_blob(values.data(), {4});
  t = t.view({2, 2}).clone();
  return t;
}

Tensor converted() {
  Values values = load();
  auto t = torch::from_blob(values.data(), {4}, torch::kFloat);
  return t.to(torch::kDouble);
}

Tensor computed() {
  Values values = load();
  auto t = torch::from_blob(values.data(), {4});
  auto u = torch::from_blob(values.data(), {4});
  return (t * 2 + u).view({2, 2});
}

Tensor elsewhere() {
  Values values = load();
  return torch::from_blob(values.data(), {4}).to(torch::kCUDA);
}

Tensor elsewhereNamed() {
  Values values = load();
  const torch::Device device(torch::kCUDA, 0);
  auto t = torch::from_blob(values.data(), {4}).cuda();
  return t + torch::from_blob(values.data(), {4}).to(device);
}

Tensor copyAsked(torch::Device device) {
  Values values = load();
  return torch::from_blob(values.data(), {4}).to(device, torch::kFloat, false, true);
}

Tensor transposed() {
  Values values = load();
  return torch::from_blob(values.data(), {2, 2}).t().contiguous();
}

Tensor joined() {
  Values a = load(), b = load();
  return torch::cat({torch::from_blob(a.data(), {4}), torch::from_blob(b.data(), {4})});
}

void written(Tensor &out, Tensor &row) {
  Values values = load();
  out.copy_(torch::from_blob(values.data(), {4}));
  row[0] = torch::from_blob(values.data(), {4});
}

double number() {
  Values values = load();
  return torch::from_blob(values.data(), {4}).sum().item<double>();
}

Tensor network(torch::nn::Linear net) {
  Values values = load();
  auto input = torch::from_blob(values.data(), {1, 4});
  return net->forward(input);
}

// ----- the tensor owns it -----

Tensor owned() {
  auto *values = new Values(load());
  return torch::from_blob(values->data(), {4}, [values](void *) { delete values; });
}

Tensor freed(int64_t n) {
  float *values = new float[n];
  return torch::from_blob(values, {n}, [](void *p) { delete[] static_cast<float *>(p); });
}

// ----- it lives on -----

class Buffers {
public:
  Tensor view() { return torch::from_blob(values.data(), {4}); }
  Tensor row(std::size_t i) { return torch::from_blob(rows[i].data(), {4}); }
  void keep() {
    values = load();
    tensor = torch::from_blob(values.data(), {4});
  }
  void grow() {
    values.resize(8);
    tensor = torch::from_blob(values.data(), {8});
  }
  Tensor add() {
    rows.push_back(load());
    return torch::from_blob(rows.back().data(), {4});
  }

private:
  Values values;
  std::vector<Values> rows;
  Tensor tensor;
};

Tensor ofReference(Values &values) { return torch::from_blob(values.data(), {4}); }
Tensor ofPointer(float *values) { return torch::from_blob(values, {4}); }
Tensor ofShared(std::shared_ptr<Values> values) { return torch::from_blob(values->data(), {4}); }
Tensor ofCall() { return torch::from_blob(borrowed(), {4}); }
Tensor ofStatic() {
  static float table[4] = {1, 2, 3, 4};
  static Values values = load();
  return torch::from_blob(table, {4}) * 1 + 0 * torch::from_blob(values.data(), {4}).view({4});
}
Tensor leaked() {
  auto *values = new float[4];
  return torch::from_blob(values, {4});
}
Tensor localReference(Buffers &, std::map<int, Values> &all) {
  auto &values = all[3];
  float *first = values.data();
  return torch::from_blob(first, {4});
}
Tensor window(c10::ArrayRef<float> values) {
  return torch::from_blob(const_cast<float *>(values.data()), {4});
}

// ----- it goes along -----

struct Owner {
  Values values;
  Tensor tensor;
};

Owner together() {
  Owner result;
  result.values = load();
  result.tensor = torch::from_blob(result.values.data(), {4});
  return result;
}

std::pair<Values, Tensor> movedAlong() {
  Values values = load();
  auto t = torch::from_blob(values.data(), {4});
  return {std::move(values), t};
}

class Store {
public:
  void add() {
    Values values = load();
    tensors.push_back(torch::from_blob(values.data(), {4}));
    owners.push_back(std::move(values));
  }
  void swapIn() {
    Values values = load();
    tensor = torch::from_blob(values.data(), {4});
    values.swap(own);
  }
  void release() {
    auto buffer = std::make_unique<float[]>(4);
    tensor = torch::from_blob(buffer.get(), {4});
    raw = buffer.release();
  }
  void take() {
    auto buffer = std::make_unique<float[]>(4);
    tensor = torch::from_blob(buffer.get(), {4});
    held = std::move(buffer);
  }

private:
  std::vector<Tensor> tensors;
  std::vector<Values> owners;
  Values own;
  Tensor tensor;
  float *raw;
  std::unique_ptr<float[]> held;
};

// ----- used inside the scope -----

double inside() {
  double sum = 0;
  for (int i = 0; i < 3; ++i) {
    Values values = load();
    Tensor t = torch::from_blob(values.data(), {4});
    sum += t.sum().item<double>();
  }
  return sum;
}

double rebound() {
  Tensor t;
  double sum = 0;
  for (int i = 0; i < 3; ++i) {
    Values values = load();
    t = torch::from_blob(values.data(), {4});
    sum += t.sum().item<double>();
  }
  t = torch::zeros({4});
  return sum + t.sum().item<double>();
}

bool onlyAsked() {
  Tensor t;
  {
    Values values = load();
    t = torch::from_blob(values.data(), {4});
  }
  return t.defined() && t.dim() == 1 && t.size(0) == 4;
}

double beforeDelete() {
  float *values = new float[4];
  fill(values);
  double sum = torch::from_blob(values, {4}).sum().item<double>();
  delete[] values;
  return sum;
}

double filledAgain() {
  Values values(4);
  Tensor t = torch::from_blob(values.data(), {4});
  double sum = 0;
  for (int i = 0; i < 3; ++i) {
    for (std::size_t k = 0; k < values.size(); ++k)
      values[k] = static_cast<float>(k * i);
    fill(values.data());
    sum += t.sum().item<double>();
  }
  return sum;
}

double reserved() {
  Values values;
  values.reserve(100);
  values.push_back(1);
  Tensor t = torch::from_blob(values.data(), {1});
  values.push_back(2);
  return t.sum().item<double>();
}

double waited() {
  Values values = load();
  Tensor t = torch::from_blob(values.data(), {4});
  auto result = std::async(std::launch::async, [t] { return t.sum().item<double>(); });
  return result.get();
}

// ----- not known -----

Tensor through() {
  Values values = load();
  return unknown(torch::from_blob(values.data(), {4}));
}

Tensor ofType(torch::ScalarType type) {
  Values values = load();
  return torch::from_blob(values.data(), {4}).to(type);
}

Tensor chosen(bool own, Values &other) {
  Values values = load();
  return torch::from_blob(own ? borrowed() : other.data(), {4});
}

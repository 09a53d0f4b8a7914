// RUN: %check_torch %s torch-blob-lifetime %t
//
// A function that hands out memory which ends with it is wrong, whether its
// callers, in this file, read the tensor or not.

#include <torch/torch.h>

#include <algorithm>
#include <map>
#include <memory>
#include <vector>

using torch::Tensor;
using Values = std::vector<float>;

Values load();

struct Record {
  Values gain;
  int count = 0;
};
Record read();

// ----- returned -----

static Tensor ofVector() {
  Values values(10);
  return torch::from_blob(values.data(), {10});
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: tensor still points into 'values', which ends with its scope, and the tensor is returned (use after free); append '.clone()' [torch-blob-lifetime]
  // CHECK-FIXES: return torch::from_blob(values.data(), {10}).clone();
}

static Tensor ofMember() {
  Record record = read();
  return torch::from_blob(record.gain.data(), {10});
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: tensor still points into 'record.gain', which ends with its scope, and the tensor is returned
}

static Tensor ofResult() {
  auto values = load();
  Tensor t = torch::from_blob(values.data(), {10});
  // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: tensor still points into 'values'{{.*}} and the tensor is returned
  return t.view({2, 5});
}

static Tensor ofTemporary() {
  return torch::from_blob(load().data(), {10});
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: tensor still points into a temporary object, which ends with the statement, and the tensor is returned
}

static Tensor ofHeap(int64_t n) {
  auto buffer = std::make_unique<float[]>(n);
  return torch::from_blob(buffer.get(), {n});
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: tensor still points into an object on the heap, which ends with its scope, and the tensor is returned
}

static Tensor ofParameter(Values values) {
  return torch::from_blob(values.data(), {10});
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: tensor still points into 'values'{{.*}} and the tensor is returned
}

static std::vector<Tensor> inContainer() {
  std::vector<Tensor> rows;
  for (int i = 0; i < 3; ++i) {
    Record record = read();
    rows.push_back(torch::from_blob(record.gain.data(), {10}));
    // CHECK-MESSAGES: :[[@LINE-1]]:20: warning: tensor still points into 'record.gain'{{.*}} and the tensor is returned
  }
  return rows;
}

static std::pair<Tensor, int> inPair() {
  Values values = load();
  return {torch::from_blob(values.data(), {10}), 3};
  // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: tensor still points into 'values'{{.*}} and the tensor is returned
}

// The one that owns the memory is to blame, not those that pass it on.
static Tensor passedOn() { return ofParameter(load()); }

struct Reader {
  Tensor next() const {
    Values values = load();
    return torch::from_blob(values.data(), {10});
    // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: tensor still points into 'values'{{.*}} and the tensor is returned
  }
};

int counted(const Reader &reader) {
  auto made = [](int64_t n) {
    Values values(n);
    return torch::from_blob(values.data(), {n});
    // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: tensor still points into 'values'{{.*}} and the tensor is returned
  };
  auto x = ofVector();
  auto y = ofMember();
  Tensor last = reader.next();
  ofTemporary();
  std::vector<Tensor> all = {ofResult(), ofHeap(3), passedOn(), made(4)};
  const auto pair = inPair();
  return static_cast<int>(all.size() + inContainer().size()) + pair.second;
}

int main(int argc, char **) {
  return argc > 1 ? counted(Reader()) : 0;
}

// ----- kept by what the caller has -----

struct Brain {
  Tensor last;
  std::vector<Tensor> all;

  void remember() {
    Values values = load();
    last = torch::from_blob(values.data(), {10});
    // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: tensor still points into 'values', which ends with its scope, and the tensor is kept in '{{[a-z.]*}}last'
  }
};
static std::map<int, std::unique_ptr<Brain>> brains;
static Brain only;

static void intoElement(int id) {
  Brain &brain = *brains.at(id);
  Values values(10);
  brain.last = torch::from_blob(values.data(), {10});
  // CHECK-MESSAGES: :[[@LINE-1]]:16: warning: tensor still points into 'values'{{.*}} and the tensor is kept in
}
static void intoGlobal() {
  Values values(10);
  only.last = torch::from_blob(values.data(), {10});
  // CHECK-MESSAGES: :[[@LINE-1]]:15: warning: tensor still points into 'values'{{.*}} and the tensor is kept in 'only.last'
}
static void intoParameter(Brain &brain) {
  Values values(10);
  brain.all.push_back(torch::from_blob(values.data(), {10}));
  // CHECK-MESSAGES: :[[@LINE-1]]:23: warning: tensor still points into 'values'{{.*}} and the tensor is kept in 'brain.all'
}
static void intoTensor(Tensor *out) {
  float values[3] = {1, 2, 3};
  *out = torch::from_blob(values, {3});
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: tensor still points into 'values'{{.*}} and the tensor is kept in 'tensor'
}
std::size_t kept(int id) {
  Brain brain;
  Tensor tensor;
  brain.remember();
  intoElement(id);
  intoGlobal();
  intoParameter(brain);
  intoTensor(&tensor);
  return brain.all.size();
}

// ----- quiet -----

// The caller has the memory, and it is still there.
static Tensor over(Values &values) { return torch::from_blob(values.data(), {10}); }
static void store(Brain &brain, Values &values) {
  brain.last = torch::from_blob(values.data(), {10});
}
static const Values &table() {
  static const Values values(10);
  return values;
}
static Tensor ofTable() {
  return torch::from_blob(const_cast<float *>(table().data()), {10});
}
int64_t longEnough() {
  Values values = load();
  Brain brain;
  store(brain, values);
  Tensor x = over(values), y = ofTable();
  return x.size(0);
}

// It has a copy, or owns the memory, or the memory goes along.
static Tensor copied() {
  Values values = load();
  return torch::from_blob(values.data(), {10}).clone();
}
static Tensor owned() {
  auto *values = new Values(10);
  return torch::from_blob(values->data(), {10}, [values](void *) { delete values; });
}
static std::pair<Values, Tensor> together() {
  Values values = load();
  auto t = torch::from_blob(values.data(), {10});
  return {std::move(values), t};
}
static double summed() {
  Values values = load();
  return torch::from_blob(values.data(), {10}).sum().item<double>();
}
int64_t safe() {
  return copied().size(0) + owned().size(0) + together().second.size(0) + static_cast<int>(summed());
}

// A member that is let go, or given something else, before the function ends.
struct Scratch {
  Tensor input;
  double run() {
    Values values = load();
    input = torch::from_blob(values.data(), {10});
    const double sum = input.sum().item<double>();
    input = Tensor();
    return sum;
  }
  double runAgain() {
    Values values = load();
    input = torch::from_blob(values.data(), {10});
    const double sum = input.sum().item<double>();
    input.reset();
    return sum;
  }
};
double scratched() {
  Scratch scratch;
  return scratch.run() + scratch.runAgain();
}

// What a lambda captures is as if its body stood there.
double inLambda(const std::vector<Values> &all) {
  Tensor t;
  double sum = 0;
  auto add = [&](const Values &given) {
    Values values = given;
    t = torch::from_blob(values.data(), {10});
    sum += t.sum().item<double>();
  };
  for (const Values &each : all)
    add(each);
  std::for_each(all.begin(), all.end(), add);
  return sum;
}

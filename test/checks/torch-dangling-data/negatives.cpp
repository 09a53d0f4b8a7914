// RUN: %check_torch %s torch-dangling-data %t
//
// What is used within the statement, what has a name, and what a tensor with a name keeps.

#include <torch/script.h>
#include <torch/torch.h>

#include <algorithm>
#include <array>
#include <iostream>
#include <vector>

using torch::Tensor;

void use(const float *);
Tensor cached();
std::vector<int64_t> makeShape();

float inStatement(Tensor x, Tensor y) {
  use((x + y).data_ptr<float>());
  std::vector<float> copy((x + y).data_ptr<float>(), (x + y).data_ptr<float>() + 4);
  float first = *(x + y).data_ptr<float>();
  const float second = (x + y).data_ptr<float>()[1];
  std::copy_n(x.contiguous().data_ptr<float>(), 4, copy.begin());
  return copy[0] + first + second;
}

float nameGiven(Tensor x, Tensor y) {
  Tensor z = x + y;
  auto *p = z.data_ptr<float>();
  const auto &kept = x * 2;
  auto *q = kept.data_ptr<float>();
  return *p + *q;
}

// A view has the memory of its base.
float views(Tensor x, std::vector<Tensor> &all, torch::nn::Linear layer) {
  auto *a = x.view({-1}).data_ptr<float>();
  auto *b = x[0].data_ptr<float>();
  auto *c = x.detach().data_ptr<float>();
  auto *d = all[0].data_ptr<float>();
  auto *e = layer->weight.data().data_ptr<float>();
  auto *f = layer->weight.grad().data_ptr<float>();
  return *a + *b + *c + *d + *e + *f;
}

// It is itself where nothing is to be done.
float already(int64_t n) {
  Tensor x = torch::zeros({n});
  auto *a = x.contiguous().data_ptr<float>();
  auto *b = x.cpu().data_ptr<float>();
  return *a + *b;
}

float unknown() {
  auto *p = cached().data_ptr<float>();
  auto shape = cached().sizes();
  return *p + shape[0];
}

float rebound(Tensor x) {
  auto *p = (x * 2).data_ptr<float>();
  p = x.data_ptr<float>();
  return *p;
}

// Something else may hold the memory.
float held(int64_t n, std::vector<Tensor> &all, Tensor x) {
  Tensor a = torch::zeros({n});
  auto *p = a.data_ptr<float>();
  all.push_back(a);
  a = torch::ones({n});
  Tensor b = torch::zeros({n});
  auto *q = b.data_ptr<float>();
  Tensor c = b;
  b = torch::ones({n});
  Tensor d = torch::zeros({n});
  auto *r = d.data_ptr<float>();
  auto row = d[0];
  d = torch::ones({n});
  auto shape = c.sizes();
  c = c.view({-1});
  auto *s = x.data_ptr<float>();
  x = x + 1;
  Tensor y = x * 2;
  auto *t = y.data_ptr<float>();
  y = y * y;
  return *p + *q + *r + shape[0] + *s + *t + row.dim();
}

float inTime(int64_t n) {
  Tensor t = torch::zeros({n});
  auto *p = t.data_ptr<float>();
  const float first = *p;
  t = torch::ones({n});
  p = t.data_ptr<float>();
  t.add_(1);
  return first + *p;
}

Tensor numbers(Tensor x) {
  auto shape = x.sizes();
  auto copied = (x + 1).sizes().vec();
  const int64_t n = (x + 1).sizes()[0];
  const int64_t m = x.t().size(0);
  std::vector<int64_t> all(x.t().sizes().begin(), x.t().sizes().end());
  x = x.view({n * m});
  return torch::zeros(shape).view(copied).view(all);
}

void lists(Tensor x, at::IntArrayRef given, const std::vector<int64_t> &outer) {
  std::vector<int64_t> shape = {2, 3};
  at::IntArrayRef a = shape;
  at::IntArrayRef b = given;
  at::IntArrayRef c = outer;
  at::IntArrayRef d = x.sizes();
  static const int64_t table[] = {2, 3};
  at::IntArrayRef e(table);
  at::IntArrayRef f = a.slice(1);
  x.view({2, 3}).view(makeShape()).view(a).view(b).view(c).view(d).view(e).view(f);
}
at::IntArrayRef ofMember(const std::vector<int64_t> &shape) { return shape; }

void results(torch::jit::Module &net, Tensor x, torch::IValue value) {
  auto tuple = net.forward({x}).toTuple();
  for (auto &e : tuple->elements())
    std::cout << e.toTensor();
  Tensor first = net.forward({x}).toTuple()->elements()[0].toTensor();
  auto second = net.forward({x}).toTuple()->elements()[1];
  std::vector<Tensor> kept;
  kept.push_back(net.forward({x}).toTuple()->elements()[0].toTensor());
  const Tensor &extended = net.forward({x}).toTensor();
  for (auto &e : value.toTuple()->elements())
    std::cout << e.toTensor();
  for (const auto &t : net.forward({x}).toTensorVector())
    std::cout << t;
  std::cout << first << second.toTensor() << kept[0] << extended;
}

void named(torch::nn::Linear layer) {
  for (auto &item : layer->named_parameters())
    std::cout << item.key();
  auto all = layer->named_parameters();
  for (auto &item : all.items())
    std::cout << item.key();
  auto weight = layer->named_parameters()["weight"];
  Tensor bias = *layer->named_parameters().find("bias");
  layer->named_parameters()["weight"].data().zero_();
  std::cout << weight.sum() << bias.sum() << layer->named_parameters().find("bias")->sum();
}

// What was resized lies in order: contiguous() is the tensor itself.
auto grows(torch::Tensor &buffer) {
  return [&buffer](size_t bytes) {
    buffer.resize_({static_cast<int64_t>(bytes)});
    return reinterpret_cast<char *>(buffer.contiguous().data_ptr());
  };
}

// softmax() lays its result out anew, however its operand lies.
float mostLikely(const Tensor &logits) {
  Tensor shares = torch::log_softmax(logits.t(), -1).squeeze(0).to(torch::kCPU);
  const float *first = shares.contiguous().data_ptr<float>();
  return first[0] + first[1];
}

// The first dimensions of what lies in order lie in order: contiguous() is a view of it.
float rowsInOrder(torch::Tensor x, int64_t n, int i, int j) {
  auto t = x.repeat_interleave(3).reshape({n, 4, -1}).to(torch::kCPU);
  auto *a = t.index({j, i}).contiguous().data_ptr<float>();
  auto *b = t[j].contiguous().data_ptr<float>();
  auto u = torch::zeros({n, 4, 5});
  auto *c = u.select(0, i)[j].contiguous().data_ptr<float>();
  auto *d = u.slice(0, 1, n).contiguous().data_ptr<float>();
  return *a + *b + *c + *d;
}

// A number is copied, wherever to.
struct Diagram {
  std::array<double, 64> ends;
  double begins[64];
  std::array<float, 4> few;
  void set(const torch::Tensor &z, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
      ends[i] = *z.index({i, 1}).to(torch::kCPU).data_ptr<double>();
      begins[i] = *z.index({i, 2}).to(torch::kCPU).data_ptr<double>();
      few[i % 4] = *z.index({i, 3}).to(torch::kFloat).data_ptr<float>();
    }
  }
};
double last(const Diagram &diagram) { return diagram.ends.back() + diagram.few[3]; }

// What a function returns may live on: an argument, a part of one, what
// somebody keeps, on one way at least.
struct Store {
  Tensor kept;
  Tensor get(const Tensor &x) {
    if (!kept.defined())
      kept = x * 2;
    return kept;
  }
  virtual Tensor made(const Tensor &x) { return x * 2; }
  virtual ~Store() = default;
};
static Tensor same(const Tensor &x) { return x; }
static Tensor row(const Tensor &x) { return x.select(0, 0); }
static Tensor inOrder(const Tensor &x) { return x.contiguous(); }
static Tensor positive(const Tensor &x, bool isPositive) {
  if (isPositive)
    return x;
  return x.abs();
}
static Tensor written(Tensor &x) { return x.mul_(2); }
float ofFunctions(const Tensor &x, Tensor &y, Store &store) {
  auto *a = same(x).data_ptr<float>();
  auto *b = row(x).data_ptr<float>();
  auto *c = inOrder(x).data_ptr<float>();
  auto *d = positive(x, true).data_ptr<float>();
  auto *e = store.get(x).data_ptr<float>();
  auto *f = store.made(x).data_ptr<float>();
  auto *g = written(y).data_ptr<float>();
  const float h = *(x - y).abs().data_ptr<float>();
  return *a + *b + *c + *d + *e + *f + *g + h;
}

// Numbers are copied out, of what was computed over the caller's memory.
struct Evaluator {
  torch::Device device{torch::kCPU};
  void run(const float *board, int64_t count, float *priors, int64_t *moves) const {
    const Tensor input = torch::from_blob(const_cast<float *>(board), {count, 4}).to(device);
    const Tensor shares = torch::softmax(input, 1), best = input.argmax(1);
    const float *from = shares.data_ptr<float>();
    const int64_t *at = best.data_ptr<int64_t>();
    for (int64_t i = 0; i < count * 4; ++i)
      priors[i] = from[i];
    for (int64_t i = 0; i < count; ++i)
      moves[i] = at[i];
  }
};

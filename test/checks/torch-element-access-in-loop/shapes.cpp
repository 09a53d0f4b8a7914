// RUN: %check_torch %s torch-element-access-in-loop %t -- -config="{CheckOptions: {torch-element-access-in-loop.Strict: true}}"
//
// Elements that are read or written one at a time, in all ways to write it. Which of them are told without
// Strict: once.cpp, passes.cpp.

#include <torch/torch.h>
#include <algorithm>
#include <iostream>
using torch::Tensor;

std::vector<float> copied(const Tensor &scores) {
  std::vector<float> out;
  for (int64_t i = 0; i < scores.size(0); ++i)
    out.push_back(scores[i].item<float>());
    // CHECK-MESSAGES: :[[@LINE-1]]:19: warning: elements of 'scores' are read one at a time: each costs whole tensor operations and, on a GPU, a wait for the device; read them through 'accessor<T, N>()' of one '.to(torch::kCPU)' made before the loop, or compute with the whole tensor
  return out;
}
double grid(Tensor m) {
  double sum = 0;
  for (int i = 0; i < m.size(0); ++i)
    for (int j = 0; j < m.size(1); ++j)
      sum += m[i][j].item().toDouble();
      // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: elements of 'm' are read one at a time
  return sum;
}
double byIndex(Tensor m) {
  double sum = 0;
  for (int i = 0; i < m.size(0); ++i)
    for (int j = 0; j < m.size(1); ++j)
      sum += m.index({i, j}).item<double>();
      // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: elements of 'm' are read one at a time
  return sum;
}
double bySelect(Tensor m, int n) {
  double sum = 0;
  int i = 0;
  while (i < n) {
    sum += m.select(0, i).item<double>();
    // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: elements of 'm' are read one at a time
    i++;
  }
  return sum;
}
struct Box { float x, y, w, h, s; int c; };
std::vector<Box> decode(Tensor detections, float threshold) {
  std::vector<Box> boxes;
  auto dets = detections.to(torch::kCPU);
  for (int i = 0; i < dets.size(0); i++) {
    auto det = dets[i];
    float score = det[4].item<float>();
    // CHECK-MESSAGES: :[[@LINE-1]]:19: warning: elements of 'dets' are read one at a time
    if (score < threshold)
      continue;
    boxes.push_back({det[0].item<float>(), det[1].item<float>(), det[2].item<float>(), det[3].item<float>(), score, det[5].item<int>()});
  }
  return boxes;
}
float readAt(const Tensor &t, int64_t i) { return t[i].item<float>(); }
// CHECK-MESSAGES: :[[@LINE-1]]:51: warning: elements of 't' are read one at a time
float viaHelper(const Tensor &t) {
  float s = 0;
  for (int64_t i = 0; i < t.numel(); ++i) s += readAt(t, i);
  return s;
}
float value(Tensor e) { return e.item<float>(); }
// CHECK-MESSAGES: :[[@LINE-1]]:32: warning: elements of 't' are read one at a time
float viaElement(const Tensor &t) {
  float s = 0;
  for (int64_t i = 0; i < t.numel(); ++i) s += value(t[i]);
  return s;
}
Tensor confusion(Tensor labels, Tensor preds, int classes) {
  Tensor cm = torch::zeros({classes, classes});
  for (int64_t i = 0; i < labels.size(0); ++i)
    cm[labels[i].item<int>()][preds[i].item<int>()] += 1;
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: elements of 'cm' are written one at a time: each costs whole tensor operations; write them through 'accessor<T, N>()' of a tensor on the CPU and move that once, or use one tensor operation
    // CHECK-MESSAGES: :[[@LINE-2]]:8: warning: elements of 'labels' are read one at a time
  return cm;
}
Tensor oneHot(Tensor labels, int64_t n, int64_t k) {
  auto out = torch::zeros({n, k});
  for (int64_t i = 0; i < n; ++i)
    out.index_put_({i, labels[i].item<int64_t>()}, 1.0);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: elements of 'out' are written one at a time
    // CHECK-MESSAGES: :[[@LINE-2]]:24: warning: elements of 'labels' are read one at a time
  return out;
}
std::vector<int> argmaxRows(Tensor p) {
  std::vector<int> a;
  for (int r = 0; r < p.size(0); ++r)
    a.push_back(torch::argmax(p[r]).item().toInt());
    // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: rows of 'p' are computed with one at a time to read a number of each: every row costs whole tensor operations and, on a GPU, a wait for the device; give the operation the dimension and run it once before the loop
  return a;
}
Tensor gae(Tensor rewards, Tensor values, double gamma) {
  auto T = rewards.size(0);
  auto returns = torch::zeros({T});
  double ret = 0;
  for (int64_t t = T - 1; t >= 0; --t) {
    ret = rewards[t].item<double>() + gamma * ret;
    // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: elements of 'rewards' are read one at a time
    returns[t] = ret;
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: elements of 'returns' are written one at a time
  }
  return returns;
}
struct Metrics {
  Tensor counts = torch::zeros({1000});
  void add(const std::vector<int> &ids) {
    for (int id : ids) counts[id] += 1;
    // CHECK-MESSAGES: :[[@LINE-1]]:24: warning: elements of 'counts' are written one at a time
  }
};
int correct(Tensor output, Tensor target) {
  int n = 0;
  for (int i = 0; i < target.size(0); ++i)
    if (output.argmax(1)[i].item<int>() == target[i].item<int>()) n++;
    // CHECK-MESSAGES: :[[@LINE-1]]:9: warning: elements of 'output' are read one at a time
  return n;
}
template <class T> std::vector<T> toVector(const Tensor &t) {
  std::vector<T> v(t.numel());
  for (size_t i = 0; i < v.size(); ++i) v[i] = t[i].template item<T>();
  // CHECK-MESSAGES: :[[@LINE-1]]:48: warning: elements of 't' are read one at a time
  return v;
}
template std::vector<float> toVector<float>(const Tensor &);
void lambda(Tensor t, std::vector<int> ids) {
  std::vector<float> out;
  std::for_each(ids.begin(), ids.end(), [&](int id) { out.push_back(t[id].item<float>()); });
  // CHECK-MESSAGES: :[[@LINE-1]]:69: warning: elements of 't' are read one at a time
}
void image(Tensor img, unsigned char *pixels, int h, int w) {
  for (int y = 0; y < h; ++y)
    for (int x = 0; x < w; ++x)
      for (int c = 0; c < 3; ++c)
        pixels[(y * w + x) * 3 + c] = static_cast<unsigned char>(img[c][y][x].item<float>() * 255);
        // CHECK-MESSAGES: :[[@LINE-1]]:66: warning: elements of 'img' are read one at a time
}
void fromImage(const float *data, int h, int w) {
  auto t = torch::empty({h, w});
  for (int y = 0; y < h; ++y)
    for (int x = 0; x < w; ++x)
      t[y][x] = data[y * w + x];
      // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: elements of 't' are written one at a time
}
float iou(Tensor a, Tensor b) {
  float x1 = std::max(a[0].item<float>(), b[0].item<float>());
  // CHECK-MESSAGES: :[[@LINE-1]]:23: warning: elements of 'boxes' are read one at a time
  // CHECK-MESSAGES: :[[@LINE-2]]:43: note: and here
  float x2 = std::min(a[2].item<float>(), b[2].item<float>());
  return x2 - x1;
}
std::vector<int> nms(Tensor boxes, float thr) {
  std::vector<int> keep;
  for (int i = 0; i < boxes.size(0); ++i) {
    bool ok = true;
    for (int k : keep) if (iou(boxes[i], boxes[k]) > thr) ok = false;
    if (ok) keep.push_back(i);
  }
  return keep;
}
std::string decodeText(Tensor tokens, const std::vector<std::string> &vocab) {
  std::string s;
  for (int i = 0; i < tokens.size(1); ++i) {
    int64_t id = tokens[0][i].item<int64_t>();
    // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: elements of 'tokens' are read one at a time
    if (id == 2) break;
    s += vocab[id];
  }
  return s;
}
std::vector<float> rebound(Tensor preds, Tensor mask) {
  auto det = preds.select(0, 0);
  det = det.index({mask});
  std::vector<float> out;
  for (int i = 0; i < det.size(0); ++i)
    out.push_back(det[i][4].item<float>());
    // CHECK-MESSAGES: :[[@LINE-1]]:19: warning: elements of 'det' are read one at a time
  return out;
}
Tensor positional(int len, int dim) {
  auto pe = torch::zeros({len, dim});
  for (int p = 0; p < len; ++p)
    for (int i = 0; i < dim; i += 2) {
      pe[p][i] = std::sin(p / std::pow(10000.0, double(i) / dim));
      // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: elements of 'pe' are written one at a time
      pe[p][i + 1] = std::cos(p / std::pow(10000.0, double(i) / dim));
    }
  return pe;
}
void manyPicked(Tensor scores, std::vector<float> &out) {
  auto best = std::get<0>(scores.topk(100));
  for (int i = 0; i < 100; ++i)
    out.push_back(best[i].item<float>());
    // CHECK-MESSAGES: :[[@LINE-1]]:19: warning: elements of 'best' are read one at a time
}
// The operand is an element, too.
struct Episode { Tensor value, left; };
void backUp(Episode &e, int n) {
  for (int s = n - 2; s >= 0; --s) {
    e.value[s][0] += e.value[s + 1][0];
    float left = e.left[s + 1][3].item<float>();
    // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: elements of 'e.left' are read one at a time
    e.value[s + 1][0] /= left + 1;
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: elements of 'e.value' are written one at a time
  }
}

// Two numbers of each step, or one in a loop that is repeated, or a copy and nothing else.
double line(double);
void twoNumbers(Tensor x, Tensor y, std::vector<double> &out) {
  for (int64_t i = 0; i < x.size(0); ++i)
    out.push_back(line(x[i].item<double>()) - y[i].item<double>());
    // CHECK-MESSAGES: :[[@LINE-1]]:24: warning: elements of 'x' are read one at a time
}
void repeated(const std::vector<Tensor> &all, std::vector<double> &out) {
  for (const Tensor &x : all)
    for (int64_t i = 0; i < x.size(0); ++i)
      out.push_back(line(x[i].item<double>()));
      // CHECK-MESSAGES: :[[@LINE-1]]:26: warning: elements of 'x' are read one at a time
}
std::vector<double> toVector(const Tensor &x) {
  std::vector<double> out(x.size(0));
  for (size_t i = 0; i < out.size(); ++i)
    out[i] = x[i].item<double>();
    // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: elements of 'x' are read one at a time
  return out;
}

// An element of another tensor, where there are as many indices as dimensions.
Tensor behind(const Tensor &sold) {
  auto lagged = torch::zeros({sold.size(0), sold.size(1), 2});
  for (int64_t shop = 0; shop < sold.size(0); ++shop)
    for (int64_t day = 1; day < sold.size(1); ++day)
      lagged[shop][day][1] = sold[shop][day - 1];
      // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: elements of 'lagged' are written one at a time
  return lagged;
}
void eachBehind(int64_t n) {
  for (int i = 0; i < 100; ++i)
    std::cout << behind(torch::rand({n, n}));
}

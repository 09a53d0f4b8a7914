// RUN: %check_torch %s torch-transfer-for-metadata %t
//
// Copies that are asked for nothing but what the original knows.

#include <torch/torch.h>

using torch::Tensor;

int64_t sizes(Tensor x, const Tensor *p, torch::Device device) {
  int64_t n = x.cpu().size(0);
  // CHECK-MESSAGES: :[[@LINE-1]]:15: warning: 'cpu' copies the whole tensor, and all that is asked of the copy is 'size()', which 'x' knows as well; leave the copy out [torch-transfer-for-metadata]
  // CHECK-FIXES: int64_t n = x.size(0);
  n += x.to(torch::kCPU).numel();
  // CHECK-MESSAGES: :[[@LINE-1]]:8: warning: 'to' copies the whole tensor, and all that is asked of the copy is 'numel()'
  // CHECK-FIXES: n += x.numel();
  n += x.sum(0).to(device, torch::kFloat).dim();
  // CHECK-MESSAGES: :[[@LINE-1]]:8: warning: 'to' copies the whole tensor, and all that is asked of the copy is 'dim()', which the original knows as well
  // CHECK-FIXES: n += x.sum(0).dim();
  n += p->cuda().sizes()[1];
  // CHECK-MESSAGES: :[[@LINE-1]]:8: warning: 'cuda' copies
  // CHECK-FIXES: n += p->sizes()[1];
  n += x.to(torch::kLong).size(0);
  // CHECK-MESSAGES: :[[@LINE-1]]:8: warning: 'to' copies
  // CHECK-FIXES: n += x.size(0);
  if (x.cpu().dtype() == torch::kFloat)
    // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: 'cpu' copies the whole tensor, and all that is asked of the copy is 'dtype()'
    // CHECK-FIXES: if (x.dtype() == torch::kFloat)
    ++n;
  return n;
}

int64_t variable(Tensor x, torch::nn::Linear net) {
  auto host = net->forward(x).to(torch::kCPU);
  // CHECK-MESSAGES: :[[@LINE-1]]:15: warning: 'to' copies the whole tensor, and all that is asked of the copy is 'size()', which the original knows as well
  // CHECK-FIXES: auto host = net->forward(x);
  return host.size(0) * host.size(1) + host.dim();
}

void inLoop(torch::nn::Linear net, const std::vector<Tensor> &xs) {
  int64_t total = 0;
  for (const auto &x : xs) {
    const auto y = net->forward(x);
    total += y.to(torch::kCPU).numel();
    // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: 'to' copies
    // CHECK-FIXES: total += y.numel();
  }
  std::cout << total;
}

template <class T> int64_t inTemplate(Tensor x, T) {
  return x.cpu().size(0);
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: 'cpu' copies
  // CHECK-FIXES: return x.size(0);
}
template int64_t inTemplate(Tensor, int);
template int64_t inTemplate(Tensor, float);

static int64_t rows(const Tensor &x) { return x.to(torch::kCPU).size(0); }
// CHECK-MESSAGES: :[[@LINE-1]]:47: warning: 'to' copies
// CHECK-FIXES: static int64_t rows(const Tensor &x) { return x.size(0); }
auto lambda = [](Tensor x) { return rows(x) + x.cuda().dim(); };
// CHECK-MESSAGES: :[[@LINE-1]]:47: warning: 'cuda' copies
// CHECK-FIXES: auto lambda = [](Tensor x) { return rows(x) + x.dim(); };

// Functions of the file that are given the copy ask for nothing else.
static int64_t elements(const Tensor &x) { return x.numel(); }
struct Progress {
  int64_t rows = 0;
  void add(const Tensor &x, int64_t weight) { rows += weight * x.size(0); }
  void addAll(Tensor x) { add(x, elements(x)); }
};
void inFunctions(torch::nn::Linear net, const std::vector<Tensor> &xs) {
  Progress progress;
  for (const auto &x : xs) {
    const auto y = net->forward(x);
    progress.add(y.cpu(), 2);
    // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: 'cpu' copies the whole tensor, and all that is asked of the copy is 'size()', which 'y' knows as well
    // CHECK-MESSAGES: :[[@LINE-9]]:66: note: asked here
    // CHECK-FIXES: progress.add(y, 2);
    auto host = (y * 2).cpu();
    // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: 'cpu' copies
    // CHECK-FIXES: auto host = (y * 2);
    progress.addAll(host);
  }
}

// RUN: %check_torch %s torch-element-access-in-loop %t
// RUN: %check_torch %s torch-element-access-in-loop %t -check-prefix=MINOR -- -config="{CheckOptions: {torch-element-access-in-loop.Minor: true}}"
//
// One loop whose length nothing says, over what is known to lie on the host,
// is told with Minor only.

#include <torch/torch.h>

using torch::Tensor;

double one(const Tensor &x) {
  const Tensor t = x.cpu();
  double sum = 0;
  for (int64_t i = 0; i < t.size(0); ++i)
    sum += t[i].item<double>();
    // MINOR-MESSAGES: :[[@LINE-1]]:12: warning: elements of 't' are read one at a time
  return sum;
}
// It may be on a device: each element is a wait there.
double anywhere(const Tensor &t) {
  double sum = 0;
  for (int64_t i = 0; i < t.size(0); ++i)
    sum += t[i].item<double>();
    // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: elements of 't' are read one at a time
    // MINOR-MESSAGES: :[[@LINE-2]]:12: warning: elements of 't' are read one at a time
  return sum;
}
double nest(const Tensor &t) {
  double sum = 0;
  for (int64_t i = 0; i < t.size(0); ++i)
    for (int64_t j = 0; j < t.size(1); ++j)
      sum += t[i][j].item<double>();
      // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: elements of 't' are read one at a time
      // MINOR-MESSAGES: :[[@LINE-2]]:14: warning: elements of 't' are read one at a time
  return sum;
}
double many() {
  const Tensor t = torch::rand({100000});
  double sum = 0;
  for (int64_t i = 0; i < 100000; ++i)
    sum += t[i].item<double>();
    // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: elements of 't' are read one at a time
    // MINOR-MESSAGES: :[[@LINE-2]]:12: warning: elements of 't' are read one at a time
  return sum;
}
double all(const std::vector<Tensor> &ts) {
  double sum = 0;
  for (const Tensor &t : ts)
    sum += one(t) + anywhere(t) + nest(t) + many();
  return sum;
}

// RUN: %check_torch %s torch-blob-dtype %t
//
// A program that sets another default type.

#include <torch/torch.h>

torch::Tensor read(std::vector<double> &xs) {
  return torch::from_blob(xs.data(), {4}).clone();
}

torch::Tensor said(std::vector<double> &xs) {
  return torch::from_blob(xs.data(), {4}, torch::kFloat).clone();
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: 'from_blob' reads memory of 'double' as 'kFloat': the values are wrong; pass 'torch::kDouble'
  // CHECK-FIXES: return torch::from_blob(xs.data(), {4}, torch::kDouble).to(torch::kFloat);
}

int main() {
  torch::set_default_dtype(caffe2::TypeMeta::Make<double>());
  std::vector<double> xs(4);
  return read(xs).sum().item<double>() + said(xs).sum().item<double>() > 1;
}

// RUN: %check_torch %s torch-device-mismatch %t
//
// A tensor of no dimensions may lie on the CPU whatever the others do. What has
// some for certain: parts of tensors, and products of matrices.

#include <torch/torch.h>

using torch::Tensor;
using torch::indexing::Slice;
using torch::nn::Linear;

void parts(Linear net) {
  net->to(torch::kCUDA);
  Tensor table = torch::randn({64, 8});
  Tensor which = torch::arange(4);
  Tensor y = net(torch::ones({4, 8}, torch::kCUDA));
  Tensor a = torch::mse_loss(y, table.narrow(0, 0, 4));
  // CHECK-MESSAGES: :[[@LINE-1]]:33: warning: this tensor is on the CPU, and
  // 'y' is on a CUDA device
  Tensor b = torch::mse_loss(y, table.slice(0, 0, 4));
  // CHECK-MESSAGES: :[[@LINE-1]]:33: warning: this tensor is on the CPU
  Tensor c = y + table.index({Slice(0, 4)});
  // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: this tensor is on the CPU
  Tensor d = y + table.index({0});
  // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: this tensor is on the CPU
  Tensor e = y + table.index_select(0, which);
  // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: this tensor is on the CPU
  // Numbers.
  Tensor f = y * table.index({0, 0});
  Tensor g = y * table.sum();
}

void products(Linear net) {
  net->to(torch::kCUDA);
  Tensor rows = torch::randn({4, 8});
  Tensor weight = torch::randn({8, 8});
  Tensor line = torch::randn({8});
  Tensor y = net(torch::ones({4, 8}, torch::kCUDA));
  Tensor a = torch::mse_loss(y, torch::matmul(rows, weight));
  // CHECK-MESSAGES: :[[@LINE-1]]:33: warning: this tensor is on the CPU
  Tensor b = y + rows.mm(weight);
  // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: this tensor is on the CPU
  Tensor c = y.unsqueeze(0) + rows.unsqueeze(0).bmm(weight.unsqueeze(0));
  // CHECK-MESSAGES: :[[@LINE-1]]:31: warning: this tensor is on the CPU, and
  // the other tensor is on a CUDA device Of two vectors it is a number.
  Tensor d = y * torch::matmul(line, line);
}

// cat() and stack() return no single number, whatever they are given.
void joined(Linear net, const Tensor &a, const Tensor &b) {
  net->to(torch::kCUDA);
  Tensor y = net(torch::ones({4, 8}, torch::kCUDA));
  Tensor place = torch::cat({a.cpu(), b.cpu()});
  Tensor c = y + place;
  // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: 'place' is on the CPU
  Tensor d = y + torch::stack({a.cpu(), b.cpu()}).sqrt();
  // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: this tensor is on the CPU
  Tensor e = y * a.cpu();
}

// Of tensors from elsewhere it is not known how many dimensions they have.
void fromElsewhere(Linear net, Tensor table, Tensor weight) {
  net->to(torch::kCUDA);
  table = table.cpu();
  weight = weight.cpu();
  Tensor y = net(torch::ones({4, 8}, torch::kCUDA));
  Tensor a = y + table.narrow(0, 0, 4);
  // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: this tensor is on the CPU
  Tensor b = y + table.index({Slice(0, 4), Slice()});
  // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: this tensor is on the CPU
  Tensor c = y * torch::matmul(table, weight);
  Tensor d = y + table.index({0});
}

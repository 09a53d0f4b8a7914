// RUN: %check_torch %s torch-discarded-result %t

#include <torch/torch.h>

using torch::Tensor;

struct Batch {
  Tensor data;
  std::vector<Tensor> parts;
};

Tensor all(Tensor x, Tensor y, Batch batch, Batch *other, torch::Device device) {
  // CHECK-FIXES: {{^}}  x = x.to(device);
  x.to(device);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: 'x.to(device)'
  // CHECK-FIXES: {{^}}  x = x.to(torch::kFloat), y = y.to(torch::kFloat);
  x.to(torch::kFloat), y.to(torch::kFloat);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: 'x.to(torch::kFloat)'
  // CHECK-MESSAGES: :[[@LINE-2]]:24: warning: 'y.to(torch::kFloat)'
  // CHECK-FIXES: {{^}}  batch.data = batch.data.contiguous();
  batch.data.contiguous();
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: 'batch.data.contiguous()'
  // CHECK-FIXES: {{^}}  other->data = other->data.detach();
  other->data.detach();
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: 'other->data.detach()'
  if (x.dim() == 3)
    // CHECK-FIXES: {{^}}    x = x.unsqueeze(0);
    x.unsqueeze(0);
  // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: 'x.unsqueeze(0)'
  // CHECK-FIXES: {{^}}  x = x.clamp(0, 1);
  x.clamp(0, 1);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: 'x.clamp(0, 1)'
  // CHECK-FIXES: {{^}}  x = x.to(device).to(torch::kFloat).div(255);
  x.to(device).to(torch::kFloat).div(255);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: 'x.to(device).to(torch::kFloat).div(255)'
  // CHECK-FIXES: {{^}}  x = torch::sigmoid(x);
  torch::sigmoid(x);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: 'torch::sigmoid(x)'
  for (auto &part : batch.parts)
    // CHECK-FIXES: {{^}}    part = part.cpu();
    part.cpu();
  // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: 'part.cpu()'
  return x + y + batch.data + batch.parts[0];
}

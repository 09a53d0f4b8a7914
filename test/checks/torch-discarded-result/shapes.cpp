// RUN: %check_torch %s torch-discarded-result %t -still-warns
//
// Who drops another shape of a tensor has code that works with the shape it
// has: to assign it may break what follows, and no fix does that. Where the
// shape is asked for, the assignment is what was meant.

#include <torch/torch.h>

using torch::Tensor;

struct Towers : torch::nn::Module {
  torch::nn::Embedding users{nullptr}, items{nullptr};

  Tensor forward(Tensor user, Tensor item) {
    Tensor u = users->forward(user), i = items->forward(item);
    // CHECK-FIXES: {{^}}    u.flatten();
    u.flatten();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: 'u.flatten()' returns its result and leaves 'u' as it is, and the result is dropped; write 'u = u.flatten()', or drop the line if what follows needs the shape of 'u'
    // CHECK-FIXES: {{^}}    torch::unsqueeze(i, 0);
    torch::unsqueeze(i, 0);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: 'torch::unsqueeze(i, 0)' returns its result and leaves 'i' as it is, and the result is dropped; write 'i = torch::unsqueeze(i, 0)', or drop the line if what follows needs the shape of 'i'
    return torch::cat({u, i}, 1);
  }
};

Tensor load(Tensor image, Tensor mask, torch::Device device) {
  if (image.dim() == 3)
    // CHECK-FIXES: {{^}}    image = image.unsqueeze(0);
    image.unsqueeze(0);
  // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: 'image.unsqueeze(0)' returns its result and leaves 'image' as it is, and the result is dropped; write 'image = image.unsqueeze(0)'{{ \[}}
  if (image.size(0) > 1)
    // CHECK-FIXES: {{^}}    mask.squeeze();
    mask.squeeze();
  // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: 'mask.squeeze()'
  // CHECK-FIXES: {{^}}  mask.permute({1, 0}).to(device);
  mask.permute({1, 0}).to(device);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: 'mask.permute({1, 0}).to(device)'
  // CHECK-FIXES: {{^}}  image = image.to(device);
  image.to(device);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: 'image.to(device)'
  return image * mask;
}

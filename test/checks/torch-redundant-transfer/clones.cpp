// RUN: %check_torch %s torch-redundant-transfer %t -still-warns
//
// clone() of what nobody else has, and of what came to the host to be read.

#include <torch/torch.h>
#include <cstdio>
#include <vector>

using torch::Tensor;

Tensor unseen(Tensor x);

Tensor bursts(const std::vector<std::vector<Tensor>> &all, torch::Device device) {
  std::vector<Tensor> out;
  for (const auto &frames : all)
    out.push_back(torch::stack(frames).clone().to(device).mean(0));
    // CHECK-MESSAGES: :[[@LINE-1]]:40: warning: 'clone' copies what nobody else has, and 'to' is called on that copy; leave 'clone' out [torch-redundant-transfer]
  return torch::stack(out);
}
Tensor scaled(const Tensor &x, torch::Dtype type) {
  return (x * 2).clone().to(type);
  // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: 'clone' copies what nobody else has
}

static void summary(const Tensor &scores, int round) {
  auto host = scores.to(torch::kCPU).contiguous().clone();
  // CHECK-MESSAGES: :[[@LINE-1]]:51: warning: this tensor is copied twice: by 'to' from the device, and by 'clone'; where it is on the CPU, nobody writes either of the two, and a copy is not needed; leave 'clone' out
  auto entropy = -(host.exp() * host).sum(1).mean();
  std::printf("%d %ld %f\n", round, long(host.size(0)), entropy.item<double>());
}
// The same data over and over; contiguous() in between changes nothing.
static Tensor bytes(const Tensor &x) {
  return x.to(torch::kByte).to(torch::kFloat).contiguous().clone();
  // CHECK-MESSAGES: :[[@LINE-1]]:60: warning: 'clone' copies the tensor once more: what 'to' returns here is nobody else's; leave 'clone' out
}

// A view, and what a variable names, is somebody's.
Tensor parts(const Tensor &x, Tensor &own, torch::Device device) {
  auto made = x * 2;
  own = made;
  return made.clone().to(device) + x[0].clone().to(device) + x.contiguous().clone().to(device) +
         own.mul_(2).clone().to(device);
}
// The copy is written, or kept, or what it was made of is written meanwhile.
static float writes(const Tensor &scores) {
  auto host = scores.cpu().clone();
  host.mul_(2);
  return host.sum().item<float>();
}
static Tensor keeps(const Tensor &scores) {
  auto host = scores.cpu().clone();
  return host;
}
static Tensor keepsView(const Tensor &scores) {
  auto host = scores.cpu().clone();
  return host.t();
}
static float writesSource(Tensor scores) {
  auto host = scores.cpu().clone();
  scores.add_(1);
  return host.sum().item<float>();
}
static float readsPointer(const Tensor &scores) {
  auto host = scores.cpu().clone();
  return host.data_ptr<float>()[0];
}
static float gives(const Tensor &scores) {
  auto host = scores.cpu().clone();
  unseen(scores);
  return host.sum().item<float>();
}
void loop(const Tensor &scores, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    summary(scores, i);
    std::cout << bytes(scores) << writes(scores) << keeps(scores) << keepsView(scores) << writesSource(scores)
              << readsPointer(scores) << gives(scores);
  }
}
// Once: what happens later is another function's matter.
float once(const Tensor &scores) {
  auto host = scores.cpu().clone();
  return host.sum().item<float>();
}

// RUN: %check_torch %s torch-autocast-boundary %t
//
// What looks like the mistake and is right, or is not known to be wrong.

#include <ATen/autocast_mode.h>
#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;

void turn(bool on) { at::autocast::set_autocast_enabled(at::kCPU, on); }

// Under autocast; converted; losses that take it; no backward().
void right(const Tensor &x, const Tensor &target, const Tensor &labels) {
  Linear net(4, 2);
  turn(true);
  auto inside = torch::mse_loss(net(x), target);
  turn(false);
  inside.backward();
  turn(true);
  auto out = net(x);
  auto converted = net(x).to(torch::kFloat);
  auto normed = torch::layer_norm(net(x), {2});
  auto summed = net(x).log_softmax(1);
  turn(false);
  torch::mse_loss(converted, target).backward();
  torch::mse_loss(out.to(torch::kFloat), target).backward();
  torch::mse_loss(normed, target).backward();
  torch::mse_loss(summed, target).backward();
  torch::cross_entropy_loss(out, labels).backward();
  torch::l1_loss(out, target).backward();
  torch::smooth_l1_loss(out, target).backward();
  torch::binary_cross_entropy_with_logits(out, target).backward();
  std::cout << torch::mse_loss(out, target).item<float>();
  std::cout << out.item<float>() << out.to(torch::kFloat).data_ptr<float>()[0];
  std::cout << *out.data_ptr<at::BFloat16>();
  std::cout << out + target;
}

// The other tensor is in half precision as well, or may be.
void other(const Tensor &x, torch::ScalarType type) {
  Linear teacher(4, 2), student(4, 2);
  turn(true);
  auto target = teacher(x).detach();
  auto out = student(x);
  auto w = torch::mm(x, x);
  turn(false);
  torch::mse_loss(out, target).backward();
  torch::mse_loss(out, torch::zeros({2}).to(type)).backward();
  torch::mse_loss(out, torch::zeros({2}, torch::kBFloat16)).backward();
  torch::mm(w, w);
  torch::mm(w, x);
}

// Autocast may be off where it was computed, or on where it is used.
void perhaps(const Tensor &x, const Tensor &target, bool amp) {
  Linear net(4, 2);
  if (amp)
    turn(true);
  auto out = net(x);
  turn(false);
  torch::mse_loss(out, target).backward();
  turn(amp);
  auto again = net(x);
  turn(false);
  if (amp)
    again = again.to(torch::kFloat);
  torch::mse_loss(again, target).backward();
  turn(true);
  auto third = net(x);
  turn(amp);
  torch::mse_loss(third, target).backward();
}

// Off; for another device; in another thread.
void off(const Tensor &x, const Tensor &target) {
  Linear net(4, 2);
  at::autocast::set_autocast_enabled(at::kCUDA, true);
  auto out = net(x);
  at::autocast::set_autocast_enabled(at::kCUDA, false);
  torch::mse_loss(out, target).backward();
  turn(true);
  Tensor made;
  std::thread worker([&] { made = net(x); });
  worker.join();
  turn(false);
  torch::mse_loss(made, target).backward();
}

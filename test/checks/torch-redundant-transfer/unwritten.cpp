// RUN: %check_torch %s torch-redundant-transfer %t -still-warns
//
// clone() before a transfer to a device that the run chooses, where neither
// what is copied nor the copy is written.

#include <torch/torch.h>
#include <vector>

using torch::Tensor;

Tensor read(const Tensor &w, torch::Device device) {
  auto all = torch::rand({512, 8});
  auto sum = torch::zeros({}, torch::device(device));
  for (int i = 0; i < 8; ++i) {
    auto x = all.narrow(0, i * 64, 64).clone().to(device);
    // CHECK-MESSAGES: :[[@LINE-1]]:40: warning: this tensor is copied twice: by 'clone', and by 'to' to the device; where that is the CPU, nobody writes either of the two, and a copy is not needed; leave 'clone' out [torch-redundant-transfer]
    sum += torch::mm(x, w).sum();
  }
  return sum;
}

struct Net : torch::nn::Module {
  torch::nn::Linear fc{register_module("fc", torch::nn::Linear(8, 2))};
  Tensor forward(const Tensor &x) { return torch::relu(fc(x.view({-1, 8}))); }
};
// The same data once more in each iteration, by way of a module.
void train(Net &net, torch::optim::SGD &opt, torch::Device device) {
  net.to(device);
  auto data = torch::rand({4096, 8});
  for (int i = 0; i < 8; ++i) {
    auto x = data.clone().to(device);
    // CHECK-MESSAGES: :[[@LINE-1]]:19: warning: this tensor is copied twice: by 'clone', and by 'to' to the device
    opt.zero_grad();
    net.forward(x).sum().backward();
    opt.step();
  }
}

// The copy is written, itself or by a view.
Tensor writesCopy(torch::Device device) {
  auto all = torch::rand({512, 64});
  auto sum = torch::zeros({}, torch::device(device));
  for (int i = 0; i < 8; ++i) {
    auto x = all.narrow(0, i * 64, 64).clone().to(device);
    x.mul_(2);
    sum += x.sum();
    auto y = all.narrow(0, i * 64, 64).clone().to(device);
    y[0].zero_();
    sum += y.sum();
  }
  return sum;
}
// What it was made of is written while it lives.
Tensor writesSource(torch::Device device) {
  auto all = torch::rand({512, 64});
  auto sum = torch::zeros({}, torch::device(device));
  for (int i = 0; i < 8; ++i) {
    auto before = all.clone().to(device);
    all.add_(1);
    sum += (all.to(device) - before).sum();
  }
  return sum;
}
// It is kept: somebody may write it later, or what it was made of.
struct Keeper {
  Tensor last;
  void keep(const Tensor &x) { last = x; }
};
std::vector<Tensor> keeps(Keeper &keeper, Tensor &out, torch::Device device) {
  auto all = torch::rand({512, 64});
  std::vector<Tensor> result;
  for (int i = 0; i < 8; ++i) {
    auto x = all.narrow(0, i * 64, 64).clone().to(device);
    result.push_back(x);
    auto y = all.narrow(0, i * 64, 64).clone().to(device);
    keeper.keep(y);
    auto z = all.narrow(0, i * 64, 64).clone().to(device);
    out = z;
    if (i == 7) {
      auto a = all.narrow(0, i * 64, 64).clone().to(device);
      return {a};
    }
  }
  return result;
}
// Code that cannot be seen has it.
void unseen(Tensor x);
void given(torch::Device device) {
  auto all = torch::rand({512, 64});
  for (int i = 0; i < 8; ++i) {
    auto x = all.narrow(0, i * 64, 64).clone().to(device);
    unseen(x);
  }
}
// A camera may write there meanwhile.
Tensor camera(float *picture, torch::Device device) {
  auto all = torch::from_blob(picture, {512, 64});
  auto sum = torch::zeros({}, torch::device(device));
  for (int i = 0; i < 8; ++i) {
    auto x = all.clone().to(device);
    sum += x.sum();
  }
  return sum;
}
// Once: what happens to it later is another function's matter.
Tensor once(torch::Device device) {
  auto all = torch::rand({512, 64});
  auto x = all.clone().to(device);
  return x * 2;
}
// The source is another tensor each time: who writes it is not looked for.
Tensor each(const std::vector<Tensor> &all, torch::Device device) {
  auto sum = torch::zeros({}, torch::device(device));
  for (const auto &one : all) {
    auto x = one.clone().to(device);
    sum += x.sum();
  }
  return sum;
}

// RUN: %check_torch %s torch-device-round-trip %t
//
// The host has a use for the copy, or it is no round trip.

#include <torch/torch.h>

using torch::Tensor;
void use(Tensor);
Tensor find(const Tensor &boxes);

// Numbers are read.
Tensor item(Tensor x) {
  auto host = x.cpu() * 2;
  std::cout << host.sum().item<float>();
  return host.to(torch::kCUDA);
}
Tensor accessed(Tensor x) {
  auto host = x.cpu().contiguous();
  auto numbers = host.accessor<float, 1>();
  for (int64_t i = 0; i < host.size(0); ++i)
    numbers[i] = numbers[i] > 0 ? 1.0F : 0.0F;
  return (host * 2).to(torch::kCUDA);
}
Tensor pointer(Tensor x) {
  auto host = (x * 2).cpu();
  auto half = host / 2;
  *half.data_ptr<float>() = 1;
  return half.to(torch::kCUDA);
}
Tensor printed(Tensor x) {
  auto host = x.cpu() * 2;
  std::cout << host << '\n';
  return host.to(torch::kCUDA);
}
Tensor saved(Tensor x) {
  auto host = x.cpu() * 2;
  torch::save(host, "x.pt");
  return host.to(torch::kCUDA);
}
Tensor compared(Tensor x) {
  auto host = x.cpu() * 2;
  return torch::equal(host, torch::ones({3})) ? host.to(torch::kCUDA) : x;
}
// Code that is not seen.
Tensor given(Tensor x) {
  auto host = x.cpu() * 2;
  use(host);
  return host.to(torch::kCUDA);
}
Tensor returned(Tensor boxes) {
  auto kept = find(boxes.cpu());
  return (kept + 1).to(torch::kCUDA);
}
// Somebody else reads it.
struct Cache {
  Tensor last;
  std::vector<Tensor> all;
  Tensor member(Tensor x) {
    last = x.cpu();
    return (last * 2).to(torch::kCUDA);
  }
  Tensor element(Tensor x) {
    auto host = x.cpu() * 2;
    all.push_back(host);
    return host.to(torch::kCUDA);
  }
};
Tensor out(Tensor x, Tensor &kept) {
  kept = x.cpu();
  return (kept * 2).to(torch::kCUDA);
}
std::pair<Tensor, Tensor> both(Tensor x) {
  auto host = x.cpu();
  return {host, (host * 2).to(torch::kCUDA)};
}
// A network on the host.
Tensor network(torch::nn::Linear onHost, Tensor x) {
  return onHost->forward(x.cpu()).relu().to(torch::kCUDA);
}
// What a device does no better: it has to wait, or draws other numbers.
Tensor waits(Tensor x) {
  return x.cpu().nonzero().squeeze(1).to(torch::kCUDA);
}
Tensor decomposed(Tensor x) {
  return torch::linalg_inv(x.cpu()).matmul(torch::ones({3, 3})).to(torch::kCUDA);
}
Tensor drawn(Tensor x) {
  return (torch::bernoulli(x.cpu()) * 2).to(torch::kCUDA);
}
// One by one.
Tensor marked(Tensor x, const std::vector<int64_t> &places) {
  auto host = x.cpu();
  for (int64_t place : places)
    host[place] = 1;
  return (host * 2).to(torch::kCUDA);
}
// It never was on a device, or need not have been copied there.
Tensor made(torch::Device device) {
  auto x = torch::rand({64, 64});
  return (x.cpu() * 2).to(device);
}
Tensor onOnePath(Tensor x, bool gpu, torch::Device device) {
  auto host = torch::rand({64, 64});
  if (gpu)
    host = x.cpu();
  return (host * 2).to(device);
}
// To have room on the device meanwhile.
Tensor parked(Tensor x, torch::nn::Linear net) {
  auto host = x.cpu();
  auto y = net->forward(torch::rand({4, 4}, torch::kCUDA));
  return host.to(torch::kCUDA) + y;
}
// In the next iteration, after the loop.
void state(torch::nn::Linear net, Tensor x) {
  Tensor host = torch::zeros({4, 4});
  for (int i = 0; i < 100; ++i) {
    x = net->forward((host * 2).to(torch::kCUDA));
    host = x.cpu();
  }
}
Tensor collected(torch::nn::Linear net, const std::vector<Tensor> &xs) {
  std::vector<Tensor> results;
  for (const auto &x : xs)
    results.push_back(net->forward(x).cpu());
  return torch::cat(results).to(torch::kCUDA);
}
// Down, and not up; up, and not down.
Tensor down(Tensor x) { return x.cpu() * 2; }
Tensor up(Tensor x) { return (x * 2).to(torch::kCUDA); }
Tensor toHost(Tensor x) { return (x.cpu() * 2).to(torch::kCPU).to(torch::kFloat); }

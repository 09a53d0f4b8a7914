// RUN: %check_torch %s torch-device-round-trip %t
//
// The indices that an operation returns beside its values.

#include <torch/torch.h>

using torch::Tensor;

void train(torch::nn::Linear net, torch::optim::SGD &sgd, const std::vector<Tensor> &xs, torch::Device device) {
  net->to(device);
  for (const Tensor &x : xs) {
    Tensor out = net->forward(x.to(device));

    auto [largest, where] = out.detach().cpu().max(1);
    // CHECK-MESSAGES: :[[@LINE-1]]:42: warning: this tensor is copied to the host, and what is computed from it there goes to a device again
    Tensor target = where.to(device);

    // The host reads them.
    auto order = std::get<1>(out.detach().to(torch::kCPU).sort(1));
    const int64_t *first = order.data_ptr<int64_t>();
    Tensor again = order.to(device);

    // They were on the host before.
    Tensor picked = std::get<1>(torch::rand({64, 9}).cpu().topk(2, 1)).to(device);

    sgd.zero_grad();
    torch::nll_loss(out.gather(1, again + picked.sum() + *first), target).backward();
    sgd.step();
  }
}

// RUN: %check_torch %s torch-missing-no-grad %t
//
// A std::array keeps its elements, however it is made and read: what a loss is
// computed from is trained through.

#include <torch/torch.h>

#include <array>

using torch::Tensor;
using torch::nn::Linear;

struct TwoHeadsImpl : torch::nn::Module {
  TwoHeadsImpl() {
    policy = register_module("policy", Linear(4, 2));
    value = register_module("value", Linear(4, 1));
  }
  std::array<Tensor, 2> forward(const Tensor &x) {
    return {policy->forward(x), value->forward(x).squeeze(1)};
  }
  std::array<Tensor, 12> steps(const Tensor &x) {
    return {policy->forward(x), value->forward(x)};
  }
  Linear policy{nullptr}, value{nullptr};
};
TORCH_MODULE(TwoHeads);

struct Batch {
  Tensor x, y;
};
struct Outputs {
  std::array<Tensor, 2> heads;
  int64_t count = 0;
};

// ----- quiet: trained through -----

static std::vector<Tensor> losses(TwoHeads &net, const Batch &batch) {
  auto heads = net->forward(batch.x);
  return {torch::mse_loss(heads[0], batch.y), heads[1].mean()};
}

static Tensor byBinding(TwoHeads &net, const Batch &batch) {
  auto [policy, value] = net->forward(batch.x);
  return torch::mse_loss(policy, batch.y) + value.mean();
}

static Tensor byGet(TwoHeads &net, const Batch &batch) {
  const std::array<Tensor, 2> heads = net->forward(batch.x);
  return std::get<1>(heads).sum();
}

static Tensor byLoop(TwoHeads &net, const Batch &batch) {
  Tensor total = torch::zeros({1});
  for (const Tensor &head : net->forward(batch.x))
    total = total + head.sum();
  return total;
}

static Tensor byVariable(TwoHeads &net, const Batch &batch, size_t which) {
  auto heads = net->forward(batch.x);
  return heads[which].sum();
}

static Tensor ofMember(TwoHeads &net, const Batch &batch) {
  Outputs out{{net->policy->forward(batch.x), net->value->forward(batch.x)}, 2};
  return out.heads[0].sum() + out.heads.back().sum();
}

static Tensor longArray(TwoHeads &net, const Batch &batch) {
  auto all = net->steps(batch.x);
  return all.at(1).sum();
}

template <class Loss> static void fit(TwoHeads &net, Batch batch, Loss loss) {
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  for (int step = 0; step < 9; ++step) {
    optimizer.zero_grad();
    loss(net, batch).backward();
    optimizer.step();
  }
}

// ----- not trained through -----

// The element that is trained on does not come from the second pass.
static Tensor otherElement(TwoHeads &net, TwoHeads &teacher, const Batch &batch) {
  std::array<Tensor, 2> pair{
      net->policy->forward(batch.x),
      teacher->policy->forward(batch.x)};
      // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: forward pass of 'teacher->policy' keeps all intermediate results for a backward() that never comes
  std::cout << pair[1].sum().item<float>();
  return pair[0].sum();
}

int main() {
  Batch batch{torch::rand({8, 4}), torch::rand({8, 2})};
  TwoHeads net, teacher;
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  for (int step = 0; step < 9; ++step) {
    optimizer.zero_grad();
    losses(net, batch)[0].backward();
    optimizer.step();
  }
  fit(net, batch, byBinding);
  fit(net, batch, byGet);
  fit(net, batch, byLoop);
  fit(net, batch, ofMember);
  fit(net, batch, longArray);
  for (int step = 0; step < 9; ++step) {
    optimizer.zero_grad();
    byVariable(net, batch, step % 2).backward();
    optimizer.step();
    optimizer.zero_grad();
    otherElement(net, teacher, batch).backward();
    optimizer.step();
  }
}

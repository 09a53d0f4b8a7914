// RUN: %check_torch %s torch-undetached-hidden-state %t
//
// A condition on the very state says what it is on each side of it.

#include <torch/torch.h>

#include <optional>

using torch::Tensor;

struct CellImpl : torch::nn::Module {
  CellImpl() { gru = register_module("gru", torch::nn::GRUCell(4, 4)); }
  std::pair<Tensor, Tensor> forward(Tensor x, Tensor h) {
    if (!h.defined())
      h = torch::zeros({2, 4});
    h = gru->forward(x, h);
    return {h.sum(), h};
  }
  torch::nn::GRUCell gru{nullptr};
};
TORCH_MODULE(Cell);

template <class Repackage>
static void fit(Cell net, const std::vector<Tensor> &xs, Repackage clean) {
  torch::optim::SGD opt(net->parameters(), 0.1);
  Tensor h;
  for (const auto &x : xs) {
    auto [loss, next] = net->forward(x, clean(h));
    h = next;
    opt.zero_grad();
    loss.backward();
    opt.step();
  }
}

// ----- quiet -----

static Tensor choice(const Tensor &h) { return h.defined() ? h.detach() : h; }
static Tensor negated(const Tensor &h) { return !h.defined() ? h : h.detach(); }
static Tensor early(const Tensor &h) {
  if (!h.defined())
    return h;
  return h.detach();
}
static Tensor nested(const Tensor &h) {
  if (h.defined()) {
    if (h.requires_grad())
      return h.detach();
    return h;
  }
  return h;
}

struct Agent {
  explicit Agent(Cell net) : net(net), opt(net->parameters(), 0.1) {}
  void step(Tensor x) {
    Tensor start = state.has_value() ? state->detach() : torch::zeros({2, 4});
    auto [loss, next] = net->forward(x, start);
    state = next;
    opt.zero_grad();
    loss.backward();
    opt.step();
  }
  Cell net;
  torch::optim::SGD opt;
  std::optional<Tensor> state;
};

static void throughOptional(Cell net, const std::vector<Tensor> &xs) {
  torch::optim::SGD opt(net->parameters(), 0.1);
  std::optional<Tensor> h;
  for (const auto &x : xs) {
    Tensor start;
    if (h)
      start = h->detach();
    auto [loss, next] = net->forward(x, start);
    h = next;
    opt.zero_grad();
    loss.backward();
    opt.step();
  }
}

// ----- the condition is on something else, or the other way round -----

static void carried(Cell net, const std::vector<Tensor> &xs, bool reset) {
  torch::optim::SGD opt(net->parameters(), 0.1);
  Tensor h;
  for (const auto &x : xs) {
    auto [loss, next] = net->forward(x, reset ? h.detach() : h);
    h = next;
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: recurrent state 'h' carries what its backward() needs (its autograd graph) into the next iteration
    opt.zero_grad();
    loss.backward();
    opt.step();
  }
}

static Tensor wrongWay(const Tensor &h) { return h.defined() ? h : h.detach(); }

static void carriedByHelper(Cell net, const std::vector<Tensor> &xs) {
  torch::optim::SGD opt(net->parameters(), 0.1);
  Tensor h = torch::zeros({2, 4});
  for (const auto &x : xs) {
    auto [loss, next] = net->forward(x, wrongWay(h));
    h = next;
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: recurrent state 'h' carries what its backward() needs (its autograd graph) into the next iteration
    opt.zero_grad();
    loss.backward();
    opt.step();
  }
}

static void otherTensor(Cell net, const std::vector<Tensor> &xs, Tensor mask) {
  torch::optim::SGD opt(net->parameters(), 0.1);
  Tensor h = torch::zeros({2, 4});
  for (const auto &x : xs) {
    auto [loss, next] = net->forward(x, mask.defined() ? h.detach() : h);
    h = next;
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: recurrent state 'h' carries what its backward() needs (its autograd graph) into the next iteration
    opt.zero_grad();
    loss.backward();
    opt.step();
  }
}

int main(int count, char **) {
  Cell net;
  std::vector<Tensor> xs{torch::rand({2, 4}), torch::rand({2, 4})};
  fit(net, xs, choice);
  fit(net, xs, negated);
  fit(net, xs, early);
  fit(net, xs, nested);
  Agent agent(net);
  for (const auto &x : xs)
    agent.step(x);
  throughOptional(net, xs);
  carried(net, xs, count > 1);
  carriedByHelper(net, xs);
  otherTensor(net, xs, torch::rand({2}));
}

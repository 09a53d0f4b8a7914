// RUN: %check_torch %s torch-undetached-hidden-state %t
//
// Members, statics and globals: the state lives from call to call, whoever calls.

#include <torch/torch.h>

#include <memory>

using torch::Tensor;
using torch::nn::GRU;
using torch::nn::GRUCell;
using torch::nn::Linear;
using torch::nn::LSTMCell;
using torch::optim::SGD;

// The callers are elsewhere; nothing else writes the member.
class Trainer {
public:
  float step(const Tensor &x, const Tensor &y) {
    opt_.zero_grad();
    h_ = cell_->forward(x, h_);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: recurrent state 'h_' carries what its backward() needs (its autograd graph) into the next call: the next backward() goes on into what this one has freed, and throws; detach it: 'h_ = h_.detach();' [torch-undetached-hidden-state]
    auto loss = torch::mse_loss(h_, y);
    loss.backward();
    opt_.step();
    return loss.item<float>();
  }

private:
  GRUCell cell_{8, 8};
  SGD opt_{cell_->parameters(), 0.1};
  Tensor h_ = torch::zeros({4, 8});
};

// The state of an LSTM, made by a constructor.
class LstmTrainer {
public:
  LstmTrainer() : state_(torch::zeros({4, 8}), torch::zeros({4, 8})) {}

  void step(const Tensor &x, const Tensor &y) {
    opt_.zero_grad();
    this->state_ = cell_->forward(x, this->state_);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: recurrent state '{{.*}}state_' carries what its backward() needs (its autograd graph) into the next call: the next backward() goes on into what this one has freed, and throws; detach its tensors
    torch::mse_loss(std::get<0>(state_), y).backward();
    opt_.step();
  }

private:
  LSTMCell cell_{8, 8};
  SGD opt_{cell_->parameters(), 0.1};
  std::tuple<Tensor, Tensor> state_;
};

// The callers are here, in a loop.
class Agent {
public:
  Tensor act(const Tensor &observation) {
    hx_ = cell_->forward(observation, hx_);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: recurrent state 'hx_' carries what its backward() needs (its autograd graph) into the next iteration: the next backward() goes on into what this one has freed, and throws; detach it: 'hx_ = hx_.detach();'
    return head_->forward(hx_);
  }
  std::vector<Tensor> parameters() const { return cell_->parameters(); }

private:
  GRUCell cell_{8, 8};
  Linear head_{8, 8};
  Tensor hx_ = torch::zeros({4, 8});
};

void trainAgent(const std::vector<Tensor> &observations, Tensor y) {
  Agent agent;
  SGD opt(agent.parameters(), 0.1);
  for (const auto &observation : observations) {
    auto loss = torch::mse_loss(agent.act(observation), y);
    opt.zero_grad();
    loss.backward();
    opt.step();
  }
}

// A module that keeps the state of its layer.
struct StatefulImpl : torch::nn::Module {
  StatefulImpl() { gru = register_module("gru", GRU(8, 8)); }
  Tensor forward(const Tensor &x) {
    auto result = gru->forward(x, state);
    state = std::get<1>(result);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: recurrent state 'state' carries what its backward() needs (its autograd graph) into the next iteration: the next backward() goes on into what this one has freed, and throws
    return std::get<0>(result);
  }
  GRU gru{nullptr};
  Tensor state;
};
TORCH_MODULE(Stateful);

void trainStateful(const std::vector<Tensor> &xs, Tensor y) {
  Stateful net;
  SGD opt(net->parameters(), 0.1);
  for (int epoch = 0; epoch < 3; ++epoch) {
    for (const auto &x : xs) {
      opt.zero_grad();
      torch::mse_loss(net->forward(x), y).backward();
      opt.step();
    }
  }
}

// The loop is in the method.
class Runner {
public:
  void run(const std::vector<Tensor> &xs, const Tensor &y) {
    for (const auto &x : xs) {
      opt_.zero_grad();
      hidden_ = cell_(x, hidden_);
      // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: recurrent state 'hidden_' carries what its backward() needs (its autograd graph) into the next iteration: the next backward() goes on into what this one has freed, and throws
      torch::mse_loss(hidden_, y).backward();
      opt_.step();
    }
  }

private:
  GRUCell cell_{8, 8};
  SGD opt_{cell_->parameters(), 0.1};
  Tensor hidden_ = torch::zeros({4, 8});
};

// A member of a member, behind a pointer.
struct Memory {
  Tensor h = torch::zeros({4, 8});
};

class Owner {
public:
  void step(const Tensor &x, const Tensor &y) {
    opt_.zero_grad();
    memory_->h = cell_->forward(x, memory_->h);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: recurrent state '{{.*h}}' carries what its backward() needs (its autograd graph) into the next iteration: the next backward() {{.*}} throws
    torch::mse_loss(memory_->h, y).backward();
    opt_.step();
  }

private:
  GRUCell cell_{8, 8};
  SGD opt_{cell_->parameters(), 0.1};
  std::unique_ptr<Memory> memory_ = std::make_unique<Memory>();
};

void trainOwner(const std::vector<Tensor> &xs, Tensor y) {
  Owner owner;
  for (const auto &x : xs)
    owner.step(x, y);
}

float staticLocal(GRUCell cell, SGD &opt, Tensor x, Tensor y) {
  static Tensor h = torch::zeros({4, 8});
  opt.zero_grad();
  h = cell->forward(x, h);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: recurrent state 'h' carries what its backward() needs (its autograd graph) into the next call: the next backward() goes on into what this one has freed, and throws; detach it: 'h = h.detach();'
  auto loss = torch::mse_loss(h, y);
  loss.backward();
  opt.step();
  return loss.item<float>();
}

static Tensor carried;

void fileGlobal(GRUCell cell, SGD &opt, Tensor x, Tensor y) {
  opt.zero_grad();
  carried = cell->forward(x, carried);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: recurrent state 'carried' carries what its backward() needs (its autograd graph) into the next call: the next backward() goes on into what this one has freed, and throws
  torch::mse_loss(carried, y).backward();
  opt.step();
}

// ----- quiet -----

// Detached at the end of each call, or at the beginning of the next.
class Detaching {
public:
  void step(const Tensor &x, const Tensor &y) {
    opt_.zero_grad();
    h_ = cell_->forward(x, h_);
    torch::mse_loss(h_, y).backward();
    opt_.step();
    h_ = h_.detach();
  }
  void stepDetachingFirst(const Tensor &x, const Tensor &y) {
    opt_.zero_grad();
    c_ = cell_->forward(x, c_.detach());
    torch::mse_loss(c_, y).backward();
    opt_.step();
  }

private:
  GRUCell cell_{8, 8};
  SGD opt_{cell_->parameters(), 0.1};
  Tensor h_ = torch::zeros({4, 8}), c_ = torch::zeros({4, 8});
};

// A fresh state for each sequence, kept in a member for convenience.
struct ResettingImpl : torch::nn::Module {
  ResettingImpl() { cell = register_module("cell", GRUCell(8, 8)); }
  Tensor forward(const Tensor &sequence) {
    h = torch::zeros({sequence.size(1), 8});
    for (int64_t t = 0; t < sequence.size(0); ++t)
      h = cell->forward(sequence[t], h);
    return h;
  }
  GRUCell cell{nullptr};
  Tensor h;
};
TORCH_MODULE(Resetting);

void trainResetting(const std::vector<Tensor> &xs, Tensor y) {
  Resetting net;
  SGD opt(net->parameters(), 0.1);
  for (const auto &x : xs) {
    opt.zero_grad();
    torch::mse_loss(net->forward(x), y[0]).backward();
    opt.step();
  }
}

// The caller says when: between any two backward() it is reset or detached.
class Policy {
public:
  void reset() { h_ = torch::zeros({4, 8}); }
  void detach() { h_.detach_(); }
  Tensor act(const Tensor &x) { return h_ = cell_->forward(x, h_); }
  std::vector<Tensor> parameters() const { return cell_->parameters(); }

private:
  GRUCell cell_{8, 8};
  Tensor h_ = torch::zeros({4, 8});
};

void trainPolicy(const std::vector<Tensor> &xs, Tensor y) {
  Policy policy;
  SGD opt(policy.parameters(), 0.1);
  for (int episode = 0; episode < 3; ++episode) {
    policy.reset();
    Tensor loss = torch::zeros({});
    for (const auto &x : xs)
      loss = loss + torch::mse_loss(policy.act(x), y);
    opt.zero_grad();
    loss.backward();
    opt.step();
  }
  for (const auto &x : xs) {
    policy.detach();
    opt.zero_grad();
    torch::mse_loss(policy.act(x), y).backward();
    opt.step();
  }
}

// No backward() here and no caller: there may be a guard, or a backward()
// through all steps.
struct ServedImpl : torch::nn::Module {
  ServedImpl() { cell = register_module("cell", GRUCell(8, 8)); }
  Tensor forward(const Tensor &x) {
    h = cell->forward(x, h);
    return h;
  }
  GRUCell cell{nullptr};
  Tensor h;
};
TORCH_MODULE(Served);

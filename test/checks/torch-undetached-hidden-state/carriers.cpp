// RUN: %check_torch %s torch-undetached-hidden-state %t
//
// The user's own modules, and what they carry their state in.

#include <torch/torch.h>

#include <array>
#include <map>
#include <optional>

using torch::Tensor;
using torch::nn::GRUCell;
using torch::nn::Linear;
using torch::nn::LSTMCell;
using torch::optim::SGD;

// The state goes in and comes out.
struct LanguageModelImpl : torch::nn::Module {
  LanguageModelImpl() {
    gru = register_module("gru", torch::nn::GRU(8, 8));
    head = register_module("head", Linear(8, 8));
  }
  std::tuple<Tensor, Tensor> forward(Tensor x, Tensor state) {
    Tensor output;
    std::tie(output, state) = gru->forward(x, state);
    return {head->forward(output), state};
  }
  Tensor initial(int64_t batch) { return torch::zeros({1, batch, 8}); }

  torch::nn::GRU gru{nullptr};
  Linear head{nullptr};
};
TORCH_MODULE(LanguageModel);

void userModule(const std::vector<Tensor> &xs, Tensor y) {
  LanguageModel net;
  SGD opt(net->parameters(), 0.1);
  auto state = net->initial(4);
  for (const auto &x : xs) {
    Tensor output;
    std::tie(output, state) = net->forward(x, state);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: recurrent state 'state' carries what its backward() needs (its autograd graph) into the next iteration: the next backward() goes on into what this one has freed, and throws; detach it: 'state = state.detach();'
    auto loss = torch::mse_loss(output, y);
    opt.zero_grad();
    loss.backward();
    opt.step();
  }
}

struct State {
  Tensor h, c;
};

struct StructNetImpl : torch::nn::Module {
  StructNetImpl() { cell = register_module("cell", LSTMCell(8, 8)); }
  State forward(Tensor x, const State &state) {
    auto [h, c] = cell->forward(x, std::make_tuple(state.h, state.c));
    return {h, c};
  }
  LSTMCell cell{nullptr};
};
TORCH_MODULE(StructNet);

void structState(const std::vector<Tensor> &xs, Tensor y) {
  StructNet net;
  SGD opt(net->parameters(), 0.1);
  State state{torch::zeros({4, 8}), torch::zeros({4, 8})};
  for (const auto &x : xs) {
    opt.zero_grad();
    state = net->forward(x, state);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: recurrent state 'state{{.*}}' carries what its backward() needs (its autograd graph) into the next iteration: the next backward() goes on into what this one has freed, and throws; detach its tensors
    torch::mse_loss(state.h, y).backward();
    opt.step();
  }
}

void structFields(LSTMCell cell, SGD &opt, const std::vector<Tensor> &xs,
                  Tensor y) {
  State state{torch::zeros({4, 8}), torch::zeros({4, 8})};
  for (const auto &x : xs) {
    opt.zero_grad();
    auto next = cell->forward(x, std::make_tuple(state.h, state.c));
    state.h = std::get<0>(next);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: recurrent state '{{.*h}}' carries what its backward() needs (its autograd graph) into the next iteration: {{.*}} throws
    state.c = std::get<1>(next);
    torch::mse_loss(state.h, y).backward();
    opt.step();
  }
}

// The output and the state as a pair.
static std::pair<Tensor, Tensor> step(GRUCell cell, Linear head, Tensor x,
                                      Tensor h) {
  auto next = cell->forward(x, h);
  return {head->forward(next), next};
}

void pairState(GRUCell cell, Linear head, SGD &opt,
               const std::vector<Tensor> &xs, Tensor y) {
  std::pair<Tensor, Tensor> last{Tensor(), torch::zeros({4, 8})};
  for (const auto &x : xs) {
    opt.zero_grad();
    last = step(cell, head, x, last.second);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: recurrent state 'last{{.*}}' carries what its backward() needs (its autograd graph) into the next iteration: {{.*}} throws; detach {{its tensors|it: 'last.second = last.second.detach\(\);'}}
    torch::mse_loss(last.first, y).backward();
    opt.step();
  }
}

// One state for each layer.
void vectorOfStates(GRUCell cell, SGD &opt, const std::vector<Tensor> &xs,
                    Tensor y) {
  std::vector<GRUCell> layers{cell, cell};
  std::vector<Tensor> states(2, torch::zeros({4, 8}));
  for (const auto &x : xs) {
    opt.zero_grad();
    Tensor input = x;
    for (size_t layer = 0; layer < layers.size(); ++layer) {
      states[layer] = layers[layer]->forward(input, states[layer]);
      // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: recurrent state 'states{{.*}}' carries what its backward() needs (its autograd graph) into the next iteration: {{.*}} throws; detach {{its tensors|it: 'states\[layer\] = states\[layer\].detach\(\);'}}
      input = states[layer];
    }
    torch::mse_loss(input, y).backward();
    opt.step();
  }
}

// The whole vector is replaced.
static std::vector<Tensor> advance(GRUCell cell, Tensor x,
                                   const std::vector<Tensor> &states) {
  std::vector<Tensor> next;
  for (const auto &state : states) {
    x = cell->forward(x, state);
    next.push_back(x);
  }
  return next;
}

void replacedVector(GRUCell cell, SGD &opt, const std::vector<Tensor> &xs,
                    Tensor y) {
  std::vector<Tensor> states{torch::zeros({4, 8}), torch::zeros({4, 8})};
  for (const auto &x : xs) {
    opt.zero_grad();
    states = advance(cell, x, states);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: recurrent state 'states{{.*}}' carries what its backward() needs (its autograd graph) into the next iteration: {{.*}} throws; detach its tensors
    torch::mse_loss(states.back(), y).backward();
    opt.step();
  }
}

void arrayOfStates(GRUCell cell, SGD &opt, const std::vector<Tensor> &xs,
                   Tensor y) {
  std::array<Tensor, 2> states{torch::zeros({4, 8}), torch::zeros({4, 8})};
  for (const auto &x : xs) {
    opt.zero_grad();
    states[0] = cell->forward(x, states[0]);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: recurrent state 'states{{.*}}' carries what its backward() needs (its autograd graph) into the next iteration: {{.*}} throws; detach {{its tensors|it: 'states\[0\] = states\[0\].detach\(\);'}}
    torch::mse_loss(states[0], y).backward();
    opt.step();
  }
}

void optionalState(LSTMCell cell, SGD &opt, const std::vector<Tensor> &xs,
                   Tensor y) {
  std::optional<std::tuple<Tensor, Tensor>> state;
  for (const auto &x : xs) {
    opt.zero_grad();
    state = cell->forward(x, state);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: recurrent state '{{.*state.*}}' carries what its backward() needs (its autograd graph) into the next iteration: {{.*}} throws; detach its tensors
    torch::mse_loss(std::get<0>(*state), y).backward();
    opt.step();
  }
}

void mapOfStates(GRUCell cell, SGD &opt, const std::vector<Tensor> &xs,
                 Tensor y) {
  std::map<std::string, Tensor> state{{"h", torch::zeros({4, 8})}};
  for (const auto &x : xs) {
    opt.zero_grad();
    state["h"] = cell->forward(x, state["h"]);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: recurrent state '{{.*state.*}}' carries what its backward() needs (its autograd graph) into the next iteration: {{.*}} throws; detach {{its tensors|it: 'state\["h"\] = state\["h"\].detach\(\);'}}
    torch::mse_loss(state["h"], y).backward();
    opt.step();
  }
}

// Written in place into the same tensor, which so gets a history.
void inPlace(GRUCell cell, SGD &opt, const std::vector<Tensor> &xs, Tensor y) {
  auto hidden = torch::zeros({4, 8});
  for (const auto &x : xs) {
    opt.zero_grad();
    auto next = cell->forward(x, hidden);
    torch::mse_loss(next, y).backward();
    opt.step();
    hidden.copy_(next);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: recurrent state 'hidden' carries what its backward() needs (its autograd graph) into the next iteration: {{.*}} throws
  }
}

// One half is forgotten; the module of the user's gets it in an optional.
using Halves = std::tuple<Tensor, Tensor>;
struct ForecastImpl : torch::nn::Module {
  ForecastImpl() {
    register_module("lstm", lstm);
    register_module("out", out);
  }
  std::pair<Tensor, Halves> forward(Tensor x, torch::optional<Halves> state) {
    auto [y, next] = lstm->forward(x, state);
    return {out->forward(y), next};
  }
  torch::nn::LSTM lstm{4, 8};
  Linear out{8, 1};
};
TORCH_MODULE(Forecast);

void half(Forecast &net, SGD &opt, const std::vector<Tensor> &days) {
  torch::optional<Halves> state;
  for (const Tensor &day : days) {
    auto [predicted, next] = net->forward(day, state);
    opt.zero_grad();
    predicted.sum().backward();
    opt.step();
    state = std::make_tuple(std::get<0>(next).detach(), std::get<1>(next));
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: recurrent state 'state' carries what its backward() needs (its autograd graph) into the next iteration
  }
}
void bothHalves(Forecast &net, SGD &opt, const std::vector<Tensor> &days) {
  torch::optional<Halves> state;
  for (const Tensor &day : days) {
    auto [predicted, next] = net->forward(day, state);
    opt.zero_grad();
    predicted.sum().backward();
    opt.step();
    state = std::make_tuple(std::get<0>(next).detach(), std::get<1>(next).detach());
  }
}

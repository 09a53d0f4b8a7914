// RUN: %check_torch %s torch-undetached-hidden-state %t
//
// The state is detached or made again between two backward() calls.

#include <torch/torch.h>

#include <optional>

using torch::Tensor;
using torch::nn::GRU;
using torch::nn::GRUCell;
using torch::nn::LSTM;
using torch::nn::LSTMCell;
using torch::optim::SGD;

void atTheEnd(GRUCell cell, SGD &opt, const std::vector<Tensor> &xs, Tensor y) {
  auto h = torch::zeros({4, 8}), g = torch::zeros({4, 8});
  for (const auto &x : xs) {
    opt.zero_grad();
    h = cell->forward(x, h);
    g = cell->forward(x, g);
    (torch::mse_loss(h, y) + torch::mse_loss(g, y)).backward();
    opt.step();
    h = h.detach();
    g.detach_();
  }
}

void atTheBeginning(GRUCell cell, SGD &opt, const std::vector<Tensor> &xs,
                    Tensor y) {
  auto h = torch::zeros({4, 8});
  for (const auto &x : xs) {
    h = h.detach();
    opt.zero_grad();
    h = cell->forward(x, h);
    torch::mse_loss(h, y).backward();
    opt.step();
  }
}

void asArgument(GRUCell cell, SGD &opt, const std::vector<Tensor> &xs,
                Tensor y) {
  auto h = torch::zeros({4, 8});
  for (const auto &x : xs) {
    opt.zero_grad();
    h = cell->forward(x, h.detach());
    torch::mse_loss(h, y).backward();
    opt.step();
  }
}

void whereStored(GRU layer, SGD &opt, const std::vector<Tensor> &xs, Tensor y) {
  auto state = torch::zeros({1, 4, 8});
  for (const auto &x : xs) {
    opt.zero_grad();
    auto [output, next] = layer->forward(x, state);
    torch::mse_loss(output, y).backward();
    opt.step();
    state = next.detach();
  }
}

// Before the backward(), which goes through the output.
void beforeTheLoss(LSTM layer, SGD &opt, const std::vector<Tensor> &xs,
                   Tensor y) {
  auto h = torch::zeros({1, 4, 8}), c = torch::zeros({1, 4, 8});
  for (const auto &x : xs) {
    Tensor output;
    std::forward_as_tuple(output, std::tie(h, c)) =
        layer->forward(x, std::make_tuple(h, c));
    h.detach_();
    c.detach_();
    opt.zero_grad();
    torch::mse_loss(output, y).backward();
    opt.step();
  }
}

void tupleElements(LSTMCell cell, SGD &opt, const std::vector<Tensor> &xs,
                   Tensor y) {
  auto state = std::make_tuple(torch::zeros({4, 8}), torch::zeros({4, 8}));
  for (const auto &x : xs) {
    opt.zero_grad();
    state = cell->forward(x, state);
    torch::mse_loss(std::get<0>(state), y).backward();
    opt.step();
    std::get<0>(state).detach_();
    std::get<1>(state).detach_();
  }
}

void tupleMadeAgain(LSTMCell cell, SGD &opt, const std::vector<Tensor> &xs,
                    Tensor y) {
  auto state = std::make_tuple(torch::zeros({4, 8}), torch::zeros({4, 8}));
  for (const auto &x : xs) {
    opt.zero_grad();
    state = cell->forward(x, state);
    torch::mse_loss(std::get<0>(state), y).backward();
    opt.step();
    state = std::make_tuple(std::get<0>(state).detach(),
                            std::get<1>(state).detach());
  }
}

void tupleByReference(LSTMCell cell, SGD &opt, const std::vector<Tensor> &xs,
                      Tensor y) {
  std::tuple<Tensor, Tensor> state{torch::zeros({4, 8}), torch::zeros({4, 8})};
  for (const auto &x : xs) {
    opt.zero_grad();
    state = cell->forward(x, state);
    torch::mse_loss(std::get<0>(state), y).backward();
    opt.step();
    auto &[h, c] = state;
    h = h.detach();
    c = c.detach();
  }
}

// One of the ways to begin an iteration.
void initialisedOrDetached(GRU layer, SGD &opt, const std::vector<Tensor> &xs,
                           Tensor y, bool randomBatches) {
  Tensor output, state;
  for (size_t i = 0; i < xs.size(); ++i) {
    if (i == 0 || randomBatches)
      state = torch::zeros({1, 4, 8});
    else
      state.detach_();
    opt.zero_grad();
    std::tie(output, state) = layer->forward(xs[i], state);
    torch::mse_loss(output, y).backward();
    opt.step();
  }
}

void initialisedOrDetachedTuple(LSTM layer, SGD &opt,
                                const std::vector<Tensor> &xs, Tensor y) {
  bool first = true;
  std::tuple<Tensor, Tensor> state;
  for (const auto &x : xs) {
    if (first) {
      state = std::make_tuple(torch::zeros({1, 4, 8}), torch::zeros({1, 4, 8}));
      first = false;
    } else {
      state = std::make_tuple(std::get<0>(state).detach(),
                              std::get<1>(state).detach());
    }
    Tensor output;
    std::tie(output, state) = layer->forward(x, state);
    opt.zero_grad();
    torch::mse_loss(output, y).backward();
    opt.step();
  }
}

// Where there is no state yet, there is nothing to detach.
void whereDefined(GRUCell cell, SGD &opt, const std::vector<Tensor> &xs,
                  Tensor y) {
  Tensor h;
  std::optional<Tensor> g;
  for (const auto &x : xs) {
    if (h.defined())
      h = h.detach();
    if (g)
      g = g->detach();
    opt.zero_grad();
    h = cell->forward(x, h);
    g = cell->forward(x, g.value_or(Tensor()));
    (torch::mse_loss(h, y) + torch::mse_loss(*g, y)).backward();
    opt.step();
  }
}

void afterTheFirst(GRUCell cell, SGD &opt, const std::vector<Tensor> &xs,
                   Tensor y) {
  auto h = torch::zeros({4, 8});
  for (size_t i = 0; i < xs.size(); ++i) {
    if (i > 0)
      h.detach_();
    opt.zero_grad();
    h = cell->forward(xs[i], h);
    torch::mse_loss(h, y).backward();
    opt.step();
  }
}

// Truncated backpropagation through time: cut where it is backwarded.
void truncated(GRUCell cell, SGD &opt, const std::vector<Tensor> &xs,
               Tensor y) {
  auto h = torch::zeros({4, 8});
  auto loss = torch::zeros({});
  for (size_t t = 0; t < xs.size(); ++t) {
    h = cell->forward(xs[t], h);
    loss = loss + torch::mse_loss(h, y);
    if ((t + 1) % 2 == 0) {
      opt.zero_grad();
      loss.backward();
      opt.step();
      loss = torch::zeros({});
      h = h.detach();
    }
  }
}

// The same, window by window.
void windows(GRUCell cell, SGD &opt, const std::vector<Tensor> &xs, Tensor y) {
  auto h = torch::zeros({4, 8});
  for (size_t first = 0; first + 2 <= xs.size(); first += 2) {
    h.detach_();
    for (size_t t = first; t < first + 2; ++t)
      h = cell->forward(xs[t], h);
    opt.zero_grad();
    torch::mse_loss(h, y).backward();
    opt.step();
  }
}

// Through data, or through numbers.
void withoutHistory(GRUCell cell, SGD &opt, const std::vector<Tensor> &xs,
                    Tensor y) {
  auto h = torch::zeros({4, 8}), copy = torch::zeros({4, 8});
  for (const auto &x : xs) {
    opt.zero_grad();
    auto next = cell->forward(x, h);
    auto other = cell->forward(x, copy);
    (torch::mse_loss(next, y) + torch::mse_loss(other, y)).backward();
    opt.step();
    h = next.data();
    torch::NoGradGuard no_grad;
    copy.copy_(other);
  }
}

// Each layer's state.
void vectorOfStates(GRUCell cell, SGD &opt, const std::vector<Tensor> &xs,
                    Tensor y) {
  std::vector<Tensor> states(2, torch::zeros({4, 8}));
  for (const auto &x : xs) {
    for (auto &state : states)
      state = state.detach();
    Tensor input = x;
    for (size_t layer = 0; layer < states.size(); ++layer) {
      states[layer] = cell->forward(input, states[layer]);
      input = states[layer];
    }
    opt.zero_grad();
    torch::mse_loss(input, y).backward();
    opt.step();
  }
}

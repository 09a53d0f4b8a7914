// Forecasts a series: an LSTM whose state runs on over the days of a year, a GRU cell
// in a member, and a filter that is updated online.
#include <torch/torch.h>

#include <cmath>
#include <iostream>
#include <optional>
#include <tuple>
#include <vector>

using State = std::tuple<torch::Tensor, torch::Tensor>;

struct ForecastImpl : torch::nn::Module {
  explicit ForecastImpl(int hidden)
      : lstm(torch::nn::LSTMOptions(8, hidden).num_layers(2)), out(hidden, 1) {
    register_module("lstm", lstm);
    register_module("out", out);
  }

  std::pair<torch::Tensor, State> forward(torch::Tensor x, torch::optional<State> state) {
    auto [y, next] = lstm->forward(x, state);
    return {out->forward(y), next};
  }

  torch::nn::LSTM lstm;
  torch::nn::Linear out;
};
TORCH_MODULE(Forecast);

static double train_year(Forecast& net, torch::optim::Optimizer& opt,
                         const std::vector<torch::Tensor>& days,
                         const std::vector<torch::Tensor>& targets) {
  net->train();
  torch::optional<State> state;
  double sum = 0;
  for (size_t day = 0; day < days.size(); ++day) {
    auto [predicted, next] = net->forward(days[day], state);
    auto loss = torch::mse_loss(predicted, targets[day]);
    opt.zero_grad();
    loss.backward();
    opt.step();
    state = std::make_tuple(std::get<0>(next).detach(), std::get<1>(next).detach());
    sum += loss.item<double>();
  }
  return sum / days.size();
}

// The state after a warm-up, without training.
static State warm_up(Forecast& net, const std::vector<torch::Tensor>& days) {
  torch::NoGradGuard no_grad;
  net->eval();
  torch::optional<State> state;
  for (const auto& day : days)
    state = net->forward(day, state).second;
  return *state;
}

class Online {
 public:
  Online() : optimizer_(cell_->parameters(), 1e-2) {}

  // One observation: learns from it and goes on.
  double observe(const torch::Tensor& x, const torch::Tensor& y) {
    auto next = cell_->forward(x, hidden_);
    auto loss = torch::mse_loss(next.mean(1), y);
    loss.backward();
    optimizer_.step();
    optimizer_.zero_grad();
    hidden_ = next.detach();
    errors_.push_back(loss.item<double>());
    return errors_.back();
  }

  torch::Tensor foresee(const torch::Tensor& x, int steps) {
    torch::NoGradGuard no_grad;
    auto h = hidden_;
    for (int i = 0; i < steps; ++i)
      h = cell_->forward(x, h);
    return h;
  }

 private:
  torch::nn::GRUCell cell_{torch::nn::GRUCellOptions(8, 16)};
  torch::optim::SGD optimizer_;
  torch::Tensor hidden_ = torch::zeros({1, 16});
  std::vector<double> errors_;
};

// An Elman network: h is detached at every k-th step.
static void train_elman(const torch::Tensor& series, int k) {
  torch::nn::RNNCell cell(torch::nn::RNNCellOptions(8, 32));
  torch::nn::Linear head(32, 1);
  std::vector<torch::Tensor> parameters = cell->parameters();
  for (auto& p : head->parameters())
    parameters.push_back(p);
  torch::optim::Adam adam(parameters, 1e-3);
  auto h = torch::zeros({1, 32});
  torch::Tensor loss = torch::zeros({});
  for (int64_t t = 0; t + 1 < series.size(0); ++t) {
    h = cell->forward(series[t].unsqueeze(0), h);
    loss = loss + torch::mse_loss(head->forward(h), series[t + 1].mean().view({1, 1}));
    if ((t + 1) % k == 0) {
      adam.zero_grad();
      loss.backward();
      adam.step();
      h.detach_();
      loss = torch::zeros({});
    }
  }
}

// Two directions, each with its own state, kept in an array.
struct Bank {
  torch::nn::LSTMCell cells[2] = {torch::nn::LSTMCell(8, 8), torch::nn::LSTMCell(8, 8)};
  State states[2];

  Bank() {
    for (auto& state : states)
      state = std::make_tuple(torch::zeros({1, 8}), torch::zeros({1, 8}));
  }

  torch::Tensor advance(const torch::Tensor& x) {
    torch::NoGradGuard guard;
    std::vector<torch::Tensor> out;
    for (int i = 0; i < 2; ++i) {
      states[i] = cells[i]->forward(x, states[i]);
      out.push_back(std::get<0>(states[i]));
    }
    return torch::cat(out, 1);
  }
};

int main() {
  torch::manual_seed(0);
  std::vector<torch::Tensor> days, targets;
  for (int day = 0; day < 365; ++day) {
    auto x = torch::rand({24, 4, 8});
    days.push_back(x);
    targets.push_back(x.mean(2, true));
  }
  Forecast net(32);
  torch::optim::Adam opt(net->parameters(), 1e-3);
  for (int year = 0; year < 3; ++year)
    std::cout << train_year(net, opt, days, targets) << std::endl;
  std::cout << std::get<0>(warm_up(net, days)).norm().item<float>() << std::endl;

  Online online;
  double total = 0;
  for (int i = 0; i < 1000; ++i)
    total += online.observe(torch::rand({1, 8}), torch::rand({1}));
  std::cout << total / 1000 << online.foresee(torch::rand({1, 8}), 5).norm() << std::endl;

  train_elman(torch::rand({1000, 8}), 16);
  Bank bank;
  torch::Tensor last;
  for (int i = 0; i < 1000; ++i)
    last = bank.advance(torch::rand({1, 8}));
  std::cout << last.norm() << std::endl;
}

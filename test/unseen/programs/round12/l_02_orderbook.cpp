// Short-horizon forecasts from a limit order book: a recurrent encoder over quote windows,
// a head for the direction of the next move or for its size, and a small backtest.
#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

using State = std::tuple<torch::Tensor, torch::Tensor>;

struct Options {
  int64_t ticks = 900;
  int64_t window = 16;
  int64_t horizon = 4;
  int64_t hidden = 24;
  int64_t batch = 64;
  int64_t accumulate = 2;
  int epochs = 2;
  double lr = 3e-3;
  bool stateful = false;
  std::string task = "direction";
};

// The recorded book, one entry for each change at the top of it.
struct Book {
  std::vector<double> bid, ask, bid_size, ask_size;
  std::vector<double> notional;
  std::vector<int64_t> aggressor;
};

Book simulate(int64_t n, unsigned seed) {
  std::mt19937 rng(seed);
  std::normal_distribution<double> move(0.0, 0.01);
  std::uniform_real_distribution<double> size(1.0, 50.0);
  Book book;
  double mid = 100.0, drift = 0.0;
  for (int64_t i = 0; i < n; ++i) {
    drift = 0.9 * drift + 0.3 * move(rng);
    mid += drift + move(rng);
    const double half = 0.005 + 0.005 * std::abs(move(rng)) * 100;
    book.bid.push_back(mid - half);
    book.ask.push_back(mid + half);
    book.bid_size.push_back(size(rng) * (drift > 0 ? 2 : 1));
    book.ask_size.push_back(size(rng) * (drift > 0 ? 1 : 2));
    book.notional.push_back(mid * size(rng));
    book.aggressor.push_back(drift > 0 ? 1 : -1);
  }
  return book;
}

template <typename T>
torch::Tensor column(const std::vector<T>& values) {
  const auto n = static_cast<int64_t>(values.size());
  auto view = torch::from_blob(const_cast<T*>(values.data()), {n}, c10::CppTypeToScalarType<T>::value);  // RIGHT: torch-blob-dtype (the type follows T)
  return view.clone();
}

// Turnover of the session, for the header of the report.
double turnover(Book& book) {
  const auto n = static_cast<int64_t>(book.notional.size());
  auto notional = torch::from_blob(book.notional.data(), {n}, torch::kFloat);  // EXPECT: torch-blob-dtype
  return notional.sum().item<double>();
}

struct Split {
  torch::Tensor x;        // [N, window, features]
  torch::Tensor y;        // [N] class or size of the move
  torch::Tensor returns;  // [N] return over the horizon
};

torch::Tensor features(const Book& book) {
  auto bid = column(book.bid), ask = column(book.ask);
  auto bid_size = column(book.bid_size), ask_size = column(book.ask_size);
  auto mid = (bid + ask) / 2;
  std::vector<torch::Tensor> rows;
  rows.push_back(torch::diff(torch::log(mid)) * 1e4);
  rows.push_back(((ask - bid) / mid * 1e4).slice(0, 1));
  rows.push_back(((bid_size - ask_size) / (bid_size + ask_size)).slice(0, 1));
  rows.push_back(column(book.aggressor).slice(0, 1).to(torch::kDouble));
  auto stacked = torch::stack(rows, 1);
  return (stacked - stacked.mean(0)) / (stacked.std(0) + 1e-9);
}

std::pair<Split, Split> prepare(const Book& book, const Options& opt, torch::Device device) {
  auto f = features(book).to(torch::kFloat).to(device);  // RIGHT: torch-convert-before-transfer (narrowed, half the bytes)
  auto mid = ((column(book.bid) + column(book.ask)) / 2).log().slice(0, 1);
  const int64_t n = f.size(0) - opt.window - opt.horizon;
  auto x = f.unfold(0, opt.window, 1).transpose(1, 2).narrow(0, 0, n);
  auto now = mid.narrow(0, opt.window - 1, n), later = mid.narrow(0, opt.window - 1 + opt.horizon, n);
  auto returns = ((later - now) * 1e4).to(torch::kFloat).to(device);
  torch::Tensor y;
  if (opt.task == "direction") {
    y = (returns > 1).to(torch::kLong) - (returns < -1).to(torch::kLong) + 1;
  } else {
    y = returns.abs();
  }
  const int64_t cut = n * 4 / 5;
  auto part = [&](int64_t from, int64_t to) {
    return Split{x.slice(0, from, to), y.slice(0, from, to), returns.slice(0, from, to)};
  };
  return {part(0, cut), part(cut, n)};
}

struct EncoderImpl : torch::nn::Module {
  EncoderImpl(int64_t in, int64_t hidden)
      : lstm(register_module("lstm", torch::nn::LSTM(torch::nn::LSTMOptions(in, hidden).num_layers(2).batch_first(true).dropout(0.1)))),
        norm(register_module("norm", torch::nn::LayerNorm(torch::nn::LayerNormOptions({hidden})))) {}

  std::pair<torch::Tensor, State> forward(const torch::Tensor& x, const std::optional<State>& state = std::nullopt) {
    auto [out, next] = state ? lstm->forward(x, *state) : lstm->forward(x);
    return {norm->forward(out), next};
  }

  torch::nn::LSTM lstm;
  torch::nn::LayerNorm norm;
};
TORCH_MODULE(Encoder);

struct HeadImpl : torch::nn::Module {
  HeadImpl(int64_t hidden, int64_t out) {
    layers = register_module("layers", torch::nn::Sequential(torch::nn::Linear(hidden, hidden), torch::nn::GELU(), torch::nn::Dropout(0.3), torch::nn::Linear(hidden, out)));
  }
  torch::Tensor forward(const torch::Tensor& h) { return layers->forward(h); }
  torch::nn::Sequential layers{nullptr};
};
TORCH_MODULE(Head);

// What is asked of the head. Both tasks share the encoder and the training code.
struct Direction {
  static constexpr int64_t outputs = 3;
  torch::Tensor loss(const torch::Tensor& out, const torch::Tensor& y) const {
    auto belief = torch::softmax(out, -1);
    return torch::nn::functional::cross_entropy(belief, y);  // EXPECT: torch-loss-input
  }
  torch::Tensor score(const torch::Tensor& out, const torch::Tensor& y) const {
    return torch::nll_loss(torch::log_softmax(out, -1), y);  // RIGHT: torch-loss-input (nll_loss wants logarithms)
  }
};

struct Size {
  static constexpr int64_t outputs = 1;
  torch::Tensor loss(const torch::Tensor& out, const torch::Tensor& y) const { return torch::smooth_l1_loss(out.squeeze(-1), y); }
  torch::Tensor score(const torch::Tensor& out, const torch::Tensor& y) const { return torch::l1_loss(out.squeeze(-1), y); }
};

using Task = std::variant<Direction, Size>;

struct Forecaster {
  Forecaster(const Task& t, const Options& opt, torch::Device d)
      : task(t), device(d), encoder(4, opt.hidden), head(opt.hidden, std::visit([](auto& k) { return k.outputs; }, t)) {
    encoder->to(device);
    head->to(device);
  }

  std::vector<torch::Tensor> parameters() const {
    auto all = encoder->parameters();
    const auto rest = head->parameters();
    all.insert(all.end(), rest.begin(), rest.end());
    return all;
  }

  void eval() {
    encoder->eval();
    head->eval();
  }

  torch::Tensor outputs(const torch::Tensor& x) { return head->forward(encoder->forward(x).first.select(1, -1)); }

  Task task;
  torch::Device device;
  Encoder encoder;
  Head head;
};

double train_epoch(Forecaster& model, torch::optim::Optimizer& optimizer, const Split& data, const Options& opt) {
  const int64_t n = data.x.size(0);
  auto order = torch::randperm(n, torch::TensorOptions().dtype(torch::kLong).device(model.device));
  auto total = torch::zeros({}, model.device);
  int64_t micro = 0;
  optimizer.zero_grad();
  for (int64_t from = 0; from + opt.batch <= n; from += opt.batch) {
    auto pick = order.narrow(0, from, opt.batch);
    auto x = data.x.index_select(0, pick).clone();  // EXPECT: torch-redundant-transfer
    auto y = data.y.index_select(0, pick);
    auto out = model.outputs(x);
    auto loss = std::visit([&](auto& task) { return task.loss(out, y); }, model.task);
    (loss / opt.accumulate).backward();  // RIGHT: torch-missing-zero-grad (sums the gradients of several batches)
    if (++micro % opt.accumulate == 0) {
      optimizer.step();
      optimizer.zero_grad();
    }
    total = total + loss;  // EXPECT: torch-retained-graph
  }
  return total.item<double>() / micro;  // RIGHT: torch-sync-in-loop (once an epoch)
}

double evaluate(Forecaster& model, const Split& data, const Options& opt) {
  torch::NoGradGuard no_grad;
  model.encoder->eval();  // EXPECT: torch-partial-eval-mode
  auto sum = torch::zeros({}, model.device);
  int64_t seen = 0;
  for (int64_t from = 0; from < data.x.size(0); from += opt.batch) {
    auto x = data.x.slice(0, from, from + opt.batch), y = data.y.slice(0, from, from + opt.batch);
    auto out = model.outputs(x);
    sum += std::visit([&](auto& task) { return task.score(out, y); }, model.task) * x.size(0);  // RIGHT: torch-retained-graph (grad mode is off)
    seen += x.size(0);
  }
  model.encoder->train();
  return sum.item<double>() / seen;
}

// One long pass over the session in order, the state of the encoder carried from chunk to chunk.
void train_session(Forecaster& model, const Split& data, const Options& opt) {
  torch::optim::SGD optimizer(model.parameters(), torch::optim::SGDOptions(opt.lr).momentum(0.9));
  auto ticks = data.x.select(1, -1);
  std::optional<State> state;
  for (int64_t from = 0; from + opt.window <= ticks.size(0); from += opt.window) {
    auto chunk = ticks.narrow(0, from, opt.window).unsqueeze(0);
    auto [h, next] = model.encoder->forward(chunk, state);  // EXPECT: torch-undetached-hidden-state
    state = next;
    auto out = model.head->forward(h.squeeze(0)), y = data.y.narrow(0, from, opt.window);
    auto loss = std::visit([&](auto& task) { return task.loss(out, y); }, model.task);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
}

// Temperature of the class scores, fitted on held-out data with the network fixed.
double calibrate(Forecaster& model, const Split& data) {
  torch::Tensor scores;
  model.eval();
  {
    torch::NoGradGuard no_grad;
    scores = model.outputs(data.x);
  }
  auto log_t = torch::zeros({1}, torch::TensorOptions().device(model.device).requires_grad(true));
  torch::optim::SGD optimizer({log_t}, torch::optim::SGDOptions(0.05));  // RIGHT: torch-non-leaf-parameter (a leaf, made on the device)
  for (int i = 0; i < 25; ++i) {
    auto loss = torch::nn::functional::cross_entropy(scores / log_t.exp(), data.y);
    loss.backward();  // EXPECT: torch-missing-zero-grad
    optimizer.step();
  }
  return std::exp(log_t.item<double>());
}

class Snapshot {
 public:
  explicit Snapshot(const std::vector<torch::Tensor>& parameters) : live_(parameters) {}

  void take() {
    kept_.clear();
    for (const auto& p : live_) kept_.push_back(p.detach().clone());  // RIGHT: torch-redundant-transfer (training changes p later)
  }

  void restore() {
    torch::NoGradGuard no_grad;
    for (size_t i = 0; i < kept_.size(); ++i) live_[i].copy_(kept_[i]);  // RIGHT: torch-leaf-inplace (grad mode is off)
  }

 private:
  std::vector<torch::Tensor> live_, kept_;
};

// Replays the held-out session tick by tick, as the feed would deliver it.
std::pair<torch::Tensor, torch::Tensor> replay(Forecaster& model, const Split& data) {
  torch::NoGradGuard no_grad;
  model.eval();  // RIGHT: torch-eval-mode-not-restored (nothing trains after the replay)
  auto signals = torch::empty({0}, model.device);
  auto recent = data.x[0];
  std::optional<State> state;
  std::vector<torch::Tensor> fast;
  for (int64_t t = 1; t < data.x.size(0); ++t) {
    auto tick = data.x[t].slice(0, -1);
    recent = torch::cat({recent.slice(0, 1), tick});  // RIGHT: torch-cat-in-loop (slides, does not grow)
    auto scores = model.outputs(recent.unsqueeze(0));
    auto signal = scores.size(1) == 3 ? scores.select(1, 2) - scores.select(1, 0) : scores.select(1, 0);
    signals = torch::cat({signals, signal});  // EXPECT: torch-cat-in-loop
    auto [h, next] = model.encoder->forward(tick.unsqueeze(0), state);
    state = next;  // RIGHT: torch-undetached-hidden-state (grad mode is off)
    fast.push_back(model.head->forward(h.select(1, 0)).mean(1));
  }
  return {signals, torch::cat(fast)};
}

struct Pnl {
  double total = 0;
  double drawdown = 0;
};

Pnl backtest(const torch::Tensor& signals, const torch::Tensor& returns, double cost) {
  Pnl pnl;
  std::vector<double> curve;
  double position = 0;
  for (int64_t i = 0; i < signals.size(0); ++i) {
    const double wanted = std::tanh(signals[i].item<double>());  // EXPECT: torch-element-access-in-loop
    pnl.total -= cost * std::abs(wanted - position);
    position = wanted;
    curve.push_back(position);
  }
  auto host = returns.to(torch::kCPU).contiguous();
  const float* r = host.data_ptr<float>();  // RIGHT: torch-dangling-data (host holds the memory)
  double peak = 0;
  for (size_t i = 0; i < curve.size(); ++i) {
    pnl.total += curve[i] * r[i];
    peak = std::max(peak, pnl.total);
    pnl.drawdown = std::max(pnl.drawdown, peak - pnl.total);
  }
  return pnl;
}

int main(int argc, char** argv) {
  torch::manual_seed(11);
  torch::set_num_threads(1);
  Options opt;
  std::map<std::string, std::string> args;
  for (int i = 1; i + 1 < argc; i += 2) args[argv[i]] = argv[i + 1];
  if (args.count("--task")) opt.task = args["--task"];
  if (args.count("--epochs")) opt.epochs = std::stoi(args["--epochs"]);
  if (args.count("--stateful")) opt.stateful = args["--stateful"] == "1";
  const torch::Device device(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU);

  auto book = simulate(opt.ticks, 3);
  std::cout << "turnover " << turnover(book) << "\n";
  auto [train, test] = prepare(book, opt, device);

  const Task task = opt.task == "direction" ? Task(Direction{}) : Task(Size{});
  Forecaster model(task, opt, device);
  torch::optim::AdamW optimizer(model.parameters(), torch::optim::AdamWOptions(opt.lr));
  Snapshot best(model.parameters());
  double lowest = 1e30;
  for (int epoch = 0; epoch < opt.epochs; ++epoch) {
    const double loss = train_epoch(model, optimizer, train, opt);
    const double score = evaluate(model, test, opt);
    std::cout << "epoch " << epoch << " loss " << loss << " held out " << score << "\n";
    if (score < lowest) {
      lowest = score;
      best.take();
    }
  }
  best.restore();
  if (opt.stateful) train_session(model, train, opt);
  if (opt.task == "direction") std::cout << "temperature " << calibrate(model, test) << "\n";

  auto [signals, fast] = replay(model, test);
  const auto pnl = backtest(signals, test.returns, 0.2);
  std::cout << "pnl " << pnl.total << " drawdown " << pnl.drawdown << " fast mean " << fast.mean().item<double>() << "\n";
  return 0;
}

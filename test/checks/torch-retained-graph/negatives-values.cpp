// RUN: %check_torch %s torch-retained-graph %t
//
// What is stored has no graph: numbers, detached tensors, results that are not
// differentiable, data.

#include <torch/torch.h>

#include <functional>
#include <map>

using torch::Tensor;
using torch::nn::Linear;

static void numbers(Linear net, torch::optim::SGD &opt,
                    const std::vector<Tensor> &xs, Tensor y) {
  std::vector<float> losses;
  std::vector<double> others;
  double runningLoss = 0.0;
  for (const auto &x : xs) {
    opt.zero_grad();
    auto loss = torch::mse_loss(net->forward(x), y);
    loss.backward();
    opt.step();
    losses.push_back(loss.item<float>());
    others.emplace_back(loss.item().toDouble());
    runningLoss += loss.item<double>(); // The standard fix.
    runningLoss += *loss.data_ptr<float>();
  }
}

// 'template item<T>' of a dependent expression.
template <class Net, class Loader> double mean(Net &net, Loader &loader) {
  double sum = 0;
  int n = 0;
  for (auto &batch : loader) {
    auto output = net->forward(batch.data);
    sum += torch::nll_loss(output, batch.target, {}, torch::Reduction::Sum)
               .template item<float>();
    ++n;
  }
  return sum / n;
}

static void detached(Linear net, const std::vector<Tensor> &xs, Tensor y) {
  std::vector<Tensor> kept;
  Tensor total = torch::zeros({1});
  for (const auto &x : xs) {
    auto loss = torch::mse_loss(net->forward(x), y);
    loss.backward();
    kept.push_back(loss.detach());
    kept.push_back(loss.detach().clone());
    kept.push_back(loss.cpu().detach());
    kept.push_back(loss.data());
    kept.push_back(loss.variable_data());
    total += loss.detach();
    total = total + loss.data();
    total += loss.item<float>(); // A tensor plus a number.
  }
}

// Detached before it is stored: by name, in place, in a struct.
struct Row {
  Tensor loss;
  float value;
};

static void detachedBefore(Linear net, const std::vector<Tensor> &xs,
                           Tensor y) {
  std::vector<Row> rows;
  std::vector<Tensor> kept;
  for (const auto &x : xs) {
    auto loss = torch::mse_loss(net->forward(x), y);
    loss.backward();
    auto plain = loss.detach();
    kept.push_back(plain);
    rows.push_back({plain, loss.item<float>()});
    loss.detach_();
    kept.push_back(loss);
  }
}

static void notDifferentiable(Linear net, const std::vector<Tensor> &xs,
                              Tensor y) {
  std::vector<Tensor> kept;
  Tensor correct = torch::zeros({}, torch::kLong);
  for (const auto &x : xs) {
    auto output = net->forward(x);
    auto prediction = output.argmax(1);
    kept.push_back(prediction);
    correct += prediction.eq(y).sum();
    kept.push_back(output > 0.5);
    kept.push_back(std::get<1>(output.max(1)));
    kept.push_back(std::get<1>(torch::topk(output, 1)));
    kept.push_back(torch::multinomial(torch::softmax(output, 1), 1));
    kept.push_back(output.to(torch::kInt64)); // An integer has no gradient.
    kept.push_back(torch::zeros_like(output));
    kept.push_back(output.isnan());
    correct = correct + (output.argmax(1) == y).sum();
  }
}

// Batches, targets and made-up tensors never had a history.
static void data(Linear net, std::vector<torch::data::Example<>> &batches) {
  std::vector<Tensor> inputs, targets, noise;
  std::map<int, Tensor> byStep;
  int step = 0;
  for (auto &batch : batches) {
    auto loss = torch::mse_loss(net->forward(batch.data), batch.target);
    loss.backward();
    inputs.push_back(batch.data);
    targets.push_back(batch.target.view({-1}).to(torch::kFloat));
    noise.push_back(torch::randn({8}));
    byStep[step++] = torch::ones_like(loss);
    inputs.push_back(torch::cat({batch.data, batch.target}).mul(2));
  }
}

// Parameters are leaves: collecting them holds no graph.
static void parameters(const std::vector<Linear> &layers) {
  std::vector<Tensor> merged;
  for (const auto &layer : layers)
    for (const auto &p : layer->parameters())
      merged.push_back(p);
  torch::optim::SGD opt(merged, 0.1);
  opt.zero_grad();
}

// All parameters are frozen and the inputs need no gradient.
static void frozen() {
  Linear net(8, 2);
  for (auto &p : net->parameters())
    p.requires_grad_(false);
  std::vector<Tensor> features;
  for (size_t i = 0; i < 10; ++i)
    features.push_back(net->forward(torch::rand({4, 8})));
}

// What a callback or a lambda captures is detached, or a number.
static void callbacks(Linear net, const std::vector<Tensor> &xs, Tensor y) {
  std::vector<std::function<void()>> atEnd;
  for (const auto &x : xs) {
    auto loss = torch::mse_loss(net->forward(x), y);
    loss.backward();
    atEnd.push_back([v = loss.detach()] { std::cout << v << '\n'; });
    atEnd.push_back([v = loss.item<float>()] { std::cout << v << '\n'; });
  }
}

// All callers are known and no guard is in force, so that it is the values
// that keep the check quiet.
int main() {
  Linear net(8, 2);
  torch::optim::SGD opt(net->parameters(), 0.1);
  std::vector<Tensor> xs{torch::rand({4, 8}), torch::rand({4, 8})};
  auto y = torch::rand({4, 2});
  std::vector<torch::data::Example<>> batches{{xs[0], y}, {xs[1], y}};
  numbers(net, opt, xs, y);
  std::cout << mean(net, batches) << '\n';
  detached(net, xs, y);
  detachedBefore(net, xs, y);
  notDifferentiable(net, xs, y);
  data(net, batches);
  parameters({net, net});
  frozen();
  callbacks(net, xs, y);
}

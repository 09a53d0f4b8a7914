// The cases by which an early torch-confirm was fooled, in our own words: 26 wrong
// findings, of which 10 were confirmed, and 7 true ones, of which 2 were refuted.

#include <torch/torch.h>

#include <iostream>
#include <random>
#include <vector>

namespace {

using torch::Tensor;

struct CopyingDescent : torch::optim::Optimizer {
  explicit CopyingDescent(std::vector<Tensor> weights)
      : Optimizer({torch::optim::OptimizerParamGroup(std::move(weights))},
                  std::make_unique<torch::optim::SGDOptions>(0.01)) {}
  Tensor step(LossClosure = nullptr) override {
    torch::NoGradGuard no_grad;
    for (auto& group : param_groups())
      for (auto& weight : group.params())
        if (weight.grad().defined()) weight.set_data(weight - 0.01 * weight.grad());
    return {};
  }
};

torch::nn::Sequential scorer() {
  return torch::nn::Sequential(torch::nn::Linear(4, 16), torch::nn::Tanh(), torch::nn::Linear(16, 1));
}

std::vector<Tensor> shelf;

Tensor blank() {
  // PLANT innocent torch-allocation-in-loop/same-shape: each goes to a shelf of its own
  // PLANT innocent torch-blob-lifetime/owner-leaves-scope: it has its own memory
  // PLANT innocent torch-blob-dtype/wrong-values: it is laid over nothing
  return torch::empty({16});
}

double allocations() {
  double sum = 0;
  for (int i = 0; i < 60; ++i) {  // AT kept
    // PLANT innocent torch-allocation-in-loop/same-tensor loop=kept: all stay on the shelf
    shelf.push_back(torch::zeros({8}));
  }
  for (int i = 0; i < 60; ++i) {  // AT wider
    // PLANT innocent torch-allocation-in-loop/same-shape loop=wider: one row more each time
    // PLANT innocent torch-discarded-result/computation: the next line adds it up
    auto rows = torch::ones({i + 1, 4});
    sum += rows.sum().item<double>();
  }
  for (int i = 0; i < 60; ++i) shelf.push_back(blank().fill_(i));
  return sum;
}

double conversions() {
  double sum = 0;
  for (int i = 0; i < 60; ++i) {  // AT images
    auto image = torch::randint(0, 255, {32}, torch::kByte);
    // PLANT innocent torch-repeated-transfer/converts loop=images: another image each time
    // PLANT innocent torch-dangling-data/pointer: the image is there
    auto pixels = image.to(torch::kFloat);
    sum += pixels.sum().item<double>();
  }
  auto window = torch::ones({64}, torch::kDouble);
  for (int i = 0; i < 60; ++i) {  // AT fixed
    // PLANT true torch-repeated-transfer/converts loop=fixed: the window never changes
    auto narrow = window.to(torch::kFloat);
    sum += narrow.sum().item<double>();
  }
  return sum;
}

void cleared() {
  torch::nn::Linear net(4, 1);
  torch::optim::SGD byReset(net->parameters(), 0.01);
  for (int i = 0; i < 60; ++i) {  // AT reset
    auto loss = net->forward(torch::randn({8, 4})).pow(2).mean();
    for (auto& weight : net->parameters())
      if (weight.grad().defined()) weight.mutable_grad() = Tensor();
    loss.backward();
    // PLANT innocent torch-missing-zero-grad/never-cleared loop=reset: cleared by hand
    // PLANT innocent torch-non-leaf-parameter/throws: weights of a layer are leaves
    byReset.step();
  }
  torch::optim::Adam byData(net->parameters(), 0.01);
  for (int i = 0; i < 60; ++i) {  // AT data
    auto loss = net->forward(torch::randn({8, 4})).pow(2).mean();
    for (auto& weight : net->parameters())
      if (weight.grad().defined()) weight.grad().set_data(torch::zeros_like(weight));
    loss.backward();
    // PLANT innocent torch-missing-zero-grad/never-cleared loop=data: cleared by new data
    byData.step();
  }
  for (int i = 0; i < 60; ++i) {  // AT micro
    net->forward(torch::randn({8, 4})).pow(2).mean().backward();
    if (i % 4 == 3) {
      // PLANT innocent torch-missing-zero-grad/cleared-on-some-path loop=micro: four batches make a step
      byReset.step();
      byReset.zero_grad();
    }
  }
  CopyingDescent copying(net->parameters());
  for (int i = 0; i < 60; ++i) {  // AT copying
    net->forward(torch::randn({8, 4})).pow(2).mean().backward();
    // PLANT true torch-missing-zero-grad/never-cleared loop=copying: nothing clears them
    copying.step();
  }
}

double besideALeak() {
  torch::nn::Linear net(4, 1);
  torch::optim::SGD optimizer(net->parameters(), 0.01);
  Tensor total = torch::zeros({}), last;
  std::vector<Tensor> log;
  double sum = 0;
  for (int i = 0; i < 80; ++i) {  // AT beside
    optimizer.zero_grad();
    auto batch = torch::randn({8, 4});
    // PLANT innocent torch-retained-graph/grows loop=beside: builds and keeps nothing
    // PLANT innocent torch-unregistered-module/submodule: the optimizer has its weights
    // PLANT innocent torch-parameter-copy/copy: nothing is assigned to a weight
    // PLANT innocent torch-reassigned-member/parameter: no weight is replaced
    auto output = net->forward(batch);
    // PLANT innocent torch-retained-graph/grows loop=beside: builds and keeps nothing
    // PLANT innocent torch-missing-no-grad/unused-graph loop=beside: it is trained on
    auto loss = output.pow(2).mean();  // AT loss
    loss.backward();
    optimizer.step();
    // PLANT true torch-retained-graph/chains loop=beside: the sum leads to all graphs
    total = total + loss;
    // PLANT innocent torch-retained-graph/grows loop=beside: detached
    // PLANT innocent torch-fill-alias/tensor: each is one of its own
    log.push_back(loss.detach());
    // PLANT innocent torch-retained-graph/grows loop=beside built=loss: only the last is kept
    last = loss;
    // PLANT innocent torch-retained-graph/chains loop=beside: a number
    sum += loss.item<double>();
  }
  return total.item<double>() + last.item<double>() + sum + double(log.size());
}

void episodes() {
  torch::nn::Linear net(4, 2);
  torch::optim::SGD optimizer(net->parameters(), 0.01);
  std::vector<Tensor> chosen;
  for (int episode = 0; episode < 60; ++episode) {
    const int steps = episode % 10 == 9 ? 60 : 3;
    for (int step = 0; step < steps; ++step) {  // AT episode
      auto scores = torch::log_softmax(net->forward(torch::randn({4})), -1);
      // PLANT innocent torch-retained-graph/grows loop=episode: one backward() for each episode
      chosen.push_back(scores[0]);
    }
    optimizer.zero_grad();
    torch::stack(chosen).sum().backward();
    optimizer.step();
    chosen.clear();
  }
}

void hardest() {
  auto net = scorer();
  torch::optim::SGD optimizer(net->parameters(), 0.01);
  for (int i = 0; i < 30; ++i) {
    Tensor worst;
    for (int each = 0; each < 20; ++each) {  // AT mined
      // PLANT innocent torch-missing-no-grad/unused-graph loop=mined: the worst of twenty is trained on
      auto score = net->forward(torch::randn({1, 4}));
      auto loss = score.pow(2).sum();
      if (!worst.defined() || loss.item<float>() > worst.item<float>()) worst = loss;
    }
    optimizer.zero_grad();
    worst.backward();
    optimizer.step();
  }
}

double epoch(torch::nn::Sequential& net, torch::optim::SGD& optimizer, bool trains) {
  double sum = 0;
  for (int i = 0; i < 20; ++i) {  // AT both
    // PLANT true torch-missing-no-grad/unused-graph loop=both: validation records a graph
    auto loss = net->forward(torch::randn({64, 4})).pow(2).mean();
    if (trains) {
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
    }
    sum += loss.item<double>();
  }
  return sum;
}

double phases() {
  auto net = scorer();
  torch::optim::SGD optimizer(net->parameters(), 0.01);
  double sum = 0;
  for (int i = 0; i < 5; ++i)
    for (bool trains : {true, false}) sum += epoch(net, optimizer, trains);
  return sum;
}

int misfits() {
  auto weight = torch::ones({3, 4}, torch::requires_grad());
  int count = 0;
  for (int i = 0; i < 5; ++i) {
    try {
      // PLANT innocent torch-leaf-inplace/leaf: the sizes do not fit
      auto product = weight.mm(torch::ones({3, 4}));
      count += int(product.size(0));
    } catch (const std::exception&) {
      ++count;
    }
  }
  return count;
}

void recurrent() {
  torch::nn::GRUCell cell(4, 8);
  torch::optim::SGD optimizer(cell->parameters(), 0.01);
  auto state = torch::zeros({2, 8});
  for (int i = 0; i < 60; ++i) {  // AT cell
    state = state.detach();
    // PLANT innocent torch-undetached-hidden-state/throws loop=cell: detached in the line before
    state = cell->forward(torch::randn({2, 4}), state);
    optimizer.zero_grad();
    state.pow(2).mean().backward();
    optimizer.step();
  }
}

double shortEpochs() {
  torch::nn::Linear net(4, 1);
  torch::optim::SGD optimizer(net->parameters(), 0.01);
  double sum = 0;
  for (int i = 0; i < 60; ++i) {
    Tensor total = torch::zeros({});
    for (int batch = 0; batch < 8; ++batch) {  // AT short
      optimizer.zero_grad();
      auto loss = net->forward(torch::randn({8, 4})).pow(2).mean();
      loss.backward();
      optimizer.step();
      // PLANT true torch-retained-graph/chains loop=short: the graphs of an epoch
      total = total + loss;
    }
    sum += total.item<double>();
  }
  return sum;
}

int64_t collected() {
  auto net = scorer();
  std::vector<Tensor> outputs;
  for (int i = 0; i < 60; ++i) {  // AT collected
    // PLANT true torch-retained-graph/grows loop=collected: all graphs stay in the list
    // PLANT true torch-missing-no-grad/unused-graph loop=collected: nothing is trained
    outputs.push_back(net->forward(torch::randn({8, 4})));
  }
  return torch::cat(outputs).size(0);
}

}  // namespace

int main() {
  torch::set_num_threads(1);
  torch::manual_seed(0);
  std::cout << allocations() << ' ' << conversions() << '\n';
  cleared();
  std::cout << besideALeak() << '\n';
  episodes();
  hardest();
  std::cout << phases() << ' ' << misfits() << '\n';
  recurrent();
  std::cout << shortEpochs() << ' ' << collected() << ' ' << shelf.size() << '\n';
}

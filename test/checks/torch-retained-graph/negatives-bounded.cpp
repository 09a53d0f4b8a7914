// RUN: %check_torch %s torch-retained-graph %t
//
// Stores that keep nothing that costs: a state that goes on without its history,
// what a backward() has freed, what throws, and what holds no tensor.

#include <torch/torch.h>

#include <map>
#include <optional>
#include <set>
#include <tuple>

using torch::Tensor;
using torch::nn::Linear;

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

// ----- truncated back-propagation through time -----

static Tensor repackaged(const Tensor &h) { return h.defined() ? h.detach() : h; }

static Tensor early(const Tensor &h) {
  if (!h.defined())
    return h;
  return h.detach();
}

static Tensor askedForGradient(const Tensor &h) {
  return h.requires_grad() ? h.detach() : h;
}

template <class Repackage>
static void truncated(Cell net, const std::vector<Tensor> &xs, Repackage clean) {
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

static void atTheCall(Cell net, const std::vector<Tensor> &xs) {
  torch::optim::SGD opt(net->parameters(), 0.1);
  Tensor h = torch::zeros({2, 4});
  for (const auto &x : xs) {
    auto [loss, next] = net->forward(x, h.detach());
    h = next;
    opt.zero_grad();
    loss.backward();
    opt.step();
  }
}

// An episode, of which no gradient is wanted: each step starts from numbers.
static void unrolled(Cell net, const std::vector<Tensor> &xs) {
  Tensor h = torch::zeros({2, 4});
  for (const auto &x : xs) {
    auto [score, next] = net->forward(x, h.detach());
    h = next;
    std::cout << score.item<float>();
  }
}

// ----- overwritten behind a backward() -----

static void last(Linear net, const std::vector<Tensor> &xs) {
  Tensor final_loss;
  std::optional<std::tuple<int, Tensor>> worst;
  std::map<std::string, Tensor> metrics;
  int step = 0;
  for (const auto &x : xs) {
    auto loss = net->forward(x).sum();
    loss.backward();
    final_loss = loss;
    worst = std::make_tuple(step++, loss);
    metrics["loss"] = loss;
  }
  std::cout << final_loss << std::get<0>(*worst) << metrics["loss"];
}

// ----- throws, and so keeps nothing; torch-leaf-inplace says so -----

static void intoLeaf(Linear net, Linear teacher, const std::vector<Tensor> &xs) {
  for (const auto &x : xs) {
    auto y = teacher->forward(x);
    y.sum().backward();
    net->weight.copy_(teacher->weight * 2);
    for (auto &p : net->parameters())
      p.add_(y.mean());
    auto weights = net->parameters();
    weights[0].mul_(y.mean());
  }
}

// ----- no tensor in it -----

struct Names {
  std::set<std::string> seen;
  std::vector<std::pair<std::string, double>> log;
  std::map<std::string, Tensor> values;
  void note(const Tensor &loss) {
    seen.insert(loss.grad_fn()->name());
    log.push_back({loss.grad_fn()->name(), loss.item<double>()});
    values[loss.grad_fn()->name()] = loss.detach();
    values.emplace(loss.toString(), loss.detach());
  }
};

static void names(Linear net, const std::vector<Tensor> &xs) {
  Names names;
  std::vector<std::string> ordered;
  auto add = [&](const Tensor &t) { ordered.push_back(t.grad_fn()->name()); };
  for (const auto &x : xs) {
    auto loss = net->forward(x).sum();
    loss.backward();
    names.note(loss);
    add(loss);
  }
  std::cout << names.seen.size() << ordered.size();
}

int main() {
  Cell cell;
  Linear net(4, 4), teacher(4, 4);
  std::vector<Tensor> xs{torch::rand({2, 4}), torch::rand({2, 4})};
  truncated(cell, xs, repackaged);
  truncated(cell, xs, early);
  truncated(cell, xs, askedForGradient);
  atTheCall(cell, xs);
  unrolled(cell, xs);
  last(net, xs);
  intoLeaf(net, teacher, xs);
  names(net, xs);
}

// The layers of one network, one after the other: a pass, whoever runs it.
struct Layer : torch::nn::Module {
  virtual std::tuple<torch::Tensor, torch::Tensor> forward(const torch::Tensor &z) = 0;
};
struct ShiftLayer : Layer {
  ShiftLayer() { by = register_parameter("by", torch::zeros({3})); }
  std::tuple<torch::Tensor, torch::Tensor> forward(const torch::Tensor &z) override { return {z + by, (z * by).sum(1)}; }
  torch::Tensor by;
};
struct Layers {
  std::vector<std::shared_ptr<Layer>> layers{std::make_shared<ShiftLayer>(), std::make_shared<ShiftLayer>()};
  std::tuple<torch::Tensor, torch::Tensor> run(torch::Tensor z) {
    torch::Tensor likely = z.sum(1);
    for (auto &layer : layers) {
      auto [next, change] = layer->forward(z);
      likely -= change, z = next;
    }
    return {z, likely};
  }
  torch::Tensor back(torch::Tensor z) {
    torch::Tensor likely = torch::zeros({8});
    for (int i = int(layers.size()) - 1; i != -1; --i) {
      auto [next, change] = layers[i]->forward(z);
      likely += change, z = next;
    }
    return likely;
  }
};
double ofLayers() {
  Layers layers;
  double sum = 0;
  for (int i = 0; i < 100; ++i) {
    auto [z, likely] = layers.run(torch::ones({8, 3}));
    sum += likely.mean().item<double>() + layers.back(z).mean().item<double>();
  }
  return sum;
}

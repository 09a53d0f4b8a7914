// RUN: %check_torch %s torch-missing-no-grad %t
//
// A part of a network is trained, and reached in any way. The graph of the
// whole is used, or it cannot be told from what is.

#include <torch/torch.h>

#include <map>
#include <memory>
#include <thread>

using torch::Tensor;
using torch::nn::Linear;
using torch::nn::Sequential;
using torch::optim::SGD;

static Sequential makeTwo() { return Sequential(Linear(4, 4), Linear(4, 4)); }

template <class Net> static void fit(Net &net, SGD &opt) {
  for (int i = 0; i < 9; ++i) {
    opt.zero_grad();
    net->forward(torch::rand({2, 4})).sum().backward();
    opt.step();
  }
}

// Handles that two networks share.
static void shared() {
  Linear body(4, 4), head(4, 4);
  Sequential net(body, head);
  for (auto &p : body->parameters())
    p.set_requires_grad(false);
  SGD opt(head->parameters(), 0.1);
  fit(net, opt);
}

static void pushed() {
  Sequential net;
  Linear head(4, 4);
  net->push_back("body", Linear(4, 4));
  net->push_back("head", head);
  SGD opt(head->parameters(), 0.1);
  fit(net, opt);
}

static void named() {
  Linear head(4, 4);
  Sequential net({{"body", Linear(4, 4)}, {"head", head}});
  SGD opt(head->parameters(), 0.1);
  fit(net, opt);
}

static void extended() {
  std::vector<Linear> layers = {Linear(4, 4), Linear(4, 4)};
  Linear head = layers[1];
  torch::nn::ModuleList net;
  net->extend(layers);
  SGD opt(head->parameters(), 0.1);
  for (int i = 0; i < 9; ++i) {
    opt.zero_grad();
    net[1]->as<Linear>()->forward(torch::rand({2, 4})).sum().backward();
    opt.step();
  }
}

static void byPointer() {
  auto head = std::make_shared<torch::nn::LinearImpl>(4, 4);
  Sequential net(Linear(4, 4), head);
  SGD opt(head->parameters(), 0.1);
  fit(net, opt);
}

// The whole is what is trained, and a part is run.
static void partIsRun() {
  Linear body(4, 4), head(4, 4);
  Sequential net(body, head);
  SGD opt(net->parameters(), 0.1);
  fit(head, opt);
}

// Elements and children.
static void byIndex() {
  auto net = makeTwo();
  SGD opt(net[1]->parameters(), 0.1);
  fit(net, opt);
}

static void byClass() {
  auto net = makeTwo();
  SGD opt(net[1]->as<Linear>()->parameters(), 0.1);
  fit(net, opt);
}

static void byPtr() {
  auto net = makeTwo();
  auto last = net->ptr<torch::nn::LinearImpl>(1);
  SGD opt(last->parameters(), 0.1);
  fit(net, opt);
}

static void byReference() {
  auto net = makeTwo();
  auto &last = net->at<torch::nn::LinearImpl>(1);
  SGD opt(last.parameters(), 0.1);
  fit(net, opt);
}

static void byCast() {
  auto net = makeTwo();
  auto last = std::dynamic_pointer_cast<torch::nn::LinearImpl>(net->ptr(1));
  SGD opt(last->parameters(), 0.1);
  fit(net, opt);
}

static void byChildren() {
  auto net = makeTwo();
  SGD last(net->children().back()->parameters(), 0.1);
  fit(net, last);
  SGD named(net->named_children()["1"]->parameters(), 0.1);
  fit(net, named);
  std::vector<Tensor> found;
  for (const auto &child : net->named_children())
    if (child.key() == "1")
      for (auto &p : child.value()->parameters())
        found.push_back(p);
  SGD collected(found, 0.1);
  fit(net, collected);
}

static void byIterator() {
  auto net = makeTwo();
  std::vector<Tensor> found;
  for (auto &module : *net)
    if (auto linear = std::dynamic_pointer_cast<torch::nn::LinearImpl>(module.ptr()))
      for (auto &p : linear->parameters())
        found.push_back(p);
  SGD opt(found, 0.1);
  fit(net, opt);
}

// Parameters.
static void byRange() {
  auto net = makeTwo();
  auto all = net->parameters();
  SGD opt(std::vector<Tensor>(all.end() - 2, all.end()), 0.1);
  fit(net, opt);
}

static void byTensor() {
  auto net = makeTwo();
  SGD opt({net->parameters()[2], net->parameters().back()}, 0.1);
  fit(net, opt);
}

static void byName() {
  auto net = makeTwo();
  std::vector<Tensor> heads;
  for (auto &item : net->named_parameters())
    if (item.key().rfind("1.", 0) == 0)
      heads.push_back(item.value());
  SGD opt(heads, 0.1);
  fit(net, opt);
}

// The user's own network, whose children have names.
struct PairImpl : torch::nn::Module {
  PairImpl(Linear body, Linear head)
      : body(register_module("body", body)), head(register_module("head", head)) {}
  Tensor forward(Tensor x) { return head->forward(body->forward(x)); }
  Linear body, head;
};
TORCH_MODULE(Pair);

static void givenToOwn() {
  Linear body(4, 4), head(4, 4);
  Pair net(body, head);
  SGD opt(head->parameters(), 0.1);
  fit(net, opt);
}

static void childOfOwn() {
  Pair net(Linear(4, 4), Linear(4, 4));
  SGD opt(net->children()[1]->parameters(), 0.1);
  fit(net, opt);
}

// Lists and dictionaries of modules.
static void list() {
  torch::nn::ModuleList layers(Linear(4, 4), Linear(4, 4));
  SGD opt(layers[1]->parameters(), 0.1);
  for (int i = 0; i < 9; ++i) {
    opt.zero_grad();
    auto x = torch::rand({2, 4});
    for (auto &layer : *layers)
      x = layer->as<Linear>()->forward(x);
    x.sum().backward();
    opt.step();
  }
}

static void dictionary() {
  Linear head(4, 4);
  std::vector<std::pair<std::string, std::shared_ptr<torch::nn::Module>>> all = {
      {"body", Linear(4, 4).ptr()}, {"head", head.ptr()}};
  torch::nn::ModuleDict nets(all);
  SGD opt(head->parameters(), 0.1);
  for (int i = 0; i < 9; ++i) {
    opt.zero_grad();
    nets->at<torch::nn::LinearImpl>("head").forward(torch::rand({2, 4})).sum().backward();
    opt.step();
  }
}

static void container() {
  std::map<std::string, Linear> nets;
  nets.emplace("head", Linear(4, 4));
  SGD opt(nets.at("head")->parameters(), 0.1);
  for (int i = 0; i < 9; ++i) {
    opt.zero_grad();
    nets.at("head")->forward(torch::rand({2, 4})).sum().backward();
    opt.step();
  }
}

// A worker's gradients are copied to the network that is trained.
static void hogwild(Linear &shared, SGD &opt) {
  Linear local(4, 4);
  for (int i = 0; i < 9; ++i) {
    local->zero_grad();
    local->forward(torch::rand({2, 4})).sum().backward();
    auto from = local->parameters(), to = shared->parameters();
    for (size_t k = 0; k < to.size(); ++k)
      to[k].mutable_grad() = from[k].grad();
    opt.step();
  }
}

// Gradients are what the program looks at: no optimizer is needed.
static void saliency() {
  Linear probe(4, 4), net(4, 4);
  SGD opt(net->parameters(), 0.1);
  fit(net, opt);
  probe->forward(torch::rand({2, 4})).sum().backward();
  std::cout << probe->weight.grad().norm().item<float>() << '\n';
}

int main() {
  shared(), pushed(), named(), extended(), byPointer(), partIsRun();
  byIndex(), byClass(), byPtr(), byReference(), byCast(), byChildren(), byIterator();
  byRange(), byTensor(), byName(), givenToOwn(), childOfOwn();
  list(), dictionary(), container(), saliency();
  Linear net(4, 4);
  SGD opt(net->parameters(), 0.1);
  hogwild(net, opt);
}

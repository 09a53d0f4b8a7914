// RUN: %check_torch %s torch-unregistered-module %t

#include <torch/torch.h>

using torch::Tensor;
namespace nn = torch::nn;

struct Registered : nn::Module {
  Registered(int n) : a(register_module("a", nn::Linear(n, 4))), b(4, 4), d(4, 4) {
    register_module("b", b);
    c = nn::Linear(4, 4);
    c = register_module("c", c);
    auto local = nn::Linear(4, 4);
    e = register_module("e", local);
    build();
    add(d);
    for (int i = 0; i < n; ++i) {
      layers.push_back(nn::Linear(4, 4));
      register_module("layer" + std::to_string(i), layers.back());
    }
    for (auto &each : more)
      register_module("more" + std::to_string(++count), each);
    blocks->push_back(nn::Linear(4, 4));
    register_module("blocks", blocks);
    w = register_parameter("w", torch::randn({4}));
    v = torch::randn({4}, torch::requires_grad());
    register_parameter("v", v);
  }
  void build() {
    f = register_module("f", nn::Linear(4, 4));
    // The value of an assignment is the member.
    register_module("h", h = nn::Linear(4, 4));
    u = register_parameter("u", (u = torch::randn({4}, torch::requires_grad())));
  }
  void add(nn::Linear layer) { register_module("d", layer); }
  Tensor forward(Tensor x) {
    x = a(b(c(d(e(f(h(x))))))) * w + v + u;
    for (auto &layer : layers)
      x = layer(x);
    return g(blocks->forward(more[0](x)));
  }
  nn::Linear a, b, c{nullptr}, d, e{nullptr}, f{nullptr}, h = nullptr;
  nn::Linear g = register_module("g", nn::Linear(4, 4));
  std::vector<nn::Linear> layers, more = {nn::Linear(4, 4)};
  nn::Sequential blocks;
  Tensor w, v, u;
  int count = 0;
};

struct InSequential : nn::Module {
  InSequential() {
    fc = nn::Linear(4, 4);
    stack = register_module("stack", nn::Sequential(fc, nn::ReLU()));
    head = nn::Linear(4, 4);
    list->push_back(head);
    register_module("list", list);
  }
  Tensor forward(Tensor x) { return head(fc(stack->forward(x))); }
  nn::Linear fc{nullptr}, head{nullptr};
  nn::Sequential stack{nullptr};
  nn::ModuleList list;
};

struct Stateless : nn::Module {
  Stateless() { fc = register_module("fc", nn::Linear(4, 4)); }
  Tensor forward(Tensor x) {
    return relu(pool(flatten(fc(x)))) * scale + loss(x, x) + cached(x);
  }
  Tensor cached(const Tensor &x) {
    if (!mask.defined())
      mask = torch::ones({4}).to(x.device());
    return mask;
  }
  nn::Linear fc{nullptr};
  nn::ReLU relu;
  nn::Flatten flatten;
  nn::MaxPool2d pool{2};
  nn::MSELoss loss;
  nn::Sequential activation{nn::Sequential(nn::ReLU(), nn::Tanh())};
  Tensor mask, scale = torch::ones({4});
};

// Of other owners.
struct Outsiders : nn::Module {
  Outsiders(nn::Embedding shared, std::shared_ptr<nn::LinearImpl> given)
      : embedding(shared), given(given), target(4, 4), features(4, 4) {
    target->eval();
    for (auto &p : features->parameters())
      p.requires_grad_(false);
  }
  Tensor forward(Tensor x) {
    return given->forward(embedding(x)) + target(x) + features(x);
  }
  nn::Embedding embedding;
  std::shared_ptr<nn::LinearImpl> given;
  nn::Linear target, features;
};

struct SeenTo : nn::Module {
  Tensor forward(Tensor x) { return fc(x) + dropout(x) * w; }
  std::vector<Tensor> trained() {
    auto all = fc->parameters();
    all.push_back(w);
    return all;
  }
  void train(bool on = true) override {
    nn::Module::train(on);
    dropout->train(on);
  }
  nn::Linear fc{4, 4};
  nn::Dropout dropout{0.5};
  Tensor w = torch::ones({4}, torch::requires_grad());
};

struct AsksForMode : nn::Module {
  Tensor forward(Tensor x) { return is_training() ? dropout(x) : x; }
  nn::Dropout dropout{0.5};
};

// It is not run by forward(): somebody else may train it.
struct Agent : nn::Module {
  Tensor act(const Tensor &x) { return actor(x); }
  nn::Linear actor{4, 4};
};

struct Elsewhere : nn::Module {
  Elsewhere();
  Tensor forward(Tensor x) { return fc(x); }
  nn::Linear fc{4, 4};
};

struct Helped : nn::Module {
  Helped() { setup(); }
  void setup();
  Tensor forward(Tensor x) { return fc(x); }
  nn::Linear fc{4, 4};
};

template <class M> M made(nn::Module &owner, const std::string &name, M m) {
  return owner.register_module(name, m);
}
struct ByHelper : nn::Module {
  ByHelper() : fc(made(*this, "fc", nn::Linear(4, 4))) {}
  Tensor forward(Tensor x) { return fc(x); }
  nn::Linear fc;
};

struct Outside : nn::Module {
  Tensor forward(Tensor x) { return fc(x); }
  nn::Linear fc{4, 4};
};
void assemble(Outside &net) { net.register_module("fc", net.fc); }

struct Plain {
  Tensor forward(Tensor x) { return fc(x); }
  nn::Linear fc{4, 4};
};

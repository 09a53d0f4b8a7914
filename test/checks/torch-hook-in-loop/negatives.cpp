// RUN: %check_torch %s torch-hook-in-loop %t
//
// What looks like hooks that pile up, and is right.

#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;
using torch::optim::SGD;

static Tensor half(Tensor grad) { return grad * 0.5; }

// Once: before the loop, for each parameter, in a constructor.
void before(Linear net, SGD &opt, const std::vector<Tensor> &xs) {
  for (auto &p : net->parameters())
    p.register_hook(half);
  for (auto &pair : net->named_parameters())
    pair.value().register_hook(half);
  net->weight.register_hook(half);
  for (const Tensor &x : xs) {
    net->forward(x).sum().backward();
    opt.step();
  }
}
struct ScaledImpl : torch::nn::Module {
  ScaledImpl() : fc(register_module("fc", Linear(8, 8))) {
    fc->weight.register_hook(half);
  }
  Tensor forward(Tensor x) {
    if (!hooked) {
      fc->bias.register_hook(half);
      hooked = true;
    }
    last = fc(x);
    if (last.requires_grad())
      last.register_hook(half);
    return last;
  }
  Linear fc;
  Tensor last;
  bool hooked = false;
};
TORCH_MODULE(Scaled);
void module(const std::vector<Tensor> &xs) {
  Scaled net;
  SGD opt(net->parameters(), 0.1);
  for (const Tensor &x : xs) {
    net(x).sum().backward();
    opt.step();
  }
}

// Another tensor in each iteration.
void activations(Linear net, SGD &opt, const std::vector<Tensor> &xs) {
  Tensor kept = xs[0];
  for (Tensor x : xs) {
    auto hidden = net->forward(x);
    hidden.register_hook(half);
    kept = hidden * 2;
    kept.register_hook(half);
    x.set_requires_grad(true);
    x.register_hook(half);
    auto scaled = net->weight * 2;
    scaled.register_hook(half);
    net->weight[0].register_hook(half);
    auto leaf = net->weight.detach().clone();
    leaf.set_requires_grad(true);
    leaf.register_hook(half);
    kept.sum().backward();
    opt.step();
  }
}
// A network for each fold.
void folds(const std::vector<Tensor> &xs) {
  for (int fold = 0; fold < 5; ++fold) {
    Linear net(8, 8);
    auto other = std::make_shared<ScaledImpl>();
    net->weight.register_hook(half);
    other->fc->weight.register_hook(half);
    for (auto &p : net->parameters())
      p.register_hook(half);
    SGD opt(net->parameters(), 0.1);
    for (const Tensor &x : xs) {
      net->forward(x).sum().backward();
      opt.step();
    }
  }
}
void rebuilt(Linear net, const std::vector<Tensor> &xs) {
  for (const Tensor &x : xs) {
    net = Linear(8, 8);
    net->weight.register_hook(half);
    net->forward(x).sum().backward();
  }
}

// Not in each iteration.
void guarded(Linear net, SGD &opt, const std::vector<Tensor> &xs) {
  bool first = true;
  for (size_t i = 0; i < xs.size(); ++i) {
    if (i == 0)
      net->weight.register_hook(half);
    if (first) {
      net->bias.register_hook(half);
      first = false;
    }
    static auto handle = net->weight.register_hook(half);
    (void)handle;
    net->forward(xs[i]).sum().backward();
    opt.step();
  }
}
class Trainer {
public:
  void train(const std::vector<Tensor> &xs) {
    for (const Tensor &x : xs) {
      install();
      net->forward(x).sum().backward();
    }
  }

private:
  void install() {
    if (installed)
      return;
    installed = true;
    net->weight.register_hook(half);
  }
  Linear net{8, 8};
  bool installed = false;
};

// It is taken away, or may be, by its handle.
void removed(Linear net, SGD &opt, const std::vector<Tensor> &xs) {
  for (const Tensor &x : xs) {
    const unsigned handle = net->weight.register_hook(half);
    net->forward(x).sum().backward();
    net->weight.remove_hook(handle);
    opt.step();
  }
}
void listed(Linear net, SGD &opt, const std::vector<Tensor> &xs) {
  for (const Tensor &x : xs) {
    std::vector<unsigned> handles;
    for (auto &p : net->parameters())
      handles.push_back(p.register_hook(half));
    net->forward(x).sum().backward();
    size_t i = 0;
    for (auto &p : net->parameters())
      p.remove_hook(handles[i++]);
    opt.step();
  }
}

// Other hooks, no backward().
void several(Linear net, const std::vector<std::function<Tensor(Tensor)>> &hooks) {
  for (const auto &hook : hooks)
    net->weight.register_hook(hook);
}
// A flag, not one more hook.
void retained(Linear net, Tensor x, SGD &opt) {
  auto scaled = net->weight * 2;
  for (int i = 0; i < 9; ++i) {
    scaled.retain_grad();
    (x * scaled).sum().backward({}, true);
    opt.step();
  }
}

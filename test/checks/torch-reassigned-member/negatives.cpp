// RUN: %check_torch %s torch-reassigned-member %t

#include <torch/torch.h>

using torch::Tensor;

void inPlace(torch::nn::Linear &fc, const Tensor &w) {
  fc->weight.set_data(w);
  fc->weight.data() = w;
  torch::NoGradGuard no_grad;
  fc->weight.copy_(w);
  fc->bias.zero_();
  fc->bias[0] = 1;
}

// It was made without a bias, or without both: there is no old one.
void leftOut(const Tensor &kernel) {
  const auto options = torch::nn::Conv2dOptions(1, 1, 5).bias(false);
  torch::nn::Conv2d blur(options);
  blur->bias = torch::zeros({1});
  torch::nn::Linear sum(torch::nn::LinearOptions(4, 1).bias(false));
  sum->bias = torch::zeros({1});
  torch::nn::LayerNorm norm(torch::nn::LayerNormOptions({4}).elementwise_affine(false));
  norm->weight = torch::ones({4});
}

struct Shared : torch::nn::Module {
  Shared() {
    in = register_module("in", torch::nn::Linear(4, 4));
    out = register_module("out", torch::nn::Linear(4, 4));
    // Shared weights: the new one is registered, too.
    out->weight = in->weight;
  }
  torch::nn::Linear in{nullptr}, out{nullptr};
};

struct Order : torch::nn::Module {
  Order() {
    w = torch::zeros({4});
    w = torch::ones({4});
    register_parameter("w", w);
    b = torch::zeros({4});
    b = register_buffer("b", b);
    cache = torch::zeros({4});
    mask = register_buffer("mask", Tensor());
    fc = torch::nn::Linear(4, 4);
    fc = register_module("fc", fc);
  }
  Tensor forward(const Tensor &x) {
    cache = x * 2;
    last = x;
    if (!mask.defined())
      mask = torch::ones({4});
    b = b.to(x.device());
    w = w.contiguous();
    Tensor w = torch::ones({4});
    w = x;
    return x + b;
  }
  void replace() {
    fc = replace_module("fc", torch::nn::Linear(4, 2));
    fc = torch::nn::Linear(4, 3);
    replace_module("fc", fc);
    unregister_module("fc");
    fc = register_module("fc", torch::nn::Linear(4, 3));
  }
  Tensor w, b, cache, mask, last;
  torch::nn::Linear fc{nullptr};
};

// The weight is computed from one that is trained.
struct Normalized : torch::nn::Module {
  Normalized() {
    g = register_parameter("g", torch::ones({4, 4}));
    fc = register_module("fc", torch::nn::Linear(4, 4));
  }
  Tensor forward(const Tensor &x) {
    fc->weight = g / g.norm();
    return fc(x);
  }
  Tensor g;
  torch::nn::Linear fc{nullptr};
};

struct Other {
  Tensor w = torch::zeros({4});
  void set() { w = torch::ones({4}); }
};

Tensor readWeight();
struct Loaded : torch::nn::Module {
  Loaded();
  void load(const Tensor &given) {
    w = torch::ones({4});
    fc->weight = readWeight();
    fc->bias = given;
  }
  Tensor w;
  torch::nn::Linear fc{nullptr};
};

void locals(torch::nn::Linear fc) {
  auto w = fc->weight;
  w = torch::ones({4});
  fc = torch::nn::Linear(4, 4);
  auto parameters = fc->named_parameters();
  parameters["weight"] = torch::ones({4});
}

// It has another constructor, too, which registers nothing.
struct NormalizedLinearImpl : torch::nn::Module {
  NormalizedLinearImpl() {}
  explicit NormalizedLinearImpl(int64_t width) {
    fc = torch::nn::Linear(width, width);
    register_module("fc", fc);
    v = register_parameter("v", fc->weight.detach().clone());
    g = register_parameter("g", fc->weight.norm(2, {1}, true).detach().clone());
  }
  Tensor forward(const Tensor &x);
  Tensor v, g;

private:
  torch::nn::Linear fc = nullptr;
};
TORCH_MODULE(NormalizedLinear);

Tensor NormalizedLinearImpl::forward(const Tensor &x) {
  Tensor norm;
  norm = v.norm(2, {1}, true).clamp(1e-10);
  fc->weight = g * v / norm;
  return fc->forward(x);
}

Tensor one(torch::nn::ModuleList &layers, const Tensor &x) {
  return layers[0]->as<NormalizedLinear>()->forward(x);
}

// Sampling turns grad mode off around all of it; training, elsewhere, does not.
Tensor sample(NormalizedLinear &layer, Tensor x) {
  torch::NoGradGuard no_grad;
  for (int i = 0; i < 4; ++i)
    x = layer->forward(x);
  return x;
}

// RUN: %check_torch %s torch-reassigned-member %t -still-warns

#include <torch/torch.h>

using torch::Tensor;

void weights() {
  torch::nn::Linear fc(4, 4);
  fc->weight = torch::eye(4);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: assigning to 'fc->weight' replaces the registered parameter: the optimizer, save() and to() keep the old tensor, while forward() uses the new one; copy into it instead: 'fc->weight.set_data(...)' [torch-reassigned-member]
  fc->bias = fc->bias * 0.5;
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: assigning to 'fc->bias' replaces the registered
}
// CHECK-FIXES-LABEL: void weights() {
// CHECK-FIXES: {{^  fc->weight.set_data\(torch::eye\(4\)\);$}}
// CHECK-FIXES: {{^  fc->bias.set_data\(fc->bias \* 0.5\);$}}

// It has no bias; that says nothing of its weight.
void kernel() {
  torch::nn::Conv2d blur(torch::nn::Conv2dOptions(1, 1, 5).bias(false));
  blur->weight = torch::ones({1, 1, 5, 5});
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: assigning to 'blur->weight' replaces the registered parameter
}
// Made anew for a member, and frozen by what takes its place: a parameter it was.
struct Filters {
  Filters() {
    first = torch::nn::Conv2d(torch::nn::Conv2dOptions(1, 1, 5));
    first->weight = torch::ones({1, 1, 5, 5});
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: assigning to 'first->weight' replaces the registered parameter
    first->bias = torch::zeros({1});
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: assigning to 'first->bias' replaces the registered parameter
  }
  Tensor run(const Tensor &x) { return first->forward(x); }
  torch::nn::Conv2d first{nullptr};
};
// With one, in words.
void withBias() {
  torch::nn::Linear fc(torch::nn::LinearOptions(4, 4).bias(true));
  fc->bias = torch::ones({4});
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: assigning to 'fc->bias' replaces the registered parameter
}

struct Average : torch::nn::Module {
  Average() { mean = register_buffer("mean", torch::zeros({4})); }
  Tensor forward(const Tensor &x) {
    mean = 0.9 * mean + 0.1 * x.mean(0);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: assigning to 'mean' replaces the registered buffer: save(), to() and buffers() keep the old tensor, while forward() uses the new one; copy into it instead: 'mean.set_data(...)'
    return x - mean;
  }
  Tensor mean;
};
// CHECK-FIXES-LABEL: struct Average
// CHECK-FIXES: {{^    mean.set_data\(0.9 \* mean \+ 0.1 \* x.mean\(0\)\);$}}

// What a pass has computed, and gradients flow through: a copy would cut them
// off.
struct Normal : torch::nn::Module {
  Normal() {
    centre = register_buffer("centre", torch::zeros({4}));
    width = register_buffer("width", torch::ones({4}));
  }
  void update(const Tensor &hidden) {
    centre = hidden.clamp(-1, 1);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: assigning to 'centre' replaces the registered buffer: save(), to() and buffers() keep the old tensor, while forward() uses the new one; keep a value through which gradients flow in a member that is not registered, and copy others into it: 'centre.set_data(...)'
    torch::NoGradGuard no_grad;
    width = hidden.abs();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: assigning to 'width' replaces the registered buffer: {{.*}}; copy into it instead: 'width.set_data(...)'
  }
  Tensor logProb(const Tensor &x) const { return -(x - centre).square() / width; }
  Tensor centre, width;
};
// CHECK-FIXES-LABEL: struct Normal
// CHECK-FIXES: {{^    centre = hidden.clamp\(-1, 1\);$}}
// CHECK-FIXES: {{^    width.set_data\(hidden.abs\(\)\);$}}

struct NetImpl : torch::nn::Module {
  NetImpl()
      : scale(register_parameter("scale", torch::ones({4}))),
        head(register_module("head", torch::nn::Linear(4, 10))) {
    offset = torch::zeros({4});
    register_buffer("offset", offset);
  }
  Tensor forward(Tensor x) { return head(x * scale + offset); }
  void reset_scale() {
    scale = torch::ones({4}, torch::requires_grad());
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: assigning to 'scale' replaces the registered
  }
  void shift(int64_t n) {
    this->offset = torch::full({4}, n);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: assigning to 'offset' replaces the registered
  }
  Tensor scale, offset;
  torch::nn::Linear head{nullptr};
};
TORCH_MODULE(Net);

void newHead(Net &net) {
  net->head = torch::nn::Linear(4, 2);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: assigning to 'net->head' replaces the registered module: the optimizer, save(), to() and train() keep the old one, while forward() runs the new one; use 'replace_module()'
}

void newHeadOf(std::shared_ptr<NetImpl> net) {
  torch::nn::Linear head(4, 2);
  net->head = head;
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: assigning to 'net->head' replaces the registered module
}

template <class T> void erase(T &layer) {
  layer->weight = torch::zeros_like(layer->weight);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: assigning to 'layer->weight' replaces the registered
}
void helpers() {
  torch::nn::Conv2d conv(3, 3, 3);
  erase(conv);
  auto set = [&](double value) {
    conv->bias = torch::full({3}, value);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: assigning to 'conv->bias' replaces the registered
  };
  set(1);
  torch::nn::Linear fc(3, 3);
  auto &bias = fc->bias;
  bias = torch::ones({3});
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: assigning to 'bias' replaces the registered
}

// The function itself wants no graph: the copy is not trained through anything.
void take(torch::nn::Linear &target, torch::nn::Linear &online) {
  torch::NoGradGuard no_grad;
  target->weight = online->weight.clone();
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: assigning to 'target->weight' replaces the registered
}
void replace(torch::nn::Linear &layer) {
  layer->weight = torch::randn({4, 4});
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: assigning to 'layer->weight' replaces the registered
}
void initialize() {
  torch::NoGradGuard no_grad;
  torch::nn::Linear online(4, 4), target(4, 4);
  replace(online);
  take(target, online);
}

// By a function of torch::nn::functional, and by a layer: none of them returns what it was given.
struct PowerImpl : torch::nn::Module {
  PowerImpl() {
    w = register_parameter("w", torch::randn({4, 4}));
    left = register_buffer("left", torch::randn({4}));
    mean = register_buffer("mean", torch::zeros({4}));
    mask = register_buffer("mask", torch::ones({4}));
    kept = register_buffer("kept", torch::ones({4}));
    fc = register_module("fc", torch::nn::Linear(4, 4));
  }
  Tensor forward(const Tensor &x) {
    torch::NoGradGuard guard;
    left = torch::nn::functional::normalize(w.mv(left), torch::nn::functional::NormalizeFuncOptions().dim(0));
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: assigning to 'left' replaces the registered buffer
    mean = fc->forward(mean);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: assigning to 'mean' replaces the registered buffer
    // They may return their operand.
    mask = torch::nn::functional::relu(mask, torch::nn::functional::ReLUFuncOptions().inplace(true));
    kept = torch::nn::functional::dropout2d(kept);
    return x * left + mean * mask * kept;
  }
  Tensor w, left, mean, mask, kept;
  torch::nn::Linear fc{nullptr};
};
TORCH_MODULE(Power);
void runs(Power &power, const Tensor &x) {
  power->forward(x);
  torch::save(power, "power.pt");
}

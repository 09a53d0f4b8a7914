// RUN: %check_torch %s torch-discarded-result %t
//
// What is left as it was: batches, members, elements, references, parameters.

#include <torch/torch.h>

#include <algorithm>

using torch::Tensor;

struct Net : torch::nn::Module {
  torch::nn::Linear fc{4, 4};
  Tensor mean;
  Tensor forward(Tensor x) {
    mean.to(x.device());
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: 'mean.to(x.device())' returns the converted tensor and leaves 'mean' as it is, and the result is dropped; keep it in a variable
    return fc(x - mean);
  }
};

template <class Loader>
void train(Net &net, Loader &loader, torch::optim::SGD &opt,
           torch::Device device) {
  for (auto &batch : *loader) {
    batch.data.to(device);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: 'batch.data.to(device)' returns the converted tensor and leaves 'batch.data' as it is, and the result is dropped; write 'batch.data = batch.data.to(device)'
    batch.target.to(device);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: 'batch.target.to(device)' returns the converted tensor
    opt.zero_grad();
    torch::mse_loss(net.forward(batch.data), batch.target).backward();
    opt.step();
  }
}

void mnist(Net &net, torch::optim::SGD &opt, torch::Device device) {
  auto loader = torch::data::make_data_loader(
      torch::data::datasets::MNIST("data").map(
          torch::data::transforms::Stack<>()),
      64);
  train(net, loader, opt, device);
}

// The loop variable stands for the elements, which are used later.
Tensor elements(std::vector<Tensor> tensors, torch::Device device) {
  for (auto &t : tensors)
    t.to(device);
  // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: 't.to(device)' returns the converted tensor and leaves 't' as it is, and the result is dropped; write 't = t.to(device)'
  for (const auto &t : tensors)
    t.to(torch::kFloat);
  // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: 't.to(torch::kFloat)' returns the converted tensor and leaves 't' as it is, and the result is dropped; keep it in a variable
  for (auto t : tensors)
    t.flatten();
  // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: 't.flatten()' returns its result and leaves 't' as it is, and the result is dropped; keep it in a variable
  for (size_t i = 0; i < tensors.size(); ++i)
    tensors[i].contiguous();
  // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: 'tensors[i].contiguous()' returns its result and leaves 'tensors[i]' as it is, and the result is dropped; keep it in a variable
  std::for_each(tensors.begin(), tensors.end(), [&](Tensor &t) {
    t.to(device);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: 't.to(device)' returns the converted tensor
  });
  return torch::stack(tensors);
}

// By reference: the caller has it.
void normalize(Tensor &image) {
  image.div(255);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: 'image.div(255)' returns its result and leaves 'image' as it is, and the result is dropped; write 'image = image.div(255)'
}

struct State {
  Tensor h, c;
  std::map<std::string, Tensor> cache;
  void reset() {
    h.detach();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: 'h.detach()' returns its result and leaves 'h' as it is, and the result is dropped; write 'h = h.detach()'
    this->c.detach();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: 'this->c.detach()' returns its result and leaves 'this->c' as it is, and the result is dropped; write 'this->c = this->c.detach()'
  }
  void prepare(const std::string &key, torch::Device device) {
    cache[key].to(device);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: 'cache[key].to(device)' returns the converted tensor
    for (auto &[name, value] : cache)
      value.to(device);
    // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: 'value.to(device)' returns the converted tensor and leaves 'value' as it is
    auto found = cache.find(key);
    found->second.cuda();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: 'found->second.cuda()' returns the converted tensor
  }
};

void pointer(State *state) {
  state->h.cuda();
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: 'state->h.cuda()' returns the converted tensor
}

Tensor bindings(std::pair<Tensor, Tensor> sample, torch::Device device) {
  auto [data, target] = sample;
  data.to(device);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: 'data.to(device)' returns the converted tensor
  std::get<1>(sample).to(device);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: 'std::get<1>(sample).to(device)' returns the converted tensor
  return data + std::get<1>(sample);
}

using Image = at::Tensor;

template <class T> T scaled(T image) {
  image.mul(2);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: 'image.mul(2)' returns its result
  return image;
}
Image callScaled(Image image) { return scaled(image); }

// In a lambda; a captured variable that is used in it.
void lambdas(Tensor x) {
  auto step = [x](Tensor y) mutable {
    x.cuda();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: 'x.cuda()' returns the converted tensor
    y.cuda();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: 'y.cuda()' returns the converted tensor
    return x + y;
  };
  step(x);
}

#define TO_GPU(t) (t).cuda()

Tensor macro(Tensor x) {
  TO_GPU(x);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: 'TO_GPU(x)' returns the converted tensor
  return x;
}

// It was used before as well, and the loop comes back to it.
Tensor around(Tensor x, torch::Device device) {
  Tensor sum = torch::zeros({1});
  for (int i = 0; i < 4; ++i) {
    sum += x.sum();
    x.to(device);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: 'x.to(device)' returns the converted tensor
  }
  return sum;
}

// RUN: %check_torch %s torch-undetached-hidden-state %t
//
// Cells written out with plain operations.

#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;
using torch::optim::SGD;

// An Elman cell over tensors that require a gradient.
void elman(const std::vector<Tensor> &xs, Tensor y) {
  auto wxh = torch::randn({8, 8}, torch::requires_grad());
  auto whh = torch::randn({8, 8}, torch::requires_grad());
  auto bias = torch::zeros({8}, torch::requires_grad());
  SGD opt({wxh, whh, bias}, 0.1);
  auto h = torch::zeros({4, 8});
  for (const auto &x : xs) {
    h = torch::tanh(torch::matmul(x, wxh) + torch::matmul(h, whh) + bias);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: recurrent state 'h' carries what its backward() needs (its autograd graph) into the next iteration: the next backward() goes on into what this one has freed, and throws; detach it: 'h = h.detach();' [torch-undetached-hidden-state]
    auto loss = torch::mse_loss(h, y);
    opt.zero_grad();
    loss.backward();
    opt.step();
  }
}

// Registered parameters, in a module whose forward takes the state.
struct LeakyCellImpl : torch::nn::Module {
  LeakyCellImpl() {
    input = register_module("input", Linear(8, 8));
    decay = register_parameter("decay", torch::ones({8}));
  }
  Tensor forward(const Tensor &x, const Tensor &h) {
    return h * torch::sigmoid(decay) + input->forward(x);
  }
  Linear input{nullptr};
  Tensor decay;
};
TORCH_MODULE(LeakyCell);

void leakyCell(const std::vector<Tensor> &xs, Tensor y) {
  LeakyCell cell;
  SGD opt(cell->parameters(), 0.1);
  auto h = torch::zeros({4, 8});
  for (const auto &x : xs) {
    opt.zero_grad();
    h = cell(x, h);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: recurrent state 'h' carries what its backward() needs (its autograd graph) into the next iteration: {{.*}} throws
    torch::mse_loss(h, y).backward();
    opt.step();
  }
}

// A gated cell of linear layers, step by step.
void gated(Linear update, Linear candidate, SGD &opt,
           const std::vector<Tensor> &xs, Tensor y) {
  auto h = torch::zeros({4, 8});
  for (const auto &x : xs) {
    opt.zero_grad();
    auto z = torch::sigmoid(update->forward(x + h));
    auto n = torch::tanh(candidate->forward(x + h));
    h = (1 - z) * n + z * h;
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: recurrent state 'h' carries what its backward() needs (its autograd graph) into the next iteration: {{.*}} throws
    torch::mse_loss(h, y).backward();
    opt.step();
  }
}

// The cells of LibTorch as functions.
void functionalCell(const std::vector<Tensor> &xs, Tensor y) {
  auto wih = torch::randn({24, 8}, torch::requires_grad());
  auto whh = torch::randn({24, 8}, torch::requires_grad());
  SGD opt({wih, whh}, 0.1);
  auto h = torch::zeros({4, 8});
  for (const auto &x : xs) {
    opt.zero_grad();
    h = torch::gru_cell(x, h, wih, whh);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: recurrent state 'h' carries what its backward() needs (its autograd graph) into the next iteration: {{.*}} throws
    torch::mse_loss(h, y).backward();
    opt.step();
  }
}

void functionalPair(const std::vector<Tensor> &xs, Tensor y) {
  auto wih = torch::randn({32, 8}, torch::requires_grad());
  auto whh = torch::randn({32, 8}, torch::requires_grad());
  SGD opt({wih, whh}, 0.1);
  auto state = std::make_tuple(torch::zeros({4, 8}), torch::zeros({4, 8}));
  for (const auto &x : xs) {
    opt.zero_grad();
    state =
        torch::lstm_cell(x, {std::get<0>(state), std::get<1>(state)}, wih, whh);
    // CHECK-MESSAGES: :[[@LINE-2]]:5: warning: recurrent state 'state' carries what its backward() needs (its autograd graph) into the next iteration: {{.*}} throws; detach its tensors
    torch::mse_loss(std::get<0>(state), y).backward();
    opt.step();
  }
}

// A member of a module without any layer, its own parameter and its own state.
class Integrator : public torch::nn::Module {
public:
  Integrator() {
    weight_ = register_parameter("weight", torch::eye(8));
    state_ = register_buffer("state", torch::zeros({4, 8}));
  }
  Tensor forward(const Tensor &x) {
    state_ = torch::relu(torch::mm(state_ + x, weight_));
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: recurrent state 'state_' carries what its backward() needs (its autograd graph) into the next iteration: {{.*}} throws
    return state_;
  }

private:
  Tensor weight_, state_;
};

void integrator(const std::vector<Tensor> &xs, Tensor y) {
  Integrator net;
  SGD opt(net.parameters(), 0.1);
  for (const auto &x : xs) {
    opt.zero_grad();
    torch::mse_loss(net.forward(x), y).backward();
    opt.step();
  }
}

// ----- quiet -----

// Detached where it enters.
void detachedInput(const std::vector<Tensor> &xs, Tensor y) {
  auto w = torch::randn({8, 8}, torch::requires_grad());
  SGD opt({w}, 0.1);
  auto h = torch::zeros({4, 8});
  for (const auto &x : xs) {
    opt.zero_grad();
    h = torch::tanh(x + torch::matmul(h.detach(), w));
    torch::mse_loss(h, y).backward();
    opt.step();
  }
}

// Fixed weights: nothing here has a history.
static void reservoir(const std::vector<Tensor> &xs) {
  auto w = torch::randn({8, 8});
  auto h = torch::zeros({4, 8});
  for (const auto &x : xs)
    h = torch::tanh(x + torch::matmul(h, w));
  std::cout << h.sizes() << '\n';
}

// The state runs over data, and only what is read from it is trained.
static void trainedReadout(Linear readout, SGD &opt,
                           const std::vector<Tensor> &xs, Tensor y) {
  auto w = torch::randn({8, 8});
  auto h = torch::zeros({4, 8});
  for (const auto &x : xs) {
    opt.zero_grad();
    h = torch::tanh(x + torch::matmul(h, w));
    torch::mse_loss(readout->forward(h), y).backward();
    opt.step();
  }
}

// Not recurrent: the weights themselves change, under a guard or as data.
void gradientDescent(const std::vector<Tensor> &xs, Tensor y) {
  auto w = torch::randn({8, 8}, torch::requires_grad());
  auto average = w.detach().clone();
  for (const auto &x : xs) {
    torch::mse_loss(torch::matmul(x, w), y).backward();
    torch::NoGradGuard no_grad;
    w -= 0.1 * w.grad();
    w.mutable_grad().zero_();
    average = 0.9 * average + 0.1 * w;
  }
}

// A fresh leaf in each iteration.
void freshLeaf(Tensor image, Tensor y) {
  for (int i = 0; i < 10; ++i) {
    image = image.detach().requires_grad_();
    auto loss = torch::mse_loss(torch::tanh(image * 2), y);
    loss.backward();
    image = image - 0.1 * image.grad();
  }
}

int main() {
  std::vector<Tensor> xs{torch::rand({4, 8}), torch::rand({4, 8})};
  Linear readout(8, 8);
  SGD opt(readout->parameters(), 0.1);
  reservoir(xs);
  trainedReadout(readout, opt, xs, torch::rand({4, 8}));
}

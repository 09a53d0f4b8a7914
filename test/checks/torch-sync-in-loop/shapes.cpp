// RUN: %check_torch %s torch-sync-in-loop %t
//
// The host waits in each iteration of a training, only to record something.

#include <torch/torch.h>

using torch::Tensor;

struct Net : torch::nn::Module {
  torch::nn::Linear fc{nullptr};
  Net() { fc = register_module("fc", torch::nn::Linear(4, 2)); }
  Tensor forward(Tensor x) { return fc(x); }
};
struct Batch {
  Tensor x, y;
};
using Batches = std::vector<Batch>;
Tensor lossOf(Net &net, const Batch &batch, torch::Device device) {
  return torch::mse_loss(net.forward(batch.x.to(device)), batch.y.to(device));
}

void summedUp(Net &net, torch::optim::Optimizer &optimizer, const Batches &all,
              torch::Device device) {
  for (int epoch = 0; epoch < 10; ++epoch) {
    double sum = 0;
    for (const Batch &batch : all) {
      Tensor loss = lossOf(net, batch, device);
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      sum += loss.item<double>() * batch.x.size(0);
      // CHECK-MESSAGES: :[[@LINE-1]]:19: warning: 'item' makes the host wait for the device in every iteration, and the device then has nothing queued; add it up on the device, in a tensor that is detached, and read that once in many iterations [torch-sync-in-loop]
    }
    std::cout << epoch << ": " << sum / all.size() << '\n';
  }
}

// One finding for a loop, whatever waits in it.
void printed(Net &net, torch::optim::Optimizer &optimizer, const Batches &all,
             torch::Device device) {
  for (const Batch &batch : all) {
    Tensor loss = lossOf(net, batch, device), twice = loss * 2;
    loss.backward();
    optimizer.step();
    optimizer.zero_grad();
    std::cout << "loss " << loss.item<float>() <<
    // CHECK-MESSAGES: :[[@LINE-1]]:34: warning: 'item' makes the host wait for the device in every iteration
        ", twice " << twice.item().toFloat() << '\n';
    std::cout << loss;
  }
}

void inVariables(Net &net, torch::optim::Optimizer &optimizer,
                 const Batches &all, torch::Device device) {
  std::vector<float> losses;
  float smooth = -1;
  int step = 0;
  for (const Batch &batch : all) {
    optimizer.zero_grad();
    Tensor loss = lossOf(net, batch, device);
    const float number = loss.item<float>();
    // CHECK-MESSAGES: :[[@LINE-1]]:31: warning: 'item' makes the host wait for the device in every iteration
    smooth = smooth < 0 ? number : smooth * 0.9F + std::sqrt(number) * 0.1F;
    losses.push_back(number);
    loss.backward();
    optimizer.step();
    if (++step % 100 == 0) {
      std::cout << smooth << '\n';
      if (smooth < 0.01F)
        break;
    }
  }
}

// Asserted on.
void asserted(Net &net, torch::optim::Optimizer &optimizer, const Batches &all,
              torch::Device device) {
  for (const Batch &batch : all) {
    optimizer.zero_grad();
    Tensor loss = lossOf(net, batch, device);
    TORCH_CHECK(!std::isnan(loss.item<float>()), "no loss");
    // CHECK-MESSAGES: :[[@LINE-1]]:34: warning: 'item' makes the host wait for the device in every iteration
    CHECK(loss.mean().item<float>() < 100);
    if (std::isinf(loss.item<float>()))
      throw std::runtime_error("loss");
    loss.backward();
    optimizer.step();
  }
}

// Never looked at.
void unused(Net &net, torch::optim::Optimizer &optimizer, const Batches &all,
            torch::Device device) {
  for (const Batch &batch : all) {
    Tensor loss = lossOf(net, batch, device);
    float number = loss.item().toFloat();
    // CHECK-MESSAGES: :[[@LINE-1]]:25: warning: 'item' makes the host wait for the device in every iteration
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
}

// Of a function that the loop calls, and that returns it.
class Trainer {
public:
  void train(const Batches &all) {
    for (const Batch &batch : all)
      total += step(batch);
  }

private:
  double step(const Batch &batch) {
    optimizer.zero_grad();
    Tensor loss = lossOf(net, batch, device);
    loss.backward();
    optimizer.step();
    return loss.item<double>();
    // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: 'item' makes the host wait for the device in every iteration
  }

  Net net;
  torch::optim::SGD optimizer{net.parameters(), 0.1};
  torch::Device device{torch::kCUDA};
  double total = 0;
};

// Given to a function that adds it up.
struct Mean {
  double sum = 0;
  int count = 0;
  void add(double number) {
    sum += number;
    ++count;
  }
};
template <class Loader>
void ofTemplate(Net &net, torch::optim::Optimizer &optimizer, Loader &loader,
                torch::Device device) {
  Mean mean;
  for (const auto &batch : loader) {
    optimizer.zero_grad();
    auto loss = lossOf(net, batch, device);
    loss.backward();
    optimizer.step();
    mean.add(loss.template item<double>());
    // CHECK-MESSAGES: :[[@LINE-1]]:28: warning: 'item' makes the host wait for the device in every iteration
  }
}
template void ofTemplate(Net &, torch::optim::Optimizer &, Batches &,
                         torch::Device);

void ofLambda(Net &net, torch::optim::Optimizer &optimizer, const Batches &all,
              torch::Device device) {
  double sum = 0;
  auto step = [&](const Batch &batch) {
    optimizer.zero_grad();
    Tensor loss = lossOf(net, batch, device);
    loss.backward();
    optimizer.step();
    sum += loss.item<double>();
    // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: 'item' makes the host wait for the device in every iteration
  };
  for (const Batch &batch : all)
    step(batch);
}

// Copied to the host.
void copied(Net &net, torch::optim::Optimizer &optimizer, const Batches &all,
            torch::Device device) {
  std::vector<Tensor> losses;
  for (const Batch &batch : all) {
    optimizer.zero_grad();
    Tensor loss = lossOf(net, batch, device);
    loss.backward();
    optimizer.step();
    losses.push_back(loss.detach().cpu());
    // CHECK-MESSAGES: :[[@LINE-1]]:36: warning: 'cpu' makes the host wait for the device in every iteration, and the device then has nothing queued; keep the tensor on the device, and copy it once in many iterations [torch-sync-in-loop]
  }
}

// The tensor itself is printed.
void text(Net &net, torch::optim::Optimizer &optimizer, const Batches &all,
          torch::Device device) {
  for (const Batch &batch : all) {
    optimizer.zero_grad();
    Tensor loss = lossOf(net, batch, device);
    loss.backward();
    optimizer.step();
    std::cout << "loss " << loss;
    // CHECK-MESSAGES: :[[@LINE-1]]:26: warning: printing a tensor makes the host wait for the device in every iteration, and the device then has nothing queued; print once in many iterations [torch-sync-in-loop]
  }
}

// How large the result is depends on the data.
void shape(Net &net, torch::optim::Optimizer &optimizer, const Batches &all,
           torch::Device device) {
  for (const Batch &batch : all) {
    optimizer.zero_grad();
    Tensor y = net.forward(batch.x.to(device));
    Tensor loss = torch::masked_select(y, y > 0).mean();
    // CHECK-MESSAGES: :[[@LINE-1]]:19: warning: 'torch::masked_select' makes the host wait for the device in every iteration, and the device then has nothing queued; the size of its result depends on the data, so prefer a mask that keeps the shape, as in torch::where [torch-sync-in-loop]
    loss.backward();
    optimizer.step();
  }
}

// A mean that a member keeps and a method gives: those who ask print it, or ask
// in some iterations only.
class Smoothed {
public:
  void add(double value) { mean_ = mean_ == 0 ? value : 0.9 * mean_ + 0.1 * value; }
  double get() const { return mean_; }

private:
  double mean_ = 0;
};
void averaged(Net &net, torch::optim::Optimizer &optimizer, const Batches &all,
              torch::Device device, const std::function<void(double)> &tell) {
  Smoothed mean;
  int step = 0;
  for (const Batch &batch : all) {
    Tensor loss = lossOf(net, batch, device);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    mean.add(loss.item<double>());
    // CHECK-MESSAGES: :[[@LINE-1]]:19: warning: 'item' makes the host wait for the device in every iteration
    if (++step % 100 == 0)
      tell(mean.get());
  }
  std::cout << mean.get() << '\n';
}

// What the host needs in some iterations only, in a loop of its own, is no
// reason to wait in all of them.
void previewed(Net &net, torch::optim::Optimizer &optimizer, const Batches &all,
               torch::Device device) {
  double mean = 0;
  int64_t rows = 0;
  for (size_t step = 0; step < all.size(); ++step) {
    Tensor loss = lossOf(net, all[step], device);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    const double now = loss.item<double>();
    // CHECK-MESSAGES: :[[@LINE-1]]:29: warning: 'item' makes the host wait for the device in every iteration
    mean = step == 0 ? now : 0.9 * mean + 0.1 * now;
    if (step % 100 == 0)
      while (rows < 50)
        rows += net.forward(all[0].x.to(device)).argmax(1)[0].item<int64_t>() + 1;
  }
  std::cout << mean << '\n';
}

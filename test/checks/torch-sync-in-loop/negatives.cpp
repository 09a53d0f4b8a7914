// RUN: %check_torch %s torch-sync-in-loop %t
//
// No wait in each iteration, or one that the program needs.

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
using Optimizer = torch::optim::Optimizer;
Tensor lossOf(Net &net, const Batch &batch, torch::Device device) {
  return torch::mse_loss(net.forward(batch.x.to(device)), batch.y.to(device));
}
Tensor train(Net &net, Optimizer &optimizer, const Batch &batch,
             torch::Device device) {
  optimizer.zero_grad();
  Tensor loss = lossOf(net, batch, device);
  loss.backward();
  optimizer.step();
  return loss;
}
void look(double);
double next(double action);

// Every so many iterations.
void logged(Net &net, Optimizer &optimizer, const Batches &all,
            torch::Device device) {
  int step = 0;
  for (const Batch &batch : all) {
    Tensor loss = train(net, optimizer, batch, device);
    if (step++ % 100 == 0)
      std::cout << loss.item<float>() << '\n';
  }
}
void passedBy(Net &net, Optimizer &optimizer, const Batches &all,
              torch::Device device) {
  int step = 0;
  for (const Batch &batch : all) {
    Tensor loss = train(net, optimizer, batch, device);
    if (step++ % 100)
      continue;
    std::cout << loss.item<float>() << '\n';
  }
}
void onRequest(Net &net, Optimizer &optimizer, const Batches &all,
               torch::Device device, bool verbose) {
  for (const Batch &batch : all) {
    Tensor loss = train(net, optimizer, batch, device);
    if (verbose)
      std::cout << loss.item<float>() << '\n';
  }
}

// Once in an epoch.
void onTheDevice(Net &net, Optimizer &optimizer, const Batches &all,
                 torch::Device device) {
  for (int epoch = 0; epoch < 100; ++epoch) {
    Tensor sum = torch::zeros({}, device);
    for (const Batch &batch : all)
      sum += train(net, optimizer, batch, device).detach();
    std::cout << sum.item<float>() << '\n';
  }
}

// The number decides: what to do next, when to stop, what to keep.
void stops(Net &net, Optimizer &optimizer, const Batches &all,
           torch::Device device) {
  for (const Batch &batch : all) {
    Tensor loss = train(net, optimizer, batch, device);
    if (loss.item<float>() < 0.01)
      break;
  }
}
void stopsLater(Net &net, Optimizer &optimizer, const Batches &all,
                torch::Device device) {
  float last = 1;
  for (unsigned i = 0; i < all.size() && last > 0.01; ++i) {
    last = train(net, optimizer, all[i], device).item<float>();
    std::cout << last << '\n';
  }
}
void keepsBest(Net &net, Optimizer &optimizer, const Batches &all,
               torch::Device device) {
  float best = 1e9;
  for (const Batch &batch : all) {
    const auto loss = train(net, optimizer, batch, device).item<float>();
    if (loss < best) {
      best = loss;
      torch::save(net.parameters(), "best.pt");
    }
  }
}
// One that is printed as well waits no longer.
void stopsAndPrints(Net &net, Optimizer &optimizer, const Batches &all,
                    torch::Device device) {
  for (const Batch &batch : all) {
    Tensor loss = train(net, optimizer, batch, device);
    std::cout << loss.item<float>() << '\n';
    if (loss.item<float>() < 0.01)
      break;
  }
}
void skips(Net &net, Optimizer &optimizer, const Batches &all,
           torch::Device device) {
  for (const Batch &batch : all) {
    optimizer.zero_grad();
    Tensor loss = lossOf(net, batch, device);
    if (std::isnan(loss.item<float>()))
      continue;
    loss.backward();
    optimizer.step();
  }
}
void schedules(Net &net, torch::optim::SGD &optimizer, const Batches &all,
               torch::Device device) {
  for (const Batch &batch : all) {
    const auto loss = train(net, optimizer, batch, device).item<double>();
    static_cast<torch::optim::SGDOptions &>(
        optimizer.param_groups()[0].options())
        .lr(loss);
  }
}

// It goes back to the device, or to code that is not seen.
void decodes(Net &net, Optimizer &optimizer, torch::Device device) {
  float token = 0;
  for (int i = 0; i < 1000; ++i) {
    optimizer.zero_grad();
    Tensor y = net.forward(torch::full({1, 4}, token, device));
    token = y.argmax(1).item<float>();
    y.sum().backward();
    optimizer.step();
  }
}
void acts(Net &net, Optimizer &optimizer, torch::Device device) {
  double state = 0;
  for (int i = 0; i < 1000; ++i) {
    optimizer.zero_grad();
    Tensor y = net.forward(torch::full({1, 4}, state, device));
    state = next(y.argmax(1).item<double>());
    y.sum().backward();
    optimizer.step();
  }
}
void isGiven(Net &net, Optimizer &optimizer, const Batches &all,
             torch::Device device) {
  for (const Batch &batch : all)
    look(train(net, optimizer, batch, device).item<double>());
}
void chooses(Net &net, Optimizer &optimizer, const Batches &all,
             torch::Device device) {
  std::vector<int> counts(10);
  for (const Batch &batch : all)
    ++counts[train(net, optimizer, batch, device).item<int>()];
}

// No training.
void evaluates(Net &net, const Batches &all, torch::Device device) {
  torch::NoGradGuard no_grad;
  double sum = 0;
  for (const Batch &batch : all)
    sum += lossOf(net, batch, device).item<double>();
  std::cout << sum;
}
// Few iterations.
void phases(Net &net, Optimizer &optimizer, const Batch &batch,
            torch::Device device) {
  for (int i = 0; i < 4; ++i)
    std::cout << train(net, optimizer, batch, device).item<float>() << '\n';
}
// On the CPU.
void onCpu(Net &net, Optimizer &optimizer, const Batches &all) {
  for (const Batch &batch : all) {
    Tensor loss = train(net, optimizer, batch, torch::kCPU);
    std::cout << loss.item<float>() << '\n';
  }
}
void copiedBefore(Net &net, Optimizer &optimizer, const Batches &all) {
  for (const Batch &batch : all) {
    Tensor x = torch::rand({2, 4});
    optimizer.zero_grad();
    lossOf(net, batch, torch::kCUDA).backward();
    optimizer.step();
    std::cout << x.sum().item<float>() << x.nonzero().size(0) << '\n';
  }
}
// What forward() selects is the model's.
struct Detector : torch::nn::Module {
  torch::nn::Linear fc{nullptr};
  Detector() { fc = register_module("fc", torch::nn::Linear(4, 2)); }
  Tensor forward(Tensor x) {
    auto y = fc(x);
    return torch::masked_select(y, y > 0);
  }
};
void selects(Detector &net, Optimizer &optimizer, const Batches &all,
             torch::Device device) {
  for (const Batch &batch : all) {
    optimizer.zero_grad();
    net.forward(batch.x.to(device)).mean().backward();
    optimizer.step();
  }
}

// A device is chosen, and nothing is known to be put there.
std::vector<std::pair<Tensor, Tensor>> batches();
void chosenInVain() {
  torch::Device device(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU);
  std::cout << device << '\n';
  auto w = torch::randn({8, 1}, torch::requires_grad());
  float total = 0;
  for (auto &batch : batches()) {
    auto loss = (batch.first.mm(w) - batch.second).square().mean();
    loss.backward();
    total += loss.item<float>();
  }
  std::cout << total << '\n';
}

// The loop inside has to wait for each answer.
int matches(Net &net, Optimizer &optimizer, const Batches &all, torch::Device device) {
  int found = 0;
  double sum = 0;
  for (const Batch &batch : all) {
    Tensor output = net.forward(batch.x.to(device));
    Tensor answers = output.argmax(1);
    for (int i = 0; i < answers.size(0); ++i)
      if (answers[i].item<int64_t>() == 1)
        ++found;
    Tensor loss = torch::mse_loss(output, batch.y.to(device));
    sum += loss.item<double>();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
  look(sum);
  return found;
}

// A member keeps it, and a method gives it to code that is not seen, or to a
// decision, in each iteration; or nothing shows who asks.
struct Told {
  double last = 0;
  double get() const { return last; }
};
struct Deciding {
  double last = 0;
  double get() const { return last; }
};
struct Overridden {
  double last = 0;
  virtual ~Overridden() = default;
  virtual double get() const { return last; }
};
struct Taken {
  double last = 0;
  double get() const { return last; }
};
struct Unasked {
  double last = 0;
  double get() const { return last; }
};
template <class Keeper>
void keeping(Keeper &keeper, Net &net, Optimizer &optimizer, const Batches &all, torch::Device device) {
  for (const Batch &batch : all)
    keeper.last = train(net, optimizer, batch, device).template item<double>();
}
void told(Told &keeper, Net &net, Optimizer &optimizer, const Batches &all, torch::Device device) {
  for (const Batch &batch : all) {
    keeper.last = train(net, optimizer, batch, device).item<double>();
    look(keeper.get());
  }
}
void deciding(Deciding &keeper, Net &net, Optimizer &optimizer, const Batches &all, torch::Device device) {
  for (const Batch &batch : all) {
    keeper.last = train(net, optimizer, batch, device).item<double>();
    if (keeper.get() < 0.1)
      break;
  }
}
void others(Overridden &a, Taken &b, Unasked &c, Net &net, Optimizer &optimizer, const Batches &all,
            torch::Device device) {
  keeping(a, net, optimizer, all, device);
  keeping(b, net, optimizer, all, device);
  keeping(c, net, optimizer, all, device);
  std::cout << a.get() << std::mem_fn(&Taken::get)(b) << b.get();
}

// A loop inside that each iteration comes to needs its numbers.
void searches(Net &net, torch::optim::Optimizer &optimizer, const Batches &all,
              torch::Device device) {
  for (const Batch &batch : all) {
    Tensor loss = train(net, optimizer, batch, device);
    std::cout << loss.item<float>() << '\n';
    double rate = 1;
    while (lossOf(net, batch, device).item<double>() > rate)
      rate *= 2;
    look(rate);
  }
}

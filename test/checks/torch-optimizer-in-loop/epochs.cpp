// RUN: %check_torch %s torch-optimizer-in-loop %t
//
// One optimizer for each epoch of a training, and what only looks like that.

#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;
using torch::optim::Adam;
using torch::optim::AdamOptions;
using torch::optim::SGDOptions;
using Batches = std::vector<torch::data::Example<>>;

void step(torch::optim::Optimizer &optimizer, Linear &net, const torch::data::Example<> &batch) {
  optimizer.zero_grad();
  torch::mse_loss(net->forward(batch.data), batch.target).backward();
  optimizer.step();
}

void epochs(Linear net, const Batches &batches) {
  // CHECK-FIXES: {{^}}  Adam adam(net->parameters(), AdamOptions(1e-3));
  // CHECK-FIXES-NEXT: {{^}}  for (int epoch = 0; epoch < 5; ++epoch) {
  for (int epoch = 0; epoch < 5; ++epoch) {
    Adam adam(net->parameters(), AdamOptions(1e-3));
    // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: 'adam' is constructed anew in every iteration: this Adam forgets its state after every epoch; construct it once before the loop [torch-optimizer-in-loop]
    for (const auto &batch : batches)
      step(adam, net, batch);
    std::cout << "epoch " << epoch << '\n';
  }
}

template <class Loader> void fit(Linear &net, Loader &loader, torch::optim::Optimizer &optimizer, int epoch) {
  int64_t seen = 0;
  for (auto &batch : loader) {
    step(optimizer, net, batch);
    if (++seen % 100 == 0)
      std::cout << epoch << ": " + std::to_string(seen) << '\n';
  }
}
void loader(int64_t count) {
  Linear net(2, 2);
  auto data = torch::data::datasets::MNIST("data").map(torch::data::transforms::Stack<>());
  auto loader = torch::data::make_data_loader(std::move(data), 64);
  for (int64_t epoch = 1; epoch <= count; ++epoch) {
    auto sgd = std::make_unique<torch::optim::SGD>(net->parameters(), SGDOptions(0.1).momentum(0.9));
    // CHECK-MESSAGES: :[[@LINE-1]]:16: warning: 'sgd' is constructed anew in every iteration: this SGD forgets its state after every epoch
    fit(net, *loader, *sgd, epoch);
  }
}

// A schedule that is written so.
void schedule(Linear net, const Batches &batches) {
  for (int epoch = 0; epoch < 5; ++epoch) {
    Adam adam(net->parameters(), AdamOptions(std::pow(0.5, epoch)));
    for (const auto &batch : batches)
      step(adam, net, batch);
  }
}

// The number of a stage, which says more than how often.
void stages(Linear net, const Batches &batches) {
  for (int stage = 0; stage < 3; ++stage) {
    Adam adam(net->parameters());
    for (const auto &batch : batches) {
      adam.zero_grad();
      torch::mse_loss(net->forward(batch.data / (1 << stage)), batch.target).backward();
      adam.step();
    }
  }
}
void tasks(Linear net, const std::vector<Batches> &all) {
  for (size_t task = 0; task < all.size(); ++task) {
    Adam adam(net->parameters());
    for (const auto &batch : all[task])
      step(adam, net, batch);
  }
}
void rates(Linear net, const Batches &batches) {
  for (double rate : {1e-2, 1e-3}) {
    Adam adam(net->parameters(), rate);
    for (const auto &batch : batches)
      step(adam, net, batch);
  }
}

// Restarts: several epochs with each.
void restarts(Linear net, const Batches &batches) {
  for (int cycle = 0; cycle < 3; ++cycle) {
    Adam adam(net->parameters());
    for (int epoch = 0; epoch < 5; ++epoch)
      for (const auto &batch : batches)
        step(adam, net, batch);
  }
}

// Other data each time.
Batches collect(Linear &net, const Batches &from) {
  Batches result;
  for (const auto &one : from)
    result.push_back({one.data, net->forward(one.data).detach()});
  return result;
}
void rounds(Linear net, const Batches &from) {
  Batches kept;
  for (int round = 0; round < 5; ++round) {
    const Batches batches = collect(net, from);
    Adam adam(net->parameters());
    for (const auto &batch : batches)
      step(adam, net, batch);
    kept = collect(net, from);
    Adam other(net->parameters());
    for (const auto &batch : kept)
      step(other, net, batch);
  }
}

// Each is a training of its own, or may be.
void seeds(const Batches &batches) {
  for (int seed = 0; seed < 5; ++seed) {
    Linear net(2, 2);
    Adam adam(net->parameters());
    for (const auto &batch : batches)
      step(adam, net, batch);
  }
}
void redrawn(Linear net, const Batches &batches) {
  for (int run = 0; run < 5; ++run) {
    {
      torch::NoGradGuard no_grad;
      net->weight.normal_();
    }
    Adam adam(net->parameters());
    for (const auto &batch : batches)
      step(adam, net, batch);
  }
}
void prepare(Linear &net);
void prepared(Linear net, const Batches &batches) {
  for (int run = 0; run < 5; ++run) {
    prepare(net);
    Adam adam(net->parameters());
    for (const auto &batch : batches)
      step(adam, net, batch);
  }
}
void alternating(Linear a, Linear b, const Batches &batches) {
  for (int round = 0; round < 5; ++round) {
    Adam first(a->parameters());
    for (const auto &batch : batches)
      step(first, a, batch);
    Adam second(b->parameters());
    for (const auto &batch : batches)
      step(second, b, batch);
  }
}

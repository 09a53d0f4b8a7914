// RUN: %check_torch %s torch-optimizer-in-loop %t -still-warns
//
// One optimizer for each epoch, whose batches are parts of the same tensors.

#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;
using torch::optim::Adam;

struct Data {
  Tensor x, y;
};

static void step(torch::optim::Optimizer &optimizer, Linear &net, const Tensor &x, const Tensor &y) {
  optimizer.zero_grad();
  torch::mse_loss(net->forward(x), y).backward();
  optimizer.step();
}

static Tensor descend(Linear &net, torch::optim::Optimizer &optimizer, const Data &data, int64_t batch) {
  Tensor last;
  for (int64_t at = 0; at + batch <= data.x.size(0); at += batch) {
    optimizer.zero_grad();
    auto loss = torch::mse_loss(net->forward(data.x.narrow(0, at, batch)), data.y.narrow(0, at, batch));
    loss.backward();
    optimizer.step();
    last = loss.detach();
  }
  return last;
}
static Tensor once(Linear &net, const Data &data, int64_t batch) {
  Adam optimizer(net->parameters(), torch::optim::AdamOptions(1e-3));
  // CHECK-MESSAGES: :[[@LINE-1]]:8: warning: 'optimizer' is constructed anew in every iteration: this Adam forgets its state after every epoch
  return descend(net, optimizer, data, batch);
}
void inHelpers(Linear &net, const Data &data, int epochs) {
  for (int epoch = 0; epoch < epochs; ++epoch)
    std::cout << epoch << ": " << once(net, data, 16).item<double>() << '\n';
}

void here(Linear net, const Tensor &x, const Tensor &y) {
  // CHECK-FIXES: {{^}}  Adam adam(net->parameters());
  // CHECK-FIXES-NEXT: {{^}}  for (int epoch = 0; epoch < 5; ++epoch) {
  for (int epoch = 0; epoch < 5; ++epoch) {
    Adam adam(net->parameters());
    // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: 'adam' is constructed anew in every iteration
    for (int64_t i = 0; i < x.size(0); ++i)
      step(adam, net, x[i], y[i]);
  }
}

// It counts what it has seen, in a buffer.
struct CountingImpl : torch::nn::Module {
  Linear out{nullptr};
  Tensor seen;
  CountingImpl() {
    out = register_module("out", Linear(2, 2));
    seen = register_buffer("seen", torch::zeros({}));
  }
  Tensor forward(const Tensor &x) {
    seen += x.size(0);
    return out(x);
  }
};
TORCH_MODULE(Counting);
void counting(const Tensor &x, const Tensor &y) {
  Counting net;
  for (int epoch = 0; epoch < 5; ++epoch) {
    Adam adam(net->parameters());
    // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: 'adam' is constructed anew in every iteration
    for (int64_t i = 0; i < x.size(0); ++i) {
      adam.zero_grad();
      torch::mse_loss(net->forward(x.slice(0, i, i + 1)), y[i]).backward();
      adam.step();
    }
  }
}

// Shuffled, or drawn anew.
void shuffled(Linear net, const Tensor &x, const Tensor &y) {
  for (int epoch = 0; epoch < 5; ++epoch) {
    auto order = torch::randperm(x.size(0));
    auto a = x.index_select(0, order), b = y.index_select(0, order);
    Adam adam(net->parameters());
    for (int64_t i = 0; i < 8; ++i)
      step(adam, net, a[i], b[i]);
  }
}
void rewritten(Linear net, Tensor x, const Tensor &y) {
  for (int round = 0; round < 5; ++round) {
    x.normal_();
    Adam adam(net->parameters());
    for (int64_t i = 0; i < 8; ++i)
      step(adam, net, x[i], y[i]);
  }
}

// The counter says which data there are.
void folds(Linear net, const Tensor &x, const Tensor &y) {
  for (int fold = 0; fold < 5; ++fold) {
    auto part = x.narrow(0, 8 * fold, 8);
    Adam adam(net->parameters());
    for (int64_t i = 0; i < 8; ++i)
      step(adam, net, part[i], y[i]);
  }
}
void grows(Linear net, const Tensor &x, const Tensor &y) {
  for (int round = 1; round < 5; ++round) {
    Adam adam(net->parameters());
    for (int64_t i = 0; i < 8 * round; ++i)
      step(adam, net, x[i], y[i]);
  }
}

// All at once: a stage, as far as anybody can see.
void fullBatches(Linear net, const Tensor &x, const Tensor &y) {
  for (int stage = 0; stage < 5; ++stage) {
    Adam adam(net->parameters());
    for (int64_t i = 0; i < 8; ++i)
      step(adam, net, x, y);
  }
}

// A network for each.
void seeds(const Tensor &x, const Tensor &y) {
  for (int seed = 0; seed < 5; ++seed) {
    Linear net(2, 2);
    Adam adam(net->parameters());
    for (int64_t i = 0; i < 8; ++i)
      step(adam, net, x[i], y[i]);
  }
}

// The rows of the same tensors, in another order each time.
static Data rowsOf(const Data &all, const Tensor &rows) {
  return {all.x.index_select(0, rows), all.y.index({rows, torch::indexing::Slice()})};
}
static void epoch(torch::optim::Optimizer &optimizer, Linear &net, const Data &all) {
  const auto order = torch::randperm(all.x.size(0));
  for (const Tensor &rows : order.split(64)) {
    const Data batch = rowsOf(all, rows);
    step(optimizer, net, batch.x, batch.y);
  }
}
void byRows(Linear net, const Data &all) {
  for (int i = 0; i < 30; ++i) {
    Adam optimizer(net->parameters(), 1e-3);
    // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: 'optimizer' is constructed anew in every iteration
    epoch(optimizer, net, all);
  }
}
// Other data in each round, by the same numbers of rows.
void inRounds(Linear net) {
  for (int i = 0; i < 30; ++i) {
    const Data played = {torch::rand({640, 4}), torch::rand({640, 1})};
    Adam optimizer(net->parameters(), 1e-3);
    for (const Tensor &rows : torch::arange(640).split(64)) {
      const Data batch = rowsOf(played, rows);
      step(optimizer, net, batch.x, batch.y);
    }
  }
}

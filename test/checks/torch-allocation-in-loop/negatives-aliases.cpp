// RUN: %check_torch %s torch-allocation-in-loop %t
//
// A graph or a view still needs the tensor when the next iteration would
// overwrite it.

#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;

// ----- views -----

void keepsRow(const std::vector<Tensor> &xs) {
  std::vector<Tensor> rows;
  for (const auto &x : xs) {
    auto table = torch::zeros({64, 64});
    table += x;
    rows.push_back(table[0]);
  }
  std::cout << rows.size() << '\n';
}

void keepsSlice(const std::vector<Tensor> &xs) {
  Tensor head;
  for (const auto &x : xs) {
    auto table = torch::zeros({64, 64});
    table += x;
    head = table.narrow(0, 0, 8).t();
  }
  std::cout << head << '\n';
}

void keepsFlat(const std::vector<Tensor> &xs) {
  std::vector<Tensor> flat;
  for (const auto &x : xs) {
    auto table = torch::zeros({64, 64});
    table += x;
    flat.push_back(table.view({-1}));
  }
  std::cout << torch::stack(flat) << '\n';
}

// All of these may be the tensor itself, or share its memory.
void keepsSame(const std::vector<Tensor> &xs) {
  std::vector<Tensor> kept;
  for (const auto &x : xs) {
    auto detached = torch::zeros({64, 64});
    detached += x;
    kept.push_back(detached.detach());
    auto contiguous = torch::zeros({64, 64});
    contiguous += x;
    kept.push_back(contiguous.contiguous());
    auto onHost = torch::zeros({64, 64});
    onHost += x;
    kept.push_back(onHost.cpu());
    auto reshaped = torch::zeros({64, 64});
    reshaped += x;
    kept.push_back(reshaped.reshape({4096}));
  }
  std::cout << torch::stack(kept) << '\n';
}

void keepsChunks(const std::vector<Tensor> &xs) {
  std::vector<Tensor> all;
  for (const auto &x : xs) {
    auto table = torch::zeros({64, 64});
    table += x;
    for (const auto &part : table.chunk(4))
      all.push_back(part);
  }
  std::cout << all.size() << '\n';
}

// A helper returns a view of it.
static Tensor firstColumns(const Tensor &table) { return table.narrow(1, 0, 8); }

void viewOfHelper(const std::vector<Tensor> &xs) {
  std::vector<Tensor> columns;
  for (const auto &x : xs) {
    auto table = torch::zeros({64, 64});
    table += x;
    columns.push_back(firstColumns(table));
  }
  std::cout << columns.size() << '\n';
}

// ----- graphs -----

// mul saves the mask until the backward() after the loop.
void savedMask(Linear net, const std::vector<Tensor> &xs) {
  Tensor total = torch::zeros({1});
  for (int64_t i = 0; i < 10; ++i) {
    auto mask = torch::zeros({64, 64});
    mask[i] = 1;
    total = total + (net->forward(xs[i]) * mask).sum();
  }
  total.backward();
}

// So does the first layer of the network.
void savedNoise(Linear net, torch::optim::SGD &opt) {
  opt.zero_grad();
  Tensor total;
  for (int i = 0; i < 10; ++i) {
    auto noise = torch::randn({64, 128});
    auto loss = net->forward(noise).pow(2).mean();
    total = total.defined() ? total + loss : loss;
  }
  total.backward();
  opt.step();
}

// The outputs and their graphs are kept, for one loss over all of them.
void savedInput(Linear net, torch::optim::SGD &opt, int64_t n) {
  std::vector<Tensor> outputs;
  for (int64_t i = 0; i < n; ++i) {
    auto oneHot = torch::zeros({32, 64});
    oneHot.narrow(1, i, 1).fill_(1);
    outputs.push_back(net->forward(oneHot));
  }
  opt.zero_grad();
  torch::stack(outputs).mean().backward();
  opt.step();
}

// The sum is part of the graph: one tensor for all iterations would chain the
// graphs of all of them.
void sumOfOutputs(Linear net, torch::optim::SGD &opt,
                  const std::vector<Tensor> &xs) {
  for (const auto &x : xs) {
    auto sum = torch::zeros({64, 64});
    sum += net->forward(x);
    sum += net->forward(x.flip(0));
    opt.zero_grad();
    sum.pow(2).mean().backward();
    opt.step();
  }
}

// Rows of a result that is trained.
void rowsOfOutput(Linear net, torch::optim::SGD &opt,
                  const std::vector<Tensor> &xs) {
  for (const auto &x : xs) {
    auto result = torch::zeros({64, 64});
    for (int64_t i = 0; i < 64; ++i)
      result[i] = net->forward(x[i]);
    opt.zero_grad();
    result.mean().backward();
    opt.step();
  }
}

// A fresh leaf in each iteration: gradients of one tensor would add up.
void freshLeaf(Linear net, const std::vector<Tensor> &xs) {
  for (const auto &x : xs) {
    auto shift = torch::zeros({64, 64}, torch::requires_grad());
    net->forward(x + shift).sum().backward();
    std::cout << shift.grad().abs().max().item<float>() << '\n';
  }
}

void freshLeafByCall(Linear net, const std::vector<Tensor> &xs) {
  for (const auto &x : xs) {
    auto shift = torch::rand({64, 64}).requires_grad_(true);
    net->forward(x + shift).sum().backward();
    std::cout << shift.grad().abs().max().item<float>() << '\n';
  }
}

// RUN: %check_torch %s torch-retained-graph %t
//
// Loops inside a forward: what they collect is the result. And values whose
// further use is not known.

#include <torch/torch.h>

#include <map>

using torch::Tensor;
using torch::nn::Linear;

// The time steps of a recurrent cell, stacked.
struct UnrolledImpl : torch::nn::Module {
  UnrolledImpl() { cell = register_module("cell", torch::nn::GRUCell(8, 8)); }
  Tensor forward(Tensor sequence) {
    auto h = torch::zeros({sequence.size(1), 8});
    std::vector<Tensor> outs;
    for (int64_t t = 0; t < sequence.size(0); ++t) {
      h = cell->forward(sequence[t], h);
      outs.push_back(h);
    }
    return torch::stack(outs);
  }
  torch::nn::GRUCell cell{nullptr};
};
TORCH_MODULE(Unrolled);

// Features of each layer, for a skip connection.
struct PyramidImpl : torch::nn::Module {
  PyramidImpl() {
    for (int i = 0; i < 3; ++i)
      layers->push_back(Linear(8, 8));
    register_module("layers", layers);
  }
  std::vector<Tensor> forward(Tensor x) {
    std::vector<Tensor> features;
    Tensor sum = torch::zeros_like(x);
    for (size_t i = 0; i < layers->size(); ++i) {
      x = torch::relu(layers->at<torch::nn::LinearImpl>(i).forward(x));
      features.push_back(x);
      sum = sum + x;
    }
    features.push_back(sum);
    return features;
  }
  torch::nn::ModuleList layers;
};
TORCH_MODULE(Pyramid);

void train(Unrolled net, Pyramid pyramid, torch::optim::SGD &opt, Tensor x) {
  for (int i = 0; i < 10; ++i) {
    opt.zero_grad();
    auto loss = net->forward(x).sum() + pyramid->forward(x).back().sum();
    loss.backward();
    opt.step();
  }
}

// Written into a result tensor step by step, inside the forward.
Tensor forwardInto(torch::nn::GRUCell cell, Tensor sequence) {
  auto h = torch::zeros({sequence.size(1), 8});
  auto out = torch::zeros_like(sequence);
  for (int64_t t = 0; t < sequence.size(0); ++t) {
    h = cell->forward(sequence[t], h);
    out[t] = h;
  }
  return out;
}

// Returned to callers in other files, who may backward it.
std::vector<Tensor> allLosses(Linear net, const std::vector<Tensor> &xs,
                              Tensor y) {
  std::vector<Tensor> losses;
  for (const auto &x : xs)
    losses.push_back(torch::mse_loss(net->forward(x), y));
  return losses;
}

// Handed to a function in another file, which may backward it.
void trainOn(const std::vector<Tensor> &losses);

void handedOn(Linear net, const std::vector<Tensor> &xs, Tensor y) {
  std::vector<Tensor> losses;
  for (const auto &x : xs)
    losses.push_back(torch::mse_loss(net->forward(x), y));
  trainOn(losses);
}

// Whether the argument has a graph is the caller's secret.
class History {
public:
  void add(const Tensor &value) { values.push_back(value); }
  const std::vector<Tensor> &all() const { return values; }

private:
  std::vector<Tensor> values;
};

void record(std::map<int, Tensor> &into, int step, const Tensor &value) {
  into[step] = value;
}

// Not a tensor and not a container of tensors.
struct Loss {
  double value;
};

void notTensors(Linear net, const std::vector<Tensor> &xs, Tensor y) {
  std::vector<Loss> losses;
  std::map<std::string, double> metrics;
  std::vector<std::vector<int64_t>> shapes;
  for (const auto &x : xs) {
    auto loss = torch::mse_loss(net->forward(x), y);
    loss.backward();
    losses.push_back({loss.item<double>()});
    metrics["loss"] += loss.item<double>();
    shapes.push_back(loss.sizes().vec());
  }
}

// Declared outside the loop for convenience: rebound and backwarded in each
// iteration, so the graph is used up.
void declaredOutside(Linear net, torch::optim::SGD &opt,
                     const std::vector<Tensor> &xs, Tensor y) {
  Tensor output, loss;
  for (const auto &x : xs) {
    opt.zero_grad();
    output = net->forward(x);
    loss = torch::mse_loss(output, y);
    loss.backward();
    opt.step();
  }
}

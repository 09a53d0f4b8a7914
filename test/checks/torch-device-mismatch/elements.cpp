// RUN: %check_torch %s torch-device-mismatch %t -still-warns
//
// Objects that emplace_back() makes in a container: their constructors run.

#include <torch/torch.h>
#include <deque>
#include <string>
#include <vector>

using torch::Tensor;

// One of many filters, each with its own numbers.
struct Filter {
  Filter(std::string name, torch::Device where, int64_t width)
      : name(std::move(name)), kernel(torch::ones({width, width}, where)), offset(torch::zeros({width})) {}
  Tensor apply(const Tensor &x) const {
    return x.mm(kernel) + offset;
    // CHECK-MESSAGES: :[[@LINE-1]]:27: warning: 'offset' is on the CPU, and the other tensor is on 'gpu': this throws wherever
  }
  std::string name;
  Tensor kernel, offset;
};

float filtered() {
  const torch::Device gpu(torch::kCUDA, 0);
  std::vector<Filter> filters;
  for (const char *name : {"low", "high"})
    filters.emplace_back(name, gpu, 16);
  Tensor x = torch::ones({4, 16}, gpu);
  for (const Filter &each : filters)
    x = each.apply(x);
  return x.sum().item<float>();
}

// What emplace_back() returns is the element, and a member of it may be put elsewhere then.
struct Station {
  explicit Station(int64_t width) : mean(torch::zeros({width})) {}
  Tensor mean;
};

float kept() {
  const torch::Device gpu(torch::kCUDA, 0);
  std::deque<Station> stations;
  stations.emplace_back(8);
  const Tensor x = torch::ones({4, 8}, gpu);
  return (x - stations.back().mean).sum().item<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:15: warning: 'stations.back().mean' is on the CPU, and 'x' is on 'gpu': this throws wherever
}

float moved() {
  const torch::Device gpu(torch::kCUDA, 0);
  std::deque<Station> stations;
  Station &made = stations.emplace_back(8);
  made.mean = made.mean.to(gpu);
  const Tensor x = torch::ones({4, 8}, gpu);
  return (x - stations.back().mean).sum().item<float>();
}

// Its constructor puts everything where the data are.
struct Lane {
  Lane(torch::Device where, int64_t width) : weight(torch::ones({width, width}, where)) {
    bias = torch::zeros({width}, where);
  }
  Tensor weight, bias;
};

float together() {
  const torch::Device gpu(torch::kCUDA, 0);
  std::vector<Lane> lanes;
  lanes.emplace_back(gpu, 8);
  Tensor x = torch::ones({4, 8}, gpu);
  for (auto &lane : lanes)
    x = x.mm(lane.weight) + lane.bias;
  return x.sum().item<float>();
}

// A copy of an object that is there runs no other constructor.
float copied() {
  const torch::Device gpu(torch::kCUDA, 0);
  Lane first(gpu, 8);
  std::vector<Lane> lanes;
  lanes.emplace_back(first);
  return (torch::ones({4, 8}, gpu).mm(lanes.back().weight)).sum().item<float>();
}

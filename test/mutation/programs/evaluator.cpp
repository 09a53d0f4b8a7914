// Collects what a network says of a whole data set, and makes the figures of it at the end.
#include <torch/torch.h>

#include <iostream>
#include <string>
#include <vector>

struct Sample {
  torch::Tensor input;
  torch::Tensor label;
};

torch::nn::Sequential make_model() {
  return torch::nn::Sequential(torch::nn::Linear(20, 32), torch::nn::ReLU(),
                               torch::nn::Linear(32, 6));
}

class Evaluator {
 public:
  Evaluator(torch::nn::Sequential model, torch::Device device, int64_t classes)
      : model_(std::move(model)), device_(device), classes_(classes) {}

  void add(const Sample& batch) {
    outputs_.push_back(model_->forward(batch.input.to(device_)).softmax(-1));
    labels_.push_back(batch.label);
  }

  torch::Tensor confusion() {
    auto guess = torch::cat(outputs_).argmax(1).cpu();
    auto label = torch::cat(labels_);
    auto counts = torch::zeros({classes_, classes_}, torch::kInt64);
    auto cell = counts.accessor<int64_t, 2>();
    auto g = guess.accessor<int64_t, 1>();
    auto l = label.accessor<int64_t, 1>();
    for (int64_t i = 0; i < guess.numel(); ++i)
      ++cell[l[i]][g[i]];
    outputs_.clear();
    labels_.clear();
    return counts;
  }

 private:
  torch::nn::Sequential model_;
  torch::Device device_;
  int64_t classes_;
  std::vector<torch::Tensor> outputs_;
  std::vector<torch::Tensor> labels_;
};

// The scores of all batches in one tensor, in the order of the data.
torch::Tensor scores_of(torch::nn::Sequential& model, const std::vector<Sample>& data,
                        torch::Device device) {
  torch::NoGradGuard guard;
  std::vector<torch::Tensor> parts;
  parts.reserve(data.size());
  for (const auto& sample : data) {
    auto logits = model->forward(sample.input.to(device));
    parts.push_back(logits.softmax(1).cpu());
  }
  return torch::cat(parts, 0);
}

// The mean of each feature's activation, a row for each batch.
torch::Tensor activations(torch::nn::Sequential& model, const std::vector<Sample>& data,
                          torch::Device device) {
  torch::NoGradGuard guard;
  std::vector<torch::Tensor> rows;
  for (size_t i = 0; i < data.size(); ++i)
    rows.emplace_back(model->forward(data[i].input.to(device)).mean(0));
  return torch::stack(rows);
}

// Average precision of one class, over scores that have been sorted.
double average_precision(const torch::Tensor& scores, const torch::Tensor& labels, int64_t wanted) {
  auto order = scores.select(1, wanted).argsort(0, true).contiguous();
  auto place = order.accessor<int64_t, 1>();
  auto label = labels.accessor<int64_t, 1>();
  double hits = 0, sum = 0;
  for (int64_t i = 0; i < order.size(0); ++i) {
    if (label[place[i]] != wanted)
      continue;
    hits += 1;
    sum += hits / static_cast<double>(i + 1);
  }
  return hits > 0 ? sum / hits : 0;
}

int main() {
  torch::manual_seed(5);
  const torch::Device device(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU);
  auto model = make_model();
  model->to(device);
  model->eval();
  std::vector<Sample> data;
  for (int i = 0; i < 40; ++i)
    data.push_back({torch::randn({16, 20}), torch::randint(6, {16})});

  Evaluator evaluator(model, device, 6);
  {
    torch::NoGradGuard guard;
    for (const Sample& batch : data)
      evaluator.add(batch);
  }
  std::cout << evaluator.confusion() << '\n';

  std::vector<torch::Tensor> all;
  for (const auto& sample : data)
    all.push_back(sample.label);
  auto labels = torch::cat(all);
  auto scores = scores_of(model, data, device);
  for (int64_t k = 0; k < 6; ++k)
    std::cout << "class " << k << ": " << average_precision(scores, labels, k) << '\n';
  std::cout << activations(model, data, device).std(0) << '\n';
}

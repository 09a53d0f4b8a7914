// RUN: %check_torch %s torch-retained-graph %t
//
// What each layer has made is kept for one pass: another call goes backward through it, and the next
// pass begins with an empty list.

#include <torch/torch.h>

using torch::Tensor;

struct Part {
  std::vector<torch::nn::Sequential> layers;
  std::vector<Tensor> outputs, inputs, history;
};

class Node {
public:
  Tensor forward(Tensor values) {
    part_.outputs.clear();
    part_.inputs.clear();
    for (auto &layer : part_.layers) {
      part_.inputs.push_back(values);
      const Tensor output = layer->forward(values);
      part_.outputs.push_back(output);
      values = output.detach().requires_grad_(true);
    }
    return values;
  }
  Tensor backward(Tensor gradient) {
    for (size_t i = part_.layers.size(); i-- > 0;) {
      part_.outputs[i].backward(gradient);
      gradient = part_.inputs[i].grad();
    }
    return gradient;
  }
  // Nobody goes through these, and nobody empties the list.
  void watch(const std::vector<Tensor> &all) {
    for (const Tensor &x : all)
      part_.history.push_back(part_.layers.front()->forward(x).mean());
    // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: tensor kept in 'part_.history' keeps what its backward() would need
  }

private:
  Part part_;
};

void train(Node &node, const std::vector<Tensor> &all, const Tensor &gradient) {
  for (const Tensor &x : all) {
    node.forward(x);
    node.backward(gradient);
  }
  node.watch(all);
}

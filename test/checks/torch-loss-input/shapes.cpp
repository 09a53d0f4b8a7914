// RUN: %check_torch %s torch-loss-input %t -still-warns
//
// Across functions, members, layers and templates: no fix, for others may want
// the probabilities.

#include <torch/torch.h>

namespace F = torch::nn::functional;
using torch::Tensor;

Tensor writtenThere(const Tensor &scores, const Tensor &labels) {
  return F::cross_entropy(F::softmax(scores, F::SoftmaxFuncOptions(1)), labels);
  // CHECK-MESSAGES: :[[@LINE-1]]:27: warning: cross_entropy() applies log_softmax() to what it is given, and this is the result of softmax()
}
Tensor fixed(const Tensor &scores, const Tensor &labels) {
  return F::cross_entropy(scores.softmax(1), labels);
  // CHECK-MESSAGES: :[[@LINE-1]]:27: warning: cross_entropy() applies
  // CHECK-FIXES: return F::cross_entropy(scores, labels);
}

struct ClassifierImpl : torch::nn::Module {
  ClassifierImpl()
      : hidden(register_module("hidden", torch::nn::Linear(8, 8))),
        out(register_module("out", torch::nn::Linear(8, 4))),
        softmax(register_module("softmax", torch::nn::Softmax(1))) {}
  Tensor forward(Tensor x) {
    x = torch::relu(hidden->forward(x));
    return softmax(out->forward(x));
  }
  torch::nn::Linear hidden, out;
  torch::nn::Softmax softmax;
};
TORCH_MODULE(Classifier);

struct Step {
  Classifier net;
  torch::nn::CrossEntropyLoss criterion;
  torch::optim::SGD optimizer{net->parameters(), 0.1};
  void run(const Tensor &images, const Tensor &labels) {
    const auto output = net->forward(images);
    auto loss = criterion(output, labels);
    // CHECK-MESSAGES: :[[@LINE-1]]:27: warning: cross_entropy() applies
    // CHECK-MESSAGES: :[[@LINE-15]]:12: note: it is applied here
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
};
void all(Step &step, const std::vector<Tensor> &images, const Tensor &labels) {
  for (const Tensor &each : images)
    step.run(each, labels);
}

// The scores themselves, in a loss of logarithms.
struct PlainImpl : torch::nn::Module {
  PlainImpl() : out(register_module("out", torch::nn::Linear(8, 4))) {}
  Tensor forward(const Tensor &x) { return out->forward(x.flatten(1)); }
  torch::nn::Linear out;
};
TORCH_MODULE(Plain);
Tensor ofScores(Plain &net, const Tensor &images, const Tensor &labels) {
  return torch::nll_loss(net->forward(images), labels);
  // CHECK-MESSAGES: :[[@LINE-1]]:26: warning: nll_loss() takes logarithms of probabilities, and these are scores, as a layer computes them: the loss falls without end, for the scores only grow; cross_entropy() takes scores
}
Tensor binaryOfScores(Plain &net, const Tensor &images, const Tensor &labels) {
  torch::nn::BCELoss loss;
  return loss->forward(net->forward(images).squeeze(1), labels);
  // CHECK-MESSAGES: :[[@LINE-1]]:24: warning: binary_cross_entropy() takes probabilities, and these are scores, as a layer computes them: what is not between 0 and 1 throws; binary_cross_entropy_with_logits() takes the scores
}

// In a structure, chosen, in pieces.
struct Output {
  Tensor probabilities, value;
};
Output predict(Plain &net, const Tensor &x) {
  Output result;
  result.probabilities = torch::softmax(net->forward(x), -1);
  // CHECK-MESSAGES: :[[@LINE+7]]:38: warning: cross_entropy() applies
  // CHECK-MESSAGES: :[[@LINE-2]]:26: note: it is applied here
  result.value = x.mean();
  return result;
}
Tensor ofOutput(Plain &net, const Tensor &x, const Tensor &labels, const Tensor &rows) {
  const Output output = predict(net, x);
  const auto loss = F::cross_entropy(output.probabilities, labels);
  return loss + torch::nll_loss(output.probabilities.index_select(0, rows), labels);
  // CHECK-MESSAGES: :[[@LINE-1]]:33: warning: nll_loss() takes
}

template <class Loss> Tensor lossOf(Loss &criterion, const Tensor &scores, const Tensor &labels) {
  const auto guess = torch::sigmoid(scores);
  return criterion(guess, labels);
  // CHECK-MESSAGES: :[[@LINE-1]]:20: warning: binary_cross_entropy_with_logits() applies sigmoid()
}
Tensor byTemplate(const Tensor &scores, const Tensor &labels) {
  torch::nn::BCEWithLogitsLoss criterion;
  return lossOf(criterion, scores, labels);
}

Tensor byLambda(const Tensor &scores, const Tensor &labels) {
  const auto activate = [](const Tensor &x) { return x.log_softmax(1); };
  return torch::binary_cross_entropy(activate(scores), labels);
  // CHECK-MESSAGES: :[[@LINE-1]]:38: warning: binary_cross_entropy() takes probabilities, and these are logarithms of probabilities, none above zero
}

// The last layer of a Sequential, in a member and from a function.
torch::nn::Sequential policy() {
  return torch::nn::Sequential(torch::nn::Linear(8, 8), torch::nn::ReLU(), torch::nn::Linear(8, 4), torch::nn::Softmax(1));
}
struct ActorImpl : torch::nn::Module {
  ActorImpl() : head(register_module("head", policy())) {
    body->push_back(torch::nn::Conv2d(3, 8, 3));
    body->push_back(torch::nn::Sigmoid());
    body->push_back(torch::nn::Flatten());
    register_module("body", body);
  }
  torch::nn::Sequential head, body;
};
TORCH_MODULE(Actor);
Tensor imitate(Actor &actor, const Tensor &states, const Tensor &actions, const Tensor &wanted) {
  const Tensor guesses = actor->head->forward(states);
  const Tensor marks = actor->body->forward(states);
  return torch::cross_entropy_loss(guesses, actions) +
  // CHECK-MESSAGES: :[[@LINE-1]]:36: warning: cross_entropy() applies
         torch::binary_cross_entropy_with_logits(marks, wanted);
  // CHECK-MESSAGES: :[[@LINE-1]]:50: warning: binary_cross_entropy_with_logits() applies
}

// What is right is not known here: another loss, or no sigmoid().
Tensor severalAtOnce(const Tensor &scores, const Tensor &labels) {
  return torch::cross_entropy_loss(torch::sigmoid(scores), labels);
  // CHECK-MESSAGES: :[[@LINE-1]]:36: warning: cross_entropy() applies log_softmax() to what it is given, and this is the result of sigmoid(): {{.*}}; give what sigmoid() was given to it, or, where several classes may be right at once, to binary_cross_entropy_with_logits() [torch-loss-input]
}

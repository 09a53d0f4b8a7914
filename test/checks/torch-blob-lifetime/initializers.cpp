// RUN: %check_torch %s torch-blob-lifetime %t -still-warns
//
// What a constructor's initializers, and those of the class, make of memory that ends with them.

#include <torch/torch.h>

#include <vector>

using torch::Tensor;

struct Temporary {
  Temporary() : states(torch::from_blob(std::vector<float>(40, 0.f).data(), {40})) {}
  // CHECK-MESSAGES: :[[@LINE-1]]:24: warning: tensor still points into a temporary object, which ends with the statement, and the tensor is kept in 'states'
  Tensor states;
};

struct Parameter {
  explicit Parameter(std::vector<float> numbers) : states(torch::from_blob(numbers.data(), {40})) {}
  // CHECK-MESSAGES: :[[@LINE-1]]:59: warning: tensor still points into 'numbers', which ends with its scope
  Tensor states;
};

// The class says what each object begins with.
struct Lstm : torch::nn::Module {
  Lstm() : rnn(register_module("rnn", torch::nn::LSTM(5, 10))) {}
  Tensor forward(Tensor x) { return std::get<0>(rnn->forward(x, std::make_tuple(hidden, cell))); }
  torch::nn::LSTM rnn;
  Tensor hidden = torch::from_blob(std::vector<float>(10, 0.f).data(), {1, 1, 10});
  // CHECK-MESSAGES: :[[@LINE-1]]:19: warning: tensor still points into a temporary object
  Tensor cell = torch::from_blob(std::vector<float>(10, 0.f).data(), {1, 1, 10}).clone();
};

// The memory is the object's, the caller's, or there for ever.
struct Right {
  explicit Right(std::vector<float> &lent)
      : own(40, 0.f), first(torch::from_blob(own.data(), {40})), second(torch::from_blob(lent.data(), {40})),
        third(torch::from_blob(std::vector<float>(40, 1.f).data(), {40}).clone()), count(std::vector<float>(3).size()) {}
  std::vector<float> own;
  Tensor first, second, third;
  size_t count;
  Tensor fourth = torch::tensor(std::vector<float>(40, 0.f));
};
Tensor sum() {
  std::vector<float> lent(40, 1.f);
  Right right(lent);
  return right.first.sum() + right.second.sum() + right.third.sum() + right.fourth.sum();
}

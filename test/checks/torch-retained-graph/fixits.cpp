// RUN: %check_torch %s torch-retained-graph %t
//
// The fix detaches the stored expression.

#include <torch/torch.h>

#include <map>

using torch::Tensor;
using torch::nn::Linear;

void named(Linear net, Tensor x, Tensor y) {
  std::vector<Tensor> plain, emplaced, inserted;
  std::map<int, Tensor> keyed;
  for (int i = 0; i < 10; ++i) {
    auto loss = torch::mse_loss(net->forward(x), y);
    loss.backward();
    plain.push_back(loss);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: tensor 'loss' kept in 'plain'
    // CHECK-FIXES: plain.push_back(loss.detach());
    emplaced.emplace_back(loss);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: tensor 'loss' kept in 'emplaced'
    // CHECK-FIXES: emplaced.emplace_back(loss.detach());
    inserted.insert(inserted.end(), loss);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: tensor 'loss' kept in 'inserted'
    // CHECK-FIXES: inserted.insert(inserted.end(), loss.detach());
    keyed[i] = loss;
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: tensor 'loss' kept in 'keyed'
    // CHECK-FIXES: keyed[i] = loss.detach();
  }
}

// Operators need parentheses, calls do not.
void expressions(Linear net, Tensor x, Tensor y) {
  std::vector<Tensor> sums, negated, calls;
  for (int i = 0; i < 10; ++i) {
    auto a = torch::mse_loss(net->forward(x), y);
    auto b = a.pow(2);
    (a + b).backward();
    sums.push_back(a + b);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: tensor {{.*}}kept in 'sums'
    // CHECK-FIXES: sums.push_back((a + b).detach());
    negated.push_back(-a);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: tensor {{.*}}kept in 'negated'
    // CHECK-FIXES: negated.push_back((-a).detach());
    calls.push_back(torch::relu(a));
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: tensor {{.*}}kept in 'calls'
    // CHECK-FIXES: calls.push_back(torch::relu(a).detach());
  }
}

void accumulations(Linear net, const std::vector<Tensor> &xs, Tensor y) {
  Tensor compound = torch::zeros({}), binary = torch::zeros({}),
         method = torch::zeros({});
  for (const auto &x : xs) {
    auto loss = torch::mse_loss(net->forward(x), y);
    loss.backward();
    compound += loss;
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: adding 'loss' to 'compound'
    // CHECK-FIXES: compound += loss.detach();
    binary = binary + loss;
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: adding 'loss' to 'binary'
    // CHECK-FIXES: binary = binary + loss.detach();
    method.add_(loss);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: {{.*}}'method'
    // CHECK-FIXES: method.add_(loss.detach());
  }
}

// A conditional expression needs parentheses as well.
void conditional(Linear net, Tensor x, Tensor y) {
  std::vector<Tensor> chosen;
  for (int i = 0; i < 10; ++i) {
    auto loss = torch::mse_loss(net->forward(x), y);
    loss.backward();
    chosen.push_back(i % 2 ? loss : loss * 2);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: tensor {{.*}}kept in 'chosen'
    // CHECK-FIXES: chosen.push_back((i % 2 ? loss : loss * 2).detach());
  }
}

// Two on one line.
void sameLine(Linear net, Tensor x, Tensor y) {
  std::vector<Tensor> first, second;
  for (int i = 0; i < 10; ++i) {
    auto loss = torch::mse_loss(net->forward(x), y);
    loss.backward();
    first.push_back(loss); second.push_back(loss);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: tensor 'loss' kept in 'first'
    // CHECK-MESSAGES: :[[@LINE-2]]:28: warning: tensor 'loss' kept in 'second'
    // CHECK-FIXES: first.push_back(loss.detach()); second.push_back(loss.detach());
  }
}

template <class Net, class Batches> void inTemplate(Net &net, Batches &all) {
  std::vector<Tensor> kept;
  for (auto &batch : all) {
    Tensor loss = torch::mse_loss(net->forward(batch.data), batch.target);
    loss.backward();
    kept.push_back(loss);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: tensor 'loss' kept in 'kept'
    // CHECK-FIXES: kept.push_back(loss.detach());
  }
}

void instantiates(Linear net, torch::nn::Sequential seq,
                  std::vector<torch::data::Example<>> batches) {
  inTemplate(net, batches);
  inTemplate(seq, batches); // The fix is inserted once.
}

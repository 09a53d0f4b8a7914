// RUN: %check_torch %s torch-view-pins-storage %t
//
// A small view of a tensor that each iteration, or each call, makes anew goes
// into a list that lives on.

#include <torch/torch.h>

#include <deque>
#include <map>

using torch::Tensor;
using torch::indexing::None;
using torch::indexing::Slice;

void rowOfBatch(int n) {
  std::vector<Tensor> rows;
  for (int i = 0; i < n; ++i) {
    Tensor batch = torch::rand({64, 3, 32, 32});
    rows.push_back(batch[0]);
    // CHECK-NOTES: :[[@LINE-1]]:5: warning: a view kept in 'rows' is a small part of a tensor, and keeps all of the tensor's memory alive, another one in each iteration; store '.clone()' of it [torch-view-pins-storage]
    // CHECK-NOTES: :[[@LINE-3]]:20: note: this makes all of the memory
    // CHECK-NOTES: :[[@LINE-5]]:3: note: in every iteration of this loop
    // CHECK-FIXES: rows.push_back(batch[0].clone());
  }
  torch::stack(rows).sum();
}

// The last step of a sequence, whatever its length.
void lastStep(torch::nn::LSTM lstm, const std::vector<Tensor> &texts) {
  torch::NoGradGuard guard;
  std::vector<Tensor> features;
  for (const Tensor &text : texts) {
    auto output = std::get<0>(lstm->forward(text));
    Tensor last = output.select(1, -1);
    features.emplace_back(last);
    // CHECK-NOTES: :[[@LINE-1]]:5: warning: 'last' kept in 'features' is a small part
    // CHECK-NOTES: :[[@LINE-4]]:31: note: this makes all of the memory
    // CHECK-NOTES: :[[@LINE-6]]:3: note: in every iteration of this loop
    // CHECK-FIXES: features.emplace_back(last.clone());
  }
  torch::stack(features).sum();
}

// One position of some that are there for certain.
void positions(const std::vector<Tensor> &xs) {
  std::vector<Tensor> chosen;
  std::map<int, Tensor> keyed;
  std::deque<Tensor> columns;
  torch::NoGradGuard guard;
  int i = 0;
  for (const Tensor &x : xs) {
    Tensor scores = torch::softmax(x, 1);
    chosen.push_back(scores[7]);
    // CHECK-NOTES: :[[@LINE-1]]:5: warning: a view kept in 'chosen' is a small part
    // CHECK-NOTES: :[[@LINE-3]]:21: note: this makes all of the memory
    // CHECK-NOTES: :[[@LINE-5]]:3: note: in every iteration of this loop
    // CHECK-FIXES: chosen.push_back(scores[7].clone());
    keyed[i++] = torch::tanh(x).index({Slice(), 4});
    // CHECK-NOTES: :[[@LINE-1]]:5: warning: a view kept in 'keyed' is a small part
    // CHECK-NOTES: :[[@LINE-2]]:18: note: this makes all of the memory
    // CHECK-NOTES: :[[@LINE-10]]:3: note: in every iteration of this loop
    // CHECK-FIXES: keyed[i++] = torch::tanh(x).index({Slice(), 4}).clone();
    columns.push_front(torch::exp(x).index({"...", None, -5}));
    // CHECK-NOTES: :[[@LINE-1]]:5: warning: a view kept in 'columns' is a small part
    // CHECK-NOTES: :[[@LINE-2]]:24: note: this makes all of the memory
    // CHECK-NOTES: :[[@LINE-15]]:3: note: in every iteration of this loop
    // CHECK-FIXES: columns.push_front(torch::exp(x).index({"...", None, -5}).clone());
  }
}

void ranges(const std::vector<Tensor> &xs) {
  std::vector<Tensor> heads, ends, crops;
  for (size_t i = 0; i < xs.size(); ++i) {
    Tensor noise = torch::randn({100, 80, 80});
    heads.push_back(noise.narrow(0, 0, 10));
    // CHECK-NOTES: :[[@LINE-1]]:5: warning: a view kept in 'heads' is a small part
    // CHECK-NOTES: :[[@LINE-3]]:20: note: this makes all of the memory
    // CHECK-NOTES: :[[@LINE-5]]:3: note: in every iteration of this loop
    // CHECK-FIXES: heads.push_back(noise.narrow(0, 0, 10).clone());
    Tensor other = torch::randn({100, 80, 80});
    ends.push_back(other.slice(0, -10));
    // CHECK-NOTES: :[[@LINE-1]]:5: warning: a view kept in 'ends' is a small part
    // CHECK-NOTES: :[[@LINE-3]]:20: note: this makes all of the memory
    // CHECK-NOTES: :[[@LINE-11]]:3: note: in every iteration of this loop
    // CHECK-FIXES: ends.push_back(other.slice(0, -10).clone());
    auto image = torch::rand({3, 200, 200});
    crops.push_back(image.index({Slice(), Slice(50, 100), Slice(None, 100)}));
    // CHECK-NOTES: :[[@LINE-1]]:5: warning: a view kept in 'crops' is a small part
    // CHECK-NOTES: :[[@LINE-3]]:18: note: this makes all of the memory
    // CHECK-NOTES: :[[@LINE-17]]:3: note: in every iteration of this loop
    // CHECK-FIXES: crops.push_back(image.index({Slice(), Slice(50, 100), Slice(None, 100)}).clone());
  }
}

// A view of a small part, and one that leaves the history behind.
void furtherViews(torch::nn::Linear net, const std::vector<Tensor> &xs) {
  std::vector<Tensor> kept;
  for (const Tensor &x : xs) {
    Tensor hidden = net->forward(x);
    Tensor row = hidden[9].detach().view({-1, 2});
    kept.push_back(std::move(row));
    // CHECK-NOTES: :[[@LINE-1]]:5: warning: {{.*}}kept in 'kept' is a small part
    // CHECK-NOTES: :[[@LINE-4]]:21: note: this makes all of the memory
    // CHECK-NOTES: :[[@LINE-6]]:3: note: in every iteration of this loop
    // CHECK-FIXES: kept.push_back(std::move(row).clone());
  }
}

// Through functions and lambdas.
static Tensor firstOf(const Tensor &batch) { return batch.select(0, 0); }
static void keep(std::vector<Tensor> &into, const Tensor &row) {
  into.push_back(row);
  // CHECK-NOTES: :[[@LINE-1]]:3: warning: 'row' kept in 'into' is a small part
  // CHECK-NOTES: :[[@LINE+7]]:20: note: this makes all of the memory
  // CHECK-NOTES: :[[@LINE+5]]:3: note: called in every iteration of this loop
  // CHECK-FIXES: into.push_back(row.clone());
}
void helpers(int n) {
  std::vector<Tensor> rows;
  for (int i = 0; i < n; ++i) {
    Tensor batch = torch::rand({32, 4096});
    keep(rows, firstOf(batch));
  }
}
void byLambda(int n) {
  std::vector<Tensor> rows;
  const auto add = [&](const Tensor &all) {
    rows.push_back(all[0]);
    // CHECK-NOTES: :[[@LINE-1]]:5: warning: a view kept in 'rows' is a small part
    // CHECK-NOTES: :[[@LINE+5]]:9: note: this makes all of the memory
    // CHECK-NOTES: :[[@LINE+3]]:3: note: called in every iteration of this loop
    // CHECK-FIXES: rows.push_back(all[0].clone());
  };
  for (int i = 0; i < n; ++i)
    add(torch::rand({32, 4096}));
}
template <class T> void byTemplate(T n) {
  std::vector<Tensor> rows;
  for (T i = 0; i < n; ++i) {
    Tensor batch = torch::rand({64, 3, 32, 32});
    rows.push_back(batch[1]);
    // CHECK-NOTES: :[[@LINE-1]]:5: warning: a view kept in 'rows' is a small part
    // CHECK-NOTES: :[[@LINE-3]]:20: note: this makes all of the memory
    // CHECK-NOTES: :[[@LINE-5]]:3: note: in every iteration of this loop
    // CHECK-FIXES: rows.push_back(batch[1].clone());
  }
}
template void byTemplate<long>(long);

// A member gets one more with each call.
class Recorder {
public:
  void record(const Tensor &x) {
    torch::NoGradGuard guard;
    Tensor probabilities = torch::softmax(x, 1);
    log_.push_back(probabilities[5]);
    // CHECK-NOTES: :[[@LINE-1]]:5: warning: a view kept in 'log_' is a small part of a tensor, and keeps all of the tensor's memory alive, another one in each call; store '.clone()' of it
    // CHECK-NOTES: :[[@LINE-3]]:28: note: this makes all of the memory
    // CHECK-FIXES: log_.push_back(probabilities[5].clone());
  }
  Tensor all() const { return torch::stack(log_); }

private:
  std::vector<Tensor> log_;
};

// The last, counted from the front.
void last(torch::nn::GRU rnn, const std::vector<Tensor> &texts) {
  torch::NoGradGuard guard;
  std::vector<Tensor> kept, others, ends;
  for (const Tensor &text : texts) {
    const Tensor steps = std::get<0>(rnn->forward(text));
    kept.push_back(steps.select(1, steps.size(1) - 1));
    // CHECK-NOTES: :[[@LINE-1]]:5: warning: a view kept in 'kept' is a small part
    // CHECK-NOTES: :[[@LINE-3]]:38: note: this makes all of the memory
    // CHECK-NOTES: :[[@LINE-5]]:3: note: in every iteration of this loop
    // CHECK-FIXES: kept.push_back(steps.select(1, steps.size(1) - 1).clone());
    const Tensor more = std::get<0>(rnn->forward(text));
    others.push_back(more.select(1, steps.size(1) - 1));
    const Tensor again = std::get<0>(rnn->forward(text));
    ends.push_back(again.select(1, again.size(0) - 1));
  }
  std::cout << torch::stack(kept) << torch::stack(others) << torch::stack(ends);
}

// RUN: %check_torch %s torch-discarded-result %t -still-warns
//
// What is written into a copy of some elements is lost: index() by a mask or by
// a list of positions copies, index() by numbers and slices does not.

#include <torch/torch.h>

using torch::Tensor;
using namespace torch::indexing;

double masked(Tensor x) {
  auto mask = x > 0;
  x.index({mask}) = 5;
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: 'x.index({mask})' makes a copy, and what is written into that is dropped: 'x' stays as it is; 'index_put_()' writes into 'x' [torch-discarded-result]
  // CHECK-FIXES: {{^}}  x.index_put_({mask}, 5);{{$}}
  x.index({mask}) = torch::ones({1});
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: 'x.index({mask})' makes a copy
  // CHECK-FIXES: {{^}}  x.index({mask}) = torch::ones({1});{{$}}
  x.index({Slice(), x[0] > 0}) += 1;
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: 'x.index({Slice(), x[0] > 0})' makes a copy
  x.masked_select(mask).fill_(2);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: 'x.masked_select(mask)' makes a copy, and what is written into that is dropped: 'x' stays as it is; 'masked_fill_()' writes into 'x'
  return x.sum().item<double>();
}

struct Field {
  void limit(double most) {
    const Tensor above = values > most;
    values.index({above}) = values.index({above.logical_not()}).max();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: 'values.index({above})' makes a copy
  }
  Tensor values;
};

template <class Value> void setRows(Tensor &x, Value value) {
  x.index({torch::tensor({0, 2})}) = value;
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: 'x.index({torch::tensor({0, 2})})' makes a copy
  // CHECK-FIXES: {{^}}  x.index({torch::tensor({0, 2})}) = value;{{$}}
}
void setBoth(Tensor &x) { setRows(x, 1.0f); }

Tensor rows(const std::vector<Tensor> &all) {
  std::vector<Tensor> result;
  for (Tensor each : all) {
    each = each.clone();
    auto first = torch::arange(4);
    each.index_select(0, first).mul_(2);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: 'each.index_select(0, first)' makes a copy, and what is written into that is dropped: 'each' stays as it is; 'index_copy_()' writes into 'each'
    result.push_back(each);
  }
  return torch::stack(result);
}

void later(Tensor &x) {
  const auto clear = [&x] {
    x.index({x.lt(0)}) = 0.0;
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: 'x.index({x.lt(0)})' makes a copy
    // CHECK-FIXES: {{^}}    x.index_put_({x.lt(0)}, 0.0);{{$}}
    std::cout << x;
  };
  clear();
  x.clone().zero_();
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: 'x.clone()' makes a copy, and what is written into that is dropped: 'x' stays as it is; write into 'x' itself
}

#define MOST 3
void named(Tensor &x) {
  x.index({x > MOST}) = MOST * 2;
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: 'x.index({x > MOST})' makes a copy
  // CHECK-FIXES: {{^}}  x.index({x > MOST}) = MOST * 2;{{$}}
  x.index({x > MOST}) = x.dim() > 1 ? 1 : 2;
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: 'x.index({x > MOST})' makes a copy
  // CHECK-FIXES: {{^}}  x.index_put_({x > MOST}, x.dim() > 1 ? 1 : 2);{{$}}
}

// A leaf that needs a gradient cannot be written in place: no fix.
double trained(torch::nn::Linear &net) {
  auto scaled = net->weight * 2;
  scaled.index({scaled > 1}) = 1;
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: 'scaled.index({scaled > 1})' makes a copy
  // CHECK-FIXES: {{^}}  scaled.index({scaled > 1}) = 1;{{$}}
  return scaled.sum().item<double>();
}

// Views: what is written is x's.
Tensor views(Tensor x, const Tensor &some) {
  x.index({0, Slice()}) = 1;
  x.index({"...", 0}) = torch::ones({4});
  x.index({None, Slice(0, 2)}) += 1;
  x[0][1] = 2;
  x.select(0, 1).zero_();
  x.narrow(0, 0, 2).copy_(torch::ones({2, 4}));
  x.diagonal().fill_(0);
  auto positions = torch::tensor({1, 2});
  for (int64_t i = 0; i < 2; ++i)
    x.index({positions[i]}) = 3; // A number in a tensor chooses a position.
  x.index({positions.max()}) = 4;
  x.index({some}) = 5; // Who knows.
  x.reshape({16}).zero_(); // A view, where x lies in order.
  x.contiguous().zero_();
  x.to(torch::kCPU).zero_();
  x.expand({4, 4}).zero_();
  x.detach().zero_();
  return x;
}

// The copy is what is wanted.
Tensor kept(Tensor x) {
  auto mask = x > 0;
  Tensor part = x.index({mask});
  part.fill_(5);
  auto other = x.index({mask}).add_(1);
  std::cout << x.index({mask}).mul_(2) << x.masked_select(mask).zero_().size(0);
  return x.index_put_({mask}, other).masked_fill_(mask, 1);
}

// Nobody looks at x afterwards.
void last() {
  auto x = torch::zeros({4});
  x.index({x > 0}) = 1;
}

// The history only.
void history(Tensor &x) {
  x.clone().set_requires_grad(true);
  x.clone().detach_();
  std::cout << x;
}

// State that is detached on its way to the next iteration, and state that is
// not.
#include "autograd/UndetachedHiddenState.h"
#include "model/Model.h"

using namespace torchtidy::model;
using namespace torchtidy::test;

namespace {

struct Detaching : ModelTest<Detaching> {
  static const char Code[];
  static size_t found(llvm::StringRef Root) {
    return llvm::count_if(
        carriedStates(Shared->program()), [&](const CarriedState &Found) {
          return Found.Entry->root().Function->getQualifiedNameAsString() ==
                 Root;
        });
  }
};

const char Detaching::Code[] = R"cpp(
using torch::Tensor;
using torch::nn::GRUCell; using torch::nn::LSTMCell;
using Tuple = std::tuple<Tensor, Tensor>;
using Tensors = std::vector<Tensor>;

void whole(LSTMCell cell, const Tensors &xs) {
  Tuple s;
  for (const auto &x : xs) {
    s = cell->forward(x, s);
    std::get<0>(s).sum().backward();
    std::get<0>(s).detach_();
    std::get<1>(s).detach_();
  }
}
void half(LSTMCell cell, const Tensors &xs) {
  Tuple s;
  for (const auto &x : xs) {
    s = cell->forward(x, s);
    std::get<0>(s).sum().backward();
    std::get<0>(s).detach_();
  }
}
void elements(GRUCell cell, const Tensors &xs) {
  Tensors states(2);
  for (const auto &x : xs) {
    for (auto &s : states)
      s = s.detach();
    for (size_t i = 0; i < 2; ++i)
      states[i] = cell->forward(x, states[i]);
    states[1].sum().backward();
  }
}
void elementsOfAnother(GRUCell cell, const Tensors &xs) {
  Tensors states(2), others(2);
  for (const auto &x : xs) {
    for (auto &s : others)
      s = s.detach();
    for (size_t i = 0; i < 2; ++i)
      states[i] = cell->forward(x, states[i]);
    states[1].sum().backward();
  }
}
void truncated(GRUCell cell, const Tensors &xs, int k) {
  Tensor h = torch::zeros({4, 8}), loss = torch::zeros({1});
  for (int t = 0; t < (int)xs.size(); ++t) {
    h = cell->forward(xs[t], h);
    if (t % k == k - 1) {
      h.sum().backward();
      h = h.detach();
    }
  }
}
void helper(Tuple &s) {
  std::get<0>(s) = std::get<0>(s).detach();
  std::get<1>(s) = std::get<1>(s).detach();
}
void byHelper(LSTMCell cell, const Tensors &xs) {
  Tuple s;
  for (const auto &x : xs) {
    helper(s);
    s = cell->forward(x, s);
    std::get<0>(s).sum().backward();
  }
}
Tuple repackage(const Tuple &s) {
  return {std::get<0>(s).detach(), std::get<1>(s).detach()};
}
void repackaged(LSTMCell cell, const Tensors &xs) {
  Tuple s;
  for (const auto &x : xs) {
    s = cell->forward(x, repackage(s));
    std::get<0>(s).sum().backward();
  }
}
)cpp";

} // namespace

TEST_F(Detaching, BothParts) {
  EXPECT_EQ(found("whole"), 0u);
  EXPECT_EQ(found("half"), 1u) << "the cell state keeps its graph";
}

TEST_F(Detaching, Elements) {
  EXPECT_EQ(found("elements"), 0u);
  EXPECT_EQ(found("elementsOfAnother"), 1u);
}

TEST_F(Detaching, Truncated) { EXPECT_EQ(found("truncated"), 0u); }

TEST_F(Detaching, ByAHelper) {
  EXPECT_EQ(found("byHelper"), 0u);
  EXPECT_EQ(found("repackaged"), 0u);
}

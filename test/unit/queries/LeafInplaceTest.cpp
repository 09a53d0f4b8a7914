// Leaves that are written in place. The tests of torch-leaf-inplace (test/
// checks) have many more programs.
#include "autograd/LeafInplace.h"
#include "model/Model.h"

using namespace torchtidy::model;
using namespace torchtidy::test;

namespace {

struct LeafWrites : ModelTest<LeafWrites> {
  static const char Code[];

  static std::vector<std::string> sites(llvm::StringRef Root) {
    std::vector<std::string> Result;
    for (const LeafWrite &Found : entry(Root).of(leafWrites(Shared->program())))
      Result.push_back(Shared->program().text(Found.Write->Site));
    return Result;
  }
};

const char LeafWrites::Code[] = R"cpp(
using torch::Tensor;

void direct() {
  torch::AutoGradMode on(true);
  Tensor w = torch::zeros({2}, torch::requires_grad());
  w.add_(1);
  w[0] = 1;
  w.data().add_(1);
  w.detach_();
  w.add_(2);
}
void stays() {
  torch::AutoGradMode on(true);
  Tensor w = torch::zeros({2}, torch::requires_grad());
  {
    torch::NoGradGuard off;
    w.zero_();
  }
  observe("written under a guard", w);
  w.fill_(2);
  observe("written", w);
}
void afterGuard() {
  torch::AutoGradMode on(true);
  Tensor w = torch::zeros({2}, torch::requires_grad());
  {
    torch::NoGradGuard off;
    w.zero_();
  }
  w.fill_(2);
}
void unknownCallers() {
  Tensor w = torch::zeros({2}, torch::requires_grad());
  w.add_(1);
}
void backwards(Tensor x) {
  Tensor w = torch::zeros({2}, torch::requires_grad());
  (w * x).sum().backward();
  w.add_(1);
}
void views(Tensor other) {
  Tensor w = torch::zeros({4, 4}, torch::requires_grad());
  observe("row", w[0]);
  observe("row of a row", w[0].narrow(0, 0, 1));
  observe("slice", w.index({torch::indexing::Slice(0, 1), 2}));
  observe("gathered", w.index({other}));
  observe("reshaped", w.reshape({16}));
  observe("of a result", (w * 2)[0]);
  observe("detached", w.detach()[0]);
  observe("result", w * 2);
  Tensor either = w[0];
  if (other.size(0) > 1)
    either = w.sum(0);
  observe("either", either);
}
)cpp";

TEST_F(LeafWrites, WhatThrows) {
  EXPECT_EQ(sites("direct"),
            (std::vector<std::string>{"w.add_(1)", "w[0] = 1"}));
}

TEST_F(LeafWrites, ALeafStaysALeaf) {
  EXPECT_EQ(entry("stays").observed("written under a guard").History,
            history::Leaf);
  EXPECT_EQ(entry("stays").observed("written").History, history::Leaf);
  EXPECT_EQ(sites("afterGuard"), (std::vector<std::string>{"w.fill_(2)"}));
  // Code that cannot be seen may have frozen it.
  EXPECT_TRUE(sites("stays").empty());
}

TEST_F(LeafWrites, GradModeOfCallers) {
  EXPECT_TRUE(sites("unknownCallers").empty());
  const auto Found = entry("backwards").of(leafWrites(Shared->program()));
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_NE(Found[0].Backward, nullptr);
  EXPECT_FALSE(Found[0].IsThroughView);
}

TEST_F(LeafWrites, ViewsOfLeaves) {
  const Entry Views = entry("views");
  for (const char *Name : {"row", "row of a row", "slice"})
    EXPECT_TRUE(Views.observed(Name).isViewOfLeaf()) << Name;
  for (const char *Name :
       {"gathered", "reshaped", "of a result", "detached", "result", "either"})
    EXPECT_FALSE(Views.observed(Name).isViewOfLeaf()) << Name;
}

} // namespace

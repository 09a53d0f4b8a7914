// What graphs have saved for backward(), and what of it was overwritten.
#include "model/Model.h"

using namespace torchtidy::model;
using namespace torchtidy::test;

namespace {

struct SavedTest : ModelTest<SavedTest> {
  static const char Code[];
};

const char SavedTest::Code[] = R"cpp(
using torch::Tensor;

void kinds() {
  Tensor w = torch::ones({2}, torch::requires_grad());
  Tensor result = torch::sigmoid(w);
  observe("result", result);
  Tensor operand = w * 2;
  Tensor squared = operand.pow(2);
  observe("operand", operand);
  observe("behind it", squared);
  Tensor sum = w + 1;
  observe("sum", sum);
  Tensor none = torch::sigmoid(torch::ones({2}));
  observe("no graph", none);
  observe("detached", result.detach());
}
void overwritten() {
  Tensor w = torch::ones({2}, torch::requires_grad());
  Tensor y = torch::sigmoid(w);
  Tensor loss = y.sum();
  observe("before", loss);
  y.add_(1);
  observe("after", loss);
  observe("itself", y);
}
)cpp";

SavedTensors withNeeds(unsigned First, unsigned Count) {
  SavedTensors Result;
  for (unsigned I = 0; I < Count; ++I)
    Result.addNeed(SaveId(First + I));
  return Result;
}

} // namespace

TEST_F(SavedTest, WhatIsSaved) {
  Entry W = entry("kinds");
  EXPECT_EQ(W.observed("result").SavedBy.size(), 1u);
  EXPECT_EQ(W.observed("result").Needs.size(), 1u);
  EXPECT_EQ(W.observed("operand").SavedBy.size(), 1u);
  EXPECT_TRUE(W.observed("sum").SavedBy.empty());
  // What the product needs and what the power does.
  EXPECT_TRUE(
      W.observed("behind it").needs(W.observed("operand").SavedBy.front()));
  EXPECT_TRUE(W.observed("no graph").Needs.empty());
  EXPECT_TRUE(W.observed("detached").Needs.empty());
}

TEST_F(SavedTest, WhatIsOverwritten) {
  Entry W = entry("overwritten");
  EXPECT_TRUE(W.observed("before").Spoiled.empty());
  EXPECT_EQ(W.observed("after").Spoiled.size(), 1u);
  // The tensor is another now, and nobody has saved it.
  EXPECT_TRUE(W.observed("itself").SavedBy.empty());
}

TEST(SavedTensors, OfTooManyTheFirstStayInAnyOrder) {
  const unsigned Most = SavedTensors::MaxSaves;
  SavedTensors A = withNeeds(0, Most / 2), B = withNeeds(Most, Most);
  EXPECT_FALSE(A.mayNeedMore());
  EXPECT_TRUE(B.mayNeedMore());
  SavedTensors AThenB = A, BThenA = B;
  EXPECT_TRUE(AThenB.join(B));
  EXPECT_TRUE(BThenA.join(A));
  EXPECT_TRUE(AThenB == BThenA);
  EXPECT_EQ(AThenB.Needs.size(), Most);
  EXPECT_TRUE(AThenB.needs(SaveId(0)));
  EXPECT_FALSE(AThenB.needs(SaveId(2 * Most - 1)));
  EXPECT_FALSE(AThenB.join(B)) << "nothing is new";
  EXPECT_FALSE(AThenB.addNeed(SaveId(3 * Most)));
}

// What operations and layers keep for backward().
#include "torch/Saving.h"
#include "gtest/gtest.h"

using namespace torchtidy::torch;

static uint8_t savedBy(llvm::StringRef Name) {
  const Operation *Op = findOperation(Name, operation::Method);
  if (!Op)
    Op = findOperation(Name, operation::Function);
  EXPECT_TRUE(Op) << Name.str();
  return Op ? torchtidy::torch::savedBy(*Op) : 0;
}

TEST(Saving, Results) {
  for (const char *Name : {"sigmoid", "tanh", "exp", "relu", "softmax",
                           "log_softmax", "sqrt", "sigmoid_", "relu_"})
    EXPECT_EQ(savedBy(Name), saving::Result) << Name;
}

TEST(Saving, Operands) {
  for (const char *Name : {"log", "square", "gelu", "clamp", "abs"})
    EXPECT_EQ(savedBy(Name), saving::SelfForSelf) << Name;
  for (const char *Name : {"mul", "mm", "matmul", "linear", "addmm"})
    EXPECT_EQ(savedBy(Name), saving::Cross) << Name;
  for (const char *Name : {"pow", "mse_loss", "conv2d"})
    EXPECT_EQ(savedBy(Name), saving::Both) << Name;
  // In place the first is kept as it was.
  EXPECT_EQ(savedBy("mul_"), saving::OtherForSelf);
}

TEST(Saving, Nothing) {
  for (const char *Name : {"add", "sub", "neg", "sum", "mean", "view", "cat",
                           "dropout", "clone", "add_", "zero_", "clamp_"})
    EXPECT_EQ(savedBy(Name), saving::Nothing) << Name;
}

TEST(Saving, Factors) {
  EXPECT_EQ(firstFactor(*findOperation("addmm", operation::Method)), 1u);
  EXPECT_EQ(firstFactor(*findOperation("mul", operation::Method)), 0u);
  EXPECT_TRUE(mayKeepCopy(*findOperation("matmul", operation::Method)));
  EXPECT_FALSE(mayKeepCopy(*findOperation("mm", operation::Method)));
  EXPECT_TRUE(hasOwnVersion(*findOperation("data", operation::Method)));
  EXPECT_FALSE(hasOwnVersion(*findOperation("detach", operation::Method)));
}

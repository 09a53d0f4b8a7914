// What operations do with shapes and layouts, by their names.
#include "torch/Shapes.h"
#include "gtest/gtest.h"

using namespace torchtidy::torch;

static const Operation &find(llvm::StringRef Name) {
  const Operation *Op = findOperation(Name, operation::Method);
  if (!Op)
    Op = findOperation(Name, operation::Function);
  EXPECT_NE(Op, nullptr) << Name.str();
  return *Op;
}

TEST(Shapes, Rules) {
  const std::pair<const char *, ShapeRule> Expected[] = {
      {"view", ShapeRule::Listed},
      {"zeros", ShapeRule::Listed},
      {"new_zeros", ShapeRule::Listed},
      {"expand", ShapeRule::Expanded},
      {"repeat", ShapeRule::Repeated},
      {"relu", ShapeRule::Same},
      {"zeros_like", ShapeRule::Same},
      {"contiguous", ShapeRule::Same},
      {"to", ShapeRule::Same},
      {"add", ShapeRule::Broadcast},
      {"where", ShapeRule::Broadcast},
      {"unsqueeze", ShapeRule::Unsqueezed},
      {"t", ShapeRule::Transposed},
      {"transpose", ShapeRule::Swapped},
      {"permute", ShapeRule::Permuted},
      {"sum", ShapeRule::Reduced},
      {"select", ShapeRule::Selected},
      {"add_", ShapeRule::Same},
      {"unsqueeze_", ShapeRule::Unknown},
      {"resize_", ShapeRule::Unknown},
      {"from_blob", ShapeRule::Listed},
      {"narrow", ShapeRule::Resized},
      {"slice", ShapeRule::Resized},
      {"index_select", ShapeRule::Resized},
      {"cat", ShapeRule::AtLeastOne},
      {"stack", ShapeRule::AtLeastOne},
      {"flatten", ShapeRule::AtLeastOne},
      {"index", ShapeRule::Indexed},
      {"mm", ShapeRule::MatrixProduct},
      {"bmm", ShapeRule::BatchedProduct},
      {"matmul", ShapeRule::AnyProduct},
      {"addmm", ShapeRule::Unknown},
      {"std", ShapeRule::Reduced},
      {"logsumexp", ShapeRule::Reduced},
      {"norm", ShapeRule::Unknown},
  };
  for (const auto &[Name, Rule] : Expected)
    EXPECT_EQ(shapeRule(find(Name)), Rule) << Name;
}

TEST(Shapes, Broadcasting) {
  for (const char *Name : {"add", "add_", "where", "lt", "addcmul", "copy_",
                           "masked_fill", "maximum"})
    EXPECT_TRUE(broadcasts(find(Name))) << Name;
  for (const char *Name : {"mm", "cat", "relu", "sum", "view"})
    EXPECT_FALSE(broadcasts(find(Name))) << Name;
}

TEST(Shapes, PointwiseKeepsTheLayout) {
  for (const char *Name : {"relu", "exp", "neg", "clamp"})
    EXPECT_TRUE(isPointwise(find(Name))) << Name;
  for (const char *Name : {"softmax", "cumsum", "mm", "add"})
    EXPECT_FALSE(isPointwise(find(Name))) << Name;
}

TEST(Shapes, Repeating) {
  EXPECT_TRUE(repeats(find("repeat_interleave")));
  EXPECT_TRUE(takesTimesAndDimension(find("repeat_interleave")));
  EXPECT_TRUE(repeatsEachDimension(find("repeat")));
  EXPECT_FALSE(repeatsEachDimension(find("tile")));
  EXPECT_FALSE(repeats(find("expand")));
}

// What elementwise operations compute, and of which type their results are.
#include "torch/Arithmetic.h"
#include "gtest/gtest.h"

using namespace torchtidy;
using torch::Operation;

namespace {

using Names = std::vector<std::string>;

/// Of these operations, those for which Is holds.
Names those(bool (*Is)(const Operation &), const Names &All) {
  Names Result;
  for (const std::string &Name : All) {
    const Operation *Op = torch::findOperation(Name, torch::operation::Method);
    if (!Op)
      Op = torch::findOperation(Name, torch::operation::Function);
    if (!Op)
      ADD_FAILURE() << "no operation " << Name;
    else if (Is(*Op))
      Result.push_back(Name);
  }
  return Result;
}

} // namespace

TEST(Arithmetic, Signs) {
  EXPECT_EQ(those(torch::isDifference, {"add", "add_", "sub", "sub_", "mul"}),
            Names({"sub", "sub_"}));
  EXPECT_EQ(those(torch::isQuotient, {"mul", "div", "div_"}), Names({"div"}));
}

TEST(Arithmetic, Types) {
  const Names All = {"exp",  "div", "rand", "conv2d",
                     "relu", "neg", "gt",   "mul"};
  EXPECT_EQ(those(torch::returnsFloating, All),
            Names({"exp", "div", "rand", "conv2d"}));
  EXPECT_EQ(those(torch::returnsNumber, {"mse_loss", "dot", "mul", "sum"}),
            Names({"mse_loss", "dot"}));
  EXPECT_EQ(those(torch::keepsAnyType, All), Names({"relu", "neg"}));
  EXPECT_EQ(those(torch::takesTypeOfFirst, {"index_select", "gather", "add"}),
            Names({"index_select", "gather"}));
}

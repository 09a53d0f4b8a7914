// What factories put into a tensor.
#include "torch/Factories.h"
#include "torch/Api.h"
#include "torch/Functions.h"

using namespace clang;
using namespace torchtidy::torch;
using namespace torchtidy::test;

namespace {

const Operation &function(llvm::StringRef Name) {
  static const Operation Missing = {};
  const Operation *Row = findOperation(Name, operation::Function);
  EXPECT_TRUE(Row) << "no function " << Name.str();
  return Row ? *Row : Missing;
}

} // namespace

TEST(Factories, DefaultScalar) {
  struct Case {
    const char *Call;
    /// Null where it depends on what is given.
    const char *Scalar;
  };
  const Case Cases[] = {
      {"torch::zeros({2})", "Float"},
      {"torch::empty({2})", "Float"},
      {"torch::randn({2})", "Float"},
      {"torch::linspace(0, 1, 5)", "Float"},
      {"torch::randint(9, {2})", "Long"},
      {"torch::randperm(9)", "Long"},
      {"torch::tril_indices(2, 2)", "Long"},
      {"torch::triu_indices(2, 2)", "Long"},
      {"torch::arange(9)", "Long"},
      {"torch::arange(0, 9, 2)", "Long"},
      {"torch::arange(0, 0.9, 2)", "Float"},
      {"torch::arange(9.0)", "Float"},
      {"torch::full({2}, 1)", "Long"},
      {"torch::full({2}, true)", "Bool"},
      {"torch::full({2}, 0.5)", "Float"},
      {"torch::tensor({1, 2})", nullptr},
      {"torch::scalar_tensor(1)", nullptr},
      {"torch::range(0, 9, 1)", nullptr},
  };
  std::vector<std::string> Texts;
  for (const Case &C : Cases)
    Texts.push_back(C.Call);
  const Calls All("", Texts);
  ASSERT_TRUE(All.isRead());
  for (const Case &C : Cases) {
    const CallExpr *Call = All.call(C.Call);
    const Operation *Op = classify(Call).Op;
    ASSERT_TRUE(Op) << C.Call;
    llvm::SmallVector<const Expr *, 4> Operands;
    for (const Expr *Argument : Call->arguments())
      if (!isa<CXXDefaultArgExpr>(Argument))
        Operands.push_back(Argument);
    EXPECT_EQ(defaultScalar(*Op, Operands).value_or("?").str(),
              C.Scalar ? C.Scalar : "?")
        << C.Call;
  }
}

TEST(Factories, TheArgumentThatSaysTheShape) {
  struct Case {
    const char *Call;
    int Shape;
  };
  const Case Cases[] = {
      {"torch::zeros({2, 3})", 0},
      {"torch::full({2}, 1)", 0},
      {"torch::arange(9)", 0},
      {"torch::arange(9, torch::kInt)", 0},
      {"torch::range(0, 9, 1)", -1},
      {"torch::linspace(0, 1, 5)", 2},
      {"torch::eye(3)", 0},
      {"torch::randint(9, {2})", 1},
      {"torch::randint(1, 9, {2})", 2},
  };
  std::vector<std::string> Texts;
  for (const Case &C : Cases)
    Texts.push_back(C.Call);
  const Calls All("", Texts);
  ASSERT_TRUE(All.isRead());
  for (const Case &C : Cases) {
    const CallExpr *Call = All.call(C.Call);
    const Operation *Op = classify(Call).Op;
    ASSERT_TRUE(Op) << C.Call;
    llvm::SmallVector<const Expr *, 4> Arguments(Call->arg_begin(),
                                                 Call->arg_end());
    const std::optional<unsigned> Found = shapeArgument(*Op, Arguments);
    EXPECT_EQ(Found ? int(*Found) : -1, C.Shape) << C.Call;
    EXPECT_EQ(isSquare(*Op), Op->Name == "eye") << C.Call;
    EXPECT_EQ(makesList(*Op), StringRef(C.Call).contains("range") ||
                                  StringRef(C.Call).contains("linspace"))
        << C.Call;
  }
  EXPECT_FALSE(shapeArgument(function("zeros"), {}));
}

TEST(Factories, WhatTheyAreMadeOf) {
  for (const char *Name : {"tensor", "from_blob", "from_file", "scalar_tensor"})
    EXPECT_TRUE(isMadeFromData(function(Name))) << Name;
  for (const char *Name : {"zeros", "full", "arange", "rand"})
    EXPECT_FALSE(isMadeFromData(function(Name))) << Name;
  for (const char *Name : {"empty", "empty_like", "empty_strided", "new_empty"})
    EXPECT_TRUE(isUninitialized(Name)) << Name;
  for (const char *Name : {"zeros", "new_zeros", "full_like"})
    EXPECT_FALSE(isUninitialized(Name)) << Name;
}

TEST(Factories, WhatRefills) {
  EXPECT_EQ(refillOf("zeros"), "zero_()");
  EXPECT_EQ(refillOf("zeros_like"), "zero_()");
  EXPECT_EQ(refillOf("new_zeros"), "zero_()");
  EXPECT_EQ(refillOf("ones"), "fill_(1)");
  EXPECT_EQ(refillOf("rand"), "uniform_()");
  EXPECT_EQ(refillOf("randn_like"), "normal_()");
  for (const char *Name : {"empty", "full", "arange", "randint", ""})
    EXPECT_EQ(refillOf(Name), "") << Name;
  for (const char *Name : {"full", "full_like", "new_full"})
    EXPECT_TRUE(fillsWithArgument(Name)) << Name;
  EXPECT_FALSE(fillsWithArgument("zeros"));
}

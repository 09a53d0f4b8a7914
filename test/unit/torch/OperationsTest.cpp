// The operation table: lookups, and the columns of rows that people know.
#include "torch/Operations.h"
#include "llvm/ADT/StringSet.h"
#include "gtest/gtest.h"

using namespace torchtidy::torch;
namespace op = torchtidy::torch::operation;

static const Operation &method(llvm::StringRef Name) {
  static const Operation Missing = {};
  const Operation *Row = findOperation(Name, op::Method);
  EXPECT_TRUE(Row) << "no method " << Name.str();
  return Row ? *Row : Missing;
}

static const Operation &function(llvm::StringRef Name) {
  static const Operation Missing = {};
  const Operation *Row = findOperation(Name, op::Function);
  EXPECT_TRUE(Row) << "no function " << Name.str();
  return Row ? *Row : Missing;
}

TEST(Operations, LookUpByVariant) {
  EXPECT_EQ(&method("add"), &function("add"));
  EXPECT_EQ(method("add").Name, "add");
  EXPECT_FALSE(findOperation("zeros", op::Method));
  EXPECT_TRUE(findOperation("zeros", op::Function));
  EXPECT_TRUE(findOperation("view", op::Method));
  EXPECT_FALSE(findOperation("view", op::Function));
  EXPECT_FALSE(findOperation("", op::Method));
  EXPECT_FALSE(findOperation("no_such_operation", op::Function));
  EXPECT_FALSE(findOperation("Add", op::Method));
}

TEST(Operations, EveryRowIsFoundOnce) {
  struct Row {
    llvm::StringRef Name;
    unsigned Variants;
  };
  constexpr unsigned Method = op::Method, Function = op::Function;
  (void)Method, (void)Function;
  const Row Rows[] = {
#define OPERATION(Name, Variants, Returns, View, Writes, Differentiable, Sync, \
                  Flags)                                                       \
  {Name, Variants},
#include "torch/OperationTable.inc"
#undef OPERATION
  };
  EXPECT_GT(std::size(Rows), 2000u);
  llvm::StringSet<> Names;
  for (const Row &R : Rows) {
    EXPECT_TRUE(Names.insert(R.Name).second) << R.Name.str() << " twice";
    EXPECT_TRUE(R.Variants) << R.Name.str();
    EXPECT_EQ(findOperation(R.Name, op::Method) != nullptr,
              (R.Variants & op::Method) != 0)
        << R.Name.str();
    EXPECT_EQ(findOperation(R.Name, op::Function) != nullptr,
              (R.Variants & op::Function) != 0)
        << R.Name.str();
  }
}

TEST(Operations, Computation) {
  const Operation &Matmul = method("matmul");
  EXPECT_EQ(Matmul.Returns, op::Tensor);
  EXPECT_EQ(Matmul.View, Tri::No);
  EXPECT_EQ(Matmul.Writes, op::NoArgument);
  EXPECT_EQ(Matmul.Differentiable, Tri::Yes);
  EXPECT_EQ(Matmul.Sync, Tri::No);
  EXPECT_TRUE(Matmul.has(op::Allocates));
  EXPECT_FALSE(Matmul.has(op::Factory));
}

TEST(Operations, InPlace) {
  for (llvm::StringRef Name : {"add_", "mul_", "zero_", "copy_", "relu_"}) {
    EXPECT_EQ(method(Name).Writes, op::Self) << Name.str();
    EXPECT_FALSE(method(Name).has(op::Allocates)) << Name.str();
  }
  EXPECT_EQ(function("add_out").Writes, op::Out);
}

TEST(Operations, Views) {
  for (llvm::StringRef Name :
       {"view", "t", "transpose", "select", "expand", "unsqueeze", "detach"})
    EXPECT_EQ(method(Name).View, Tri::Yes) << Name.str();
  for (llvm::StringRef Name : {"reshape", "contiguous", "to", "flatten"})
    EXPECT_EQ(method(Name).View, Tri::Maybe) << Name.str();
  for (llvm::StringRef Name : {"clone", "add", "index_select"})
    EXPECT_EQ(method(Name).View, Tri::No) << Name.str();
  EXPECT_TRUE(method("t_").has(op::InplaceView));
}

TEST(Operations, Factories) {
  for (llvm::StringRef Name : {"zeros", "randn", "arange", "empty", "full"}) {
    EXPECT_TRUE(function(Name).has(op::Factory)) << Name.str();
    EXPECT_TRUE(function(Name).has(op::Allocates)) << Name.str();
    EXPECT_EQ(function(Name).Differentiable, Tri::No) << Name.str();
  }
  EXPECT_TRUE(function("randn").has(op::Random));
  EXPECT_FALSE(function("zeros").has(op::Random));
  EXPECT_TRUE(function("zeros_like").has(op::LikeFactory));
  EXPECT_FALSE(function("zeros_like").has(op::Factory));
  EXPECT_TRUE(function("from_blob").has(op::Factory));
  EXPECT_FALSE(function("from_blob").has(op::Allocates))
      << "the memory is the caller's";
}

TEST(Operations, History) {
  for (llvm::StringRef Name : {"detach", "item", "data"})
    EXPECT_TRUE(method(Name).has(op::DiscardsHistory)) << Name.str();
  for (llvm::StringRef Name : {"clone", "to", "contiguous"})
    EXPECT_FALSE(method(Name).has(op::DiscardsHistory)) << Name.str();
  for (llvm::StringRef Name : {"argmax", "eq", "gt", "nonzero"})
    EXPECT_EQ(method(Name).Differentiable, Tri::No) << Name.str();
  EXPECT_EQ(method("to").Differentiable, Tri::Maybe)
      << "not to an integral type";
}

TEST(Operations, Synchronisation) {
  for (llvm::StringRef Name : {"item", "nonzero", "masked_select", "equal"})
    EXPECT_EQ(method(Name).Sync, Tri::Yes) << Name.str();
  for (llvm::StringRef Name : {"add", "matmul", "view", "detach"})
    EXPECT_EQ(method(Name).Sync, Tri::No) << Name.str();
  EXPECT_EQ(method("to").Sync, Tri::Maybe);
}

TEST(Operations, DeviceAndType) {
  EXPECT_TRUE(method("to").has(op::ChangesDevice));
  EXPECT_TRUE(method("to").has(op::ChangesDtype));
  EXPECT_TRUE(method("cuda").has(op::ChangesDevice));
  EXPECT_FALSE(method("cuda").has(op::ChangesDtype));
  EXPECT_FALSE(method("add").has(op::ChangesDevice));
  EXPECT_TRUE(method("resize_").has(op::Resizes));
}

TEST(Operations, Results) {
  EXPECT_EQ(method("item").Returns, op::Scalar);
  EXPECT_EQ(method("size").Returns, op::Scalar);
  EXPECT_EQ(method("split").Returns, op::Tensors);
  EXPECT_EQ(method("max").Returns, op::Mixed) << "a tensor, or values and "
                                                 "indices";
}

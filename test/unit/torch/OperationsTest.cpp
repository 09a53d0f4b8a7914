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

namespace {

using Names = std::vector<std::string>;

/// All rows for which Is holds, by name, in the order of the table.
Names those(llvm::function_ref<bool(const Operation &)> Is) {
  Names Result;
  for (llvm::StringRef Name : {
#define OPERATION(Name, Variants, Returns, View, Writes, Differentiable, Sync, \
                  Flags)                                                       \
  Name,
#include "torch/OperationTable.inc"
#undef OPERATION
       }) {
    const Operation *Row = findOperation(Name, op::Method);
    if (!Row)
      Row = findOperation(Name, op::Function);
    if (Row && Is(*Row))
      Result.push_back(Name.str());
  }
  return Result;
}

} // namespace

TEST(Operations, Transfers) {
  EXPECT_EQ(those(isTransfer), (Names{"cpu", "cuda", "to", "toType"}));
  EXPECT_EQ(transferOf(method("to")), Transfer::To);
  EXPECT_EQ(transferOf(method("toType")), Transfer::ToType);
  EXPECT_EQ(transferOf(method("cpu")), Transfer::Cpu);
  EXPECT_EQ(transferOf(method("cuda")), Transfer::Cuda);
  EXPECT_EQ(transferOf(method("clone")), Transfer::None);
  for (const std::string &Name : those(isTransfer))
    EXPECT_EQ(method(Name).View, Tri::Maybe) << Name;
}

TEST(Operations, StorageAndLayout) {
  EXPECT_EQ(those(isFromBlob), (Names{"from_blob"}));
  EXPECT_EQ(those(makesContiguous), (Names{"contiguous"}));
  EXPECT_EQ(those(mayReturnItself),
            (Names{"contiguous", "flatten", "pin_memory"}));
  EXPECT_EQ(those(sharesContiguous),
            (Names{"contiguous", "flatten", "reshape"}));
  EXPECT_EQ(those(keepsOrder),
            (Names{"cpu", "cuda", "data", "detach", "flatten", "reshape",
                   "reshape_as", "squeeze", "to", "toType", "unflatten",
                   "unsqueeze", "view", "view_as"}));
  EXPECT_EQ(those(isIndexing), (Names{"index"}));
  EXPECT_EQ(those(isSet), (Names{"set_"}));
  EXPECT_TRUE(replacesStorage(method("set_")));
  EXPECT_TRUE(replacesStorage(method("resize_")));
  EXPECT_FALSE(replacesStorage(method("copy_")));
}

TEST(Operations, Writing) {
  EXPECT_EQ(those(replacesContent),
            (Names{"copy_", "fill_", "normal_", "random_", "set_", "uniform_",
                   "zero_"}));
  EXPECT_EQ(those(isZeroing), (Names{"zero_"}));
  EXPECT_EQ(those(isAccumulating), (Names{"add_", "sub_"}));
  EXPECT_EQ(those(isDetachInPlace), (Names{"detach_"}));
  EXPECT_EQ(those(isDetach), (Names{"detach", "detach_"}));
  for (const char *Name : {"retain_grad", "set_data", "rename_"})
    EXPECT_TRUE(changesNoData(method(Name))) << Name;
  EXPECT_FALSE(changesNoData(method("zero_")));
  EXPECT_TRUE(changesHistoryOnly(method("detach_")));
  EXPECT_FALSE(changesHistoryOnly(method("add_")));
  EXPECT_TRUE(writesLastArgument(function("add_outf")));
  EXPECT_FALSE(writesLastArgument(function("add_out")));
}

TEST(Operations, WhatComesOfThem) {
  for (const char *Name : {"max", "min", "topk", "sort", "kthvalue", "mode",
                           "median", "nanmedian", "cummax", "cummin"})
    EXPECT_TRUE(returnsIndices(method(Name))) << Name;
  for (const char *Name : {"max_pool1d_with_indices", "adaptive_max_pool2d"})
    EXPECT_TRUE(returnsIndices(function(Name))) << Name;
  EXPECT_FALSE(returnsIndices(method("argmax")));
  EXPECT_FALSE(returnsIndices(function("max_pool2d")));
  EXPECT_EQ(those(returnsBool),
            (Names{"eq",         "ge",          "greater",     "greater_equal",
                   "gt",         "isclose",     "isfinite",    "isinf",
                   "isnan",      "isneginf",    "isposinf",    "le",
                   "less",       "less_equal",  "logical_and", "logical_not",
                   "logical_or", "logical_xor", "lt",          "ne",
                   "not_equal"}));
  EXPECT_EQ(those(isBitwise),
            (Names{"bitwise_and", "bitwise_not", "bitwise_or", "bitwise_xor"}));
  EXPECT_EQ(writingInstead(method("index")), "index_put_()");
  EXPECT_EQ(writingInstead(method("masked_select")), "masked_fill_()");
  EXPECT_EQ(writingInstead(method("add")), "");
  EXPECT_EQ(those(isConcatenation),
            (Names{"cat", "column_stack", "concat", "concatenate", "dstack",
                   "hstack", "row_stack", "stack", "vstack"}));
  EXPECT_EQ(those(isSum), (Names{"add", "sub"}));
  EXPECT_EQ(those(isScaling), (Names{"div", "mul"}));
}

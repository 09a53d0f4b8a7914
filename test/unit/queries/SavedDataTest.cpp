// Outputs of custom functions that keep themselves alive. The tests of
// torch-saved-data (test/checks) have more programs.
#include "autograd/SavedData.h"
#include "model/Model.h"

using namespace torchtidy::model;
using namespace torchtidy::test;

namespace {

struct SavedDataTest : ModelTest<SavedDataTest> {
  static const char Code[];
  /// Those in the class of this name.
  static std::vector<SavedData> ask(llvm::StringRef Class) {
    std::vector<SavedData> Result = findSavedData(Shared->program());
    llvm::erase_if(Result, [&](const SavedData &Found) {
      const auto *Forward = llvm::cast<clang::CXXMethodDecl>(
          Found.Output->getParentFunctionOrMethod());
      return Forward->getParent()->getName() != Class;
    });
    return Result;
  }
};

const char SavedDataTest::Code[] = R"cpp(
using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct Output : torch::autograd::Function<Output> {
  static Tensor forward(AutogradContext *ctx, Tensor x) {
    Tensor y = x.exp();
    ctx->saved_data["y"] = y;
    return y;
  }
  static variable_list backward(AutogradContext *ctx, variable_list grads) {
    return {grads[0] * ctx->saved_data["y"].toTensor()};
  }
};
struct Listed : torch::autograd::Function<Listed> {
  static variable_list forward(AutogradContext *ctx, Tensor x) {
    Tensor y = x.exp();
    ctx->saved_data["y"] = std::vector<Tensor>{x, y};
    return {x, y};
  }
  static variable_list backward(AutogradContext *ctx, variable_list grads) {
    return {grads[0] * ctx->saved_data["y"].toTensorVector()[1]};
  }
};
struct Input : torch::autograd::Function<Input> {
  static Tensor forward(AutogradContext *ctx, Tensor x) {
    ctx->saved_data["x"] = x;
    return x;
  }
  static variable_list backward(AutogradContext *, variable_list grads) {
    return grads;
  }
};
struct Erased : torch::autograd::Function<Erased> {
  static Tensor forward(AutogradContext *ctx, Tensor x) {
    Tensor y = x.exp();
    ctx->saved_data["y"] = y;
    return y;
  }
  static variable_list backward(AutogradContext *ctx, variable_list grads) {
    ctx->saved_data.erase("y");
    return grads;
  }
};
)cpp";

} // namespace

TEST_F(SavedDataTest, OneOutput) {
  const std::vector<SavedData> Found = ask("Output");
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_EQ(Found[0].Output->getName(), "y");
  EXPECT_TRUE(Found[0].Return);
  EXPECT_EQ(Shared->program().text(Found[0].Maker), "x.exp()");
  ASSERT_EQ(Found[0].Reads.size(), 1u);
  EXPECT_EQ(Shared->program().text(Found[0].Reads[0]),
            "ctx->saved_data[\"y\"].toTensor()");
}

TEST_F(SavedDataTest, OneOfAList) {
  const std::vector<SavedData> Found = ask("Listed");
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_EQ(Found[0].Output->getName(), "y");
  EXPECT_TRUE(Found[0].Reads.empty());
}

TEST_F(SavedDataTest, Quiet) {
  for (const char *Class : {"Input", "Erased"})
    EXPECT_TRUE(ask(Class).empty()) << Class;
}

// What needs gradients that are there and stay where they are.
#include "torch/Gradients.h"
#include "torch/Functions.h"
#include "torch/Members.h"

using namespace torchtidy;
using namespace torchtidy::test;
using Texts = std::vector<std::string>;

namespace {

struct Gradients : testing::Test {
  static void SetUpTestSuite() {
    Shared = std::make_unique<Calls>(
        R"cpp(
namespace c10d { struct ProcessGroup { void allreduce(); }; }
struct Own { void zero_grad(bool none = true), sparse(bool on), mutable_grad(); };
int ncclAllReduce(), MPI_Allreduce(), allReduce();
torch::Tensor t; torch::nn::Linear net{nullptr}; torch::optim::SGD *sgd; Own own;
c10d::ProcessGroup group; torch::nn::EmbeddingOptions options(4, 4);
)cpp",
        Texts{"t.grad()", "t.mutable_grad()", "own.mutable_grad()",
              "options.sparse(true)", "own.sparse(true)", "group.allreduce()",
              "ncclAllReduce()", "MPI_Allreduce()", "allReduce()",
              "sgd->zero_grad()", "net->zero_grad(false)",
              "own.zero_grad(false)", "t.remove_hook(0)",
              "t.register_hook([](torch::Tensor) {})",
              "torch::autograd::impl::clear_hooks(t)"});
  }
  static void TearDownTestSuite() { Shared.reset(); }
  void SetUp() override { ASSERT_TRUE(Shared && Shared->isRead()); }
  static inline std::unique_ptr<Calls> Shared;
};

} // namespace

TEST_F(Gradients, Buffers) {
  EXPECT_EQ(Shared->those(torch::givesGradientAway), Texts{"t.mutable_grad()"});
  EXPECT_EQ(Shared->those(torch::asksForSparseGradient),
            Texts{"options.sparse(true)"});
}

TEST_F(Gradients, Processes) {
  EXPECT_EQ(Shared->those(torch::isCollective),
            (Texts{"group.allreduce()", "ncclAllReduce()", "MPI_Allreduce()"}));
  const auto *Method =
      llvm::cast<clang::CXXMethodDecl>(Shared->callee("group.allreduce()"));
  EXPECT_TRUE(torch::keepsAddresses(Method->getParent()));
  EXPECT_FALSE(torch::keepsAddresses(nullptr));
}

TEST_F(Gradients, WhatZeroGradDoesByDefault) {
  EXPECT_TRUE(torch::setsToNone(Shared->callee("sgd->zero_grad()")));
  EXPECT_TRUE(torch::setsToNone(Shared->callee("net->zero_grad(false)")));
  EXPECT_FALSE(torch::setsToNone(Shared->callee("t.grad()")));
  EXPECT_FALSE(torch::setsToNone(nullptr));
}

TEST_F(Gradients, Hooks) {
  EXPECT_EQ(Shared->those(torch::registersHook),
            Texts{"t.register_hook([](torch::Tensor) {})"});
  EXPECT_EQ(
      Shared->those(torch::removesHook),
      (Texts{"t.remove_hook(0)", "torch::autograd::impl::clear_hooks(t)"}));
}

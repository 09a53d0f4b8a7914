// Data loaders, and what their workers copy.
#include "torch/Loaders.h"
#include "torch/Functions.h"

using namespace torchtidy;
using namespace torchtidy::test;

namespace {

using Names = std::vector<std::string>;

struct Loaders : testing::Test {
  static void SetUpTestSuite() {
    Shared = std::make_unique<Calls>(
        R"cpp(
struct Rows : torch::data::datasets::Dataset<Rows> {
  torch::data::Example<> get(size_t) override;
  torch::optional<size_t> size() const override;
};
using Stack = torch::data::transforms::Stack<>;
struct Sample { std::vector<float> values; int label; };
template <class T> T of();
)cpp",
        Names{"of<std::vector<float>>()",
              "of<std::vector<std::vector<float>>>()",
              "of<std::vector<Sample>>()",
              "of<std::vector<std::array<float, 64>>>()",
              "of<std::vector<std::array<float, 4>>>()",
              "of<std::vector<std::string>>()",
              "of<std::vector<torch::Tensor>>()", "of<std::shared_ptr<int>>()",
              "of<torch::Tensor>()", "torch::data::make_data_loader(Rows(), 8)",
              "torch::data::make_data_loader(Rows().map(Stack()), 8)",
              "torch::data::DataLoaderOptions().workers(4)",
              "torch::data::DataLoaderOptions().batch_size(4)"});
  }
  static void TearDownTestSuite() { Shared.reset(); }
  void SetUp() override { ASSERT_TRUE(Shared && Shared->isRead()); }
  static clang::QualType type(const std::string &Name) {
    return Shared->callee("of<" + Name + ">()")->getReturnType();
  }
  static inline std::unique_ptr<Calls> Shared;
};

} // namespace

TEST_F(Loaders, DataSets) {
  for (const char *Text :
       {"torch::data::make_data_loader(Rows(), 8)",
        "torch::data::make_data_loader(Rows().map(Stack()), 8)"}) {
    const clang::CXXRecordDecl *Source =
        torch::sourceDataset(torch::copiedDataset(Shared->call(Text)));
    ASSERT_TRUE(Source) << Text;
    EXPECT_EQ(Source->getName(), "Rows");
  }
  EXPECT_TRUE(torch::setsWorkers(
      Shared->callee("torch::data::DataLoaderOptions().workers(4)")));
  EXPECT_FALSE(torch::setsWorkers(
      Shared->callee("torch::data::DataLoaderOptions().batch_size(4)")));
}

TEST_F(Loaders, WhatIsCopied) {
  using torch::CopiedData;
  EXPECT_EQ(torch::copiedData(type("std::vector<float>")), CopiedData::Numbers);
  for (const char *Name :
       {"std::vector<std::vector<float>>", "std::vector<Sample>",
        "std::vector<std::array<float, 64>>"})
    EXPECT_EQ(torch::copiedData(type(Name)), CopiedData::Lists) << Name;
  for (const char *Name :
       {"std::vector<std::string>", "std::vector<std::array<float, 4>>",
        "std::vector<torch::Tensor>", "std::shared_ptr<int>", "torch::Tensor"})
    EXPECT_EQ(torch::copiedData(type(Name)), CopiedData::Little) << Name;
}

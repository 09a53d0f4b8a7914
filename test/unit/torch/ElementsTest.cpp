// How one element of a tensor is named, read and written, and what prints.
#include "torch/Elements.h"
#include "torch/Functions.h"

using namespace torchtidy;
using namespace torchtidy::test;

namespace {

using Names = std::vector<std::string>;

struct Elements : testing::Test {
  static void SetUpTestSuite() {
    Shared = std::make_unique<Calls>(
        "#include <iostream>\n#include <cstdio>\n"
        "torch::Tensor t; int i, n; std::vector<torch::Tensor> v;\n",
        Names{"t[i] = 1.5",
              "t[i] += 1",
              "t[i] = t",
              "t[i] += t",
              "t = t",
              "t.index_put_({i}, 1)",
              "t.index_put_({i}, t)",
              "t.fill_(1)",
              "v[0] = t",
              "std::cout << 1",
              "std::printf(\"\")",
              "std::min(i, n)",
              "std::max(i, n)",
              "t.narrow(0, 0, n)",
              "t.narrow(0, i, n)",
              "t.slice(1, 0, n)",
              "t.slice(1, {}, n)",
              "t.slice(1, i, n)",
              "torch::slice(t, 0, 0, n)",
              "t.index({torch::indexing::Slice(0, n)})",
              "t.index({0, torch::indexing::Slice(torch::indexing::None, n)})",
              "t.index({torch::indexing::Slice(i, n)})",
              "t[i]",
              "t[t]",
              "t.index({i, n})",
              "t.index({t})",
              "t.select(0, i)",
              "t.select(1, i)",
              "torch::select(t, 0, i)",
              "t.slice(0, i, n)",
              "t.slice(0, i, n, 2)",
              "t.slice()",
              "t.sum()"});
  }
  static void TearDownTestSuite() { Shared.reset(); }
  void SetUp() override { ASSERT_TRUE(Shared && Shared->isRead()); }
  static inline std::unique_ptr<Calls> Shared;
};

} // namespace

TEST_F(Elements, NumbersThatAreWritten) {
  for (const char *Text : {"t[i] = 1.5", "t[i] += 1"}) {
    const torch::NumberWrite Write = torch::numberWrite(Shared->call(Text));
    EXPECT_TRUE(Write) << Text;
    EXPECT_FALSE(Write.Indices) << Text;
  }
  EXPECT_TRUE(torch::numberWrite(Shared->call("t.index_put_({i}, 1)")).Indices);
  for (const char *Text : {"t[i] = t", "t[i] += t", "t = t",
                           "t.index_put_({i}, t)", "t.fill_(1)", "v[0] = t"})
    EXPECT_FALSE(torch::numberWrite(Shared->call(Text))) << Text;
}

TEST_F(Elements, PositionsOfTheFirstDimensions) {
  for (const char *Text :
       {"t[i]", "t.index({i, n})", "t.select(0, i)", "torch::select(t, 0, i)",
        "t.narrow(0, i, n)", "t.slice(0, i, n)", "t.slice()",
        "torch::slice(t, 0, 0, n)"})
    EXPECT_TRUE(torch::choosesLeading(Shared->call(Text))) << Text;
  for (const char *Text :
       {"t[t]", "t.index({t})", "t.select(1, i)", "t.slice(0, i, n, 2)",
        "t.slice(1, 0, n)", "t.index({torch::indexing::Slice(i, n)})",
        "t.sum()", "std::min(i, n)"})
    EXPECT_FALSE(torch::choosesLeading(Shared->call(Text))) << Text;
}

TEST_F(Elements, Printing) {
  EXPECT_TRUE(torch::printsText(Shared->call("std::cout << 1")));
  EXPECT_TRUE(torch::printsText(Shared->call("std::printf(\"\")")));
  EXPECT_FALSE(torch::printsText(Shared->call("std::min(i, n)")));
}

TEST_F(Elements, Minimum) {
  EXPECT_TRUE(torch::isMinimum(Shared->callee("std::min(i, n)")));
  EXPECT_FALSE(torch::isMinimum(Shared->callee("std::max(i, n)")));
}

TEST_F(Elements, FirstPositions) {
  for (const char *Text :
       {"t.narrow(0, 0, n)", "t.slice(1, 0, n)", "t.slice(1, {}, n)",
        "torch::slice(t, 0, 0, n)", "t.index({torch::indexing::Slice(0, n)})",
        "t.index({0, torch::indexing::Slice(torch::indexing::None, n)})"}) {
    const auto Found = torch::firstPositions(Shared->call(Text));
    ASSERT_EQ(Found.size(), 1u) << Text;
    const auto *Ref = llvm::dyn_cast<clang::DeclRefExpr>(Found[0]);
    ASSERT_TRUE(Ref) << Text;
    EXPECT_EQ(Ref->getDecl()->getName(), "n") << Text;
  }
  for (const char *Text :
       {"t.narrow(0, i, n)", "t.slice(1, i, n)",
        "t.index({torch::indexing::Slice(i, n)})", "t.fill_(1)"})
    EXPECT_TRUE(torch::firstPositions(Shared->call(Text)).empty()) << Text;
}

TEST(ElementOperations, ByName) {
  const auto Op = [](const char *Name) {
    return *torch::findOperation(Name, torch::operation::Method);
  };
  EXPECT_TRUE(torch::readsNumber(Op("item")));
  EXPECT_FALSE(torch::readsNumber(Op("sum")));
  EXPECT_TRUE(torch::choosesPosition(Op("select")));
  EXPECT_TRUE(torch::choosesPosition(Op("index")));
  EXPECT_TRUE(torch::choosesRange(Op("narrow")));
  EXPECT_TRUE(torch::choosesRange(Op("slice")));
  for (const char *Name : {"view", "to", "cpu", "contiguous", "clone"})
    EXPECT_TRUE(torch::keepsElements(Op(Name))) << Name;
  EXPECT_FALSE(torch::keepsElements(Op("argmax")));
  EXPECT_TRUE(torch::copiesElements(Op("clone")));
  EXPECT_FALSE(torch::copiesElements(Op("contiguous")));
}

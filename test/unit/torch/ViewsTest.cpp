// Which part of its operand a view is, and what is saved with its storage.
#include "torch/Views.h"
#include "torch/Functions.h"

using namespace torchtidy;
using namespace torchtidy::test;
using torchtidy::torch::Index;

namespace {

using Names = std::vector<std::string>;

struct Views : testing::Test {
  static void SetUpTestSuite() {
    Shared = std::make_unique<Calls>(
        "using namespace torch::indexing; torch::Tensor t; int i, n;\n"
        "torch::serialize::OutputArchive archive;\n",
        Names{"t.narrow(0, i, n)", "t.slice(1)", "t.slice(1, {}, n)",
              "t.slice(1, i, n, 2)", "torch::slice(t, 0, i, n)",
              "t.select(0, i)",
              "t.index({i, Slice(), None, \"...\", Slice(i, n)})",
              "t.index({Slice(None, None, 2), Ellipsis})", "t.index({t})",
              "t.index({i, true})", "torch::save(t, \"file\")",
              "torch::pickle_save(t)", "archive.write(\"t\", t)",
              "archive.save_to(\"file\")", "t.clone()", "t.size(1)",
              "t.sizes()"});
  }
  static void TearDownTestSuite() { Shared.reset(); }
  void SetUp() override { ASSERT_TRUE(Shared && Shared->isRead()); }
  static inline std::unique_ptr<Calls> Shared;
};

} // namespace

TEST_F(Views, TensorsAmongIndices) {
  EXPECT_EQ(torch::tensorIndices(Shared->call("t.index({t})")).size(), 1u);
  EXPECT_TRUE(torch::tensorIndices(Shared->call("t.index({i, true})")).empty());
  EXPECT_TRUE(torch::tensorIndices(
                  Shared->call("t.index({Slice(None, None, 2), Ellipsis})"))
                  .empty());
  EXPECT_TRUE(torch::tensorIndices(Shared->call("t.clone()")).empty());
}

TEST_F(Views, Ranges) {
  const auto Narrow = torch::rangeOf(Shared->call("t.narrow(0, i, n)"));
  ASSERT_TRUE(Narrow);
  EXPECT_TRUE(Narrow->IsLength && Narrow->First && Narrow->Second);
  const auto All = torch::rangeOf(Shared->call("t.slice(1)"));
  ASSERT_TRUE(All);
  EXPECT_FALSE(All->IsLength || All->First || All->Second || All->HasStep);
  const auto Beginning = torch::rangeOf(Shared->call("t.slice(1, {}, n)"));
  ASSERT_TRUE(Beginning);
  EXPECT_FALSE(Beginning->First);
  EXPECT_TRUE(Beginning->Second);
  EXPECT_TRUE(torch::rangeOf(Shared->call("t.slice(1, i, n, 2)"))->HasStep);
  EXPECT_TRUE(torch::rangeOf(Shared->call("torch::slice(t, 0, i, n)"))->First);
  EXPECT_FALSE(torch::rangeOf(Shared->call("t.select(0, i)")));
}

TEST_F(Views, SizeOfADimension) {
  const auto Known = torch::sizeAt(Shared->call("t.size(1)"));
  ASSERT_TRUE(Known);
  EXPECT_TRUE(Known->Tensor && Known->Dimension);
  for (const char *Text : {"t.sizes()", "t.slice(1)"})
    EXPECT_FALSE(torch::sizeAt(Shared->call(Text))) << Text;
}

TEST_F(Views, Indices) {
  const auto Mixed = torch::indicesOf(
      Shared->call("t.index({i, Slice(), None, \"...\", Slice(i, n)})"));
  ASSERT_TRUE(Mixed);
  ASSERT_EQ(Mixed->size(), 5u);
  const Index::Kind Kinds[] = {Index::Position, Index::Several,
                               Index::NewDimension, Index::Rest,
                               Index::Several};
  for (unsigned I = 0; I < 5; ++I)
    EXPECT_EQ((*Mixed)[I].Is, Kinds[I]) << I;
  EXPECT_TRUE((*Mixed)[0].Number);
  EXPECT_FALSE((*Mixed)[1].Of.First || (*Mixed)[1].Of.Second);
  EXPECT_TRUE((*Mixed)[4].Of.First && (*Mixed)[4].Of.Second);
  const auto Steps = torch::indicesOf(
      Shared->call("t.index({Slice(None, None, 2), Ellipsis})"));
  ASSERT_TRUE(Steps);
  EXPECT_TRUE((*Steps)[0].Of.HasStep);
  for (const char *Text : {"t.index({t})", "t.index({i, true})"})
    EXPECT_FALSE(torch::indicesOf(Shared->call(Text))) << Text;
}

TEST_F(Views, Saved) {
  for (const char *Text : {"torch::save(t, \"file\")", "torch::pickle_save(t)",
                           "archive.write(\"t\", t)"})
    EXPECT_TRUE(torch::savesStorageOf(Shared->call(Text))) << Text;
  for (const char *Text : {"archive.save_to(\"file\")", "t.clone()"})
    EXPECT_FALSE(torch::savesStorageOf(Shared->call(Text))) << Text;
}

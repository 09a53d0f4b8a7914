// How much of its storage a tensor is.
#include "model/Model.h"

using namespace torchtidy::model;
using namespace torchtidy::test;

namespace {

struct ExtentTest : ModelTest<ExtentTest> {
  static const char Code[];
};

const char ExtentTest::Code[] = R"cpp(
using torch::Tensor;
using torch::indexing::None;
using torch::indexing::Slice;

void positions(int64_t k) {
  Tensor x = torch::zeros({64, 32, 8});
  observe("factory", x);
  observe("row", x[0]);
  observe("row by variable", x[k]);
  observe("column", x.select(2, k));
  observe("of two", torch::zeros({2, 8192})[0]);
  observe("indices", x.index({0, Slice(), 3}));
  observe("in the middle", x.index({"...", k}));
  observe("all", x.index({Slice(), None}));
  observe("by tensor", x.index({torch::tensor({1, 2})}));
  observe("narrow", x.narrow(0, k, 16));
  observe("half", x.narrow(0, 0, 32));
  observe("slice", x.slice(0, 8, 16));
  observe("from the end", x.slice(0, -16));
  observe("with a step", x.slice(0, 0, 16, 2));
  observe("of a part", x[0].slice(0, 0, 30).t());
  observe("strided", x[0].as_strided({64}, {1}));
}
void shapes() {
  Tensor x = torch::zeros({64, 128});
  observe("turned", x.t().unsqueeze(0).view({-1}).detach());
  observe("copied", x[0].clone());
  observe("perhaps copied", x[0].contiguous());
  observe("blob", torch::from_blob(nullptr, {64, 128}));
  observe("little", torch::zeros({8, 8})[5]);
  observe("computed", torch::relu(torch::zeros({8, 8})));
  Tensor other = torch::zeros({64, 128});
  other.set_(x[0]);
  observe("set", other);
  Tensor plain = torch::zeros({64, 128});
  plain.add_(1);
  observe("written", plain);
}
Tensor make();
void change(Tensor &x);
void given(Tensor x, torch::nn::Linear net, torch::nn::Dropout drop, bool b) {
  observe("given", x);
  observe("first", x[0]);
  observe("fourth", x[3]);
  observe("third", x[2]);
  observe("last", x[-1]);
  observe("last of the second", x.select(1, -1));
  observe("last by size", x.select(1, x.size(1) - 1));
  observe("by another size", x.select(1, x.size(0) - 1));
  observe("fourth from the end", x.index({-4}));
  observe("behind others", x.narrow(0, 30, 10));
  observe("at the beginning", x.narrow(0, 0, 10));
  observe("layer", net->forward(x));
  observe("perhaps itself", drop->forward(x));
  observe("unseen", make());
  Tensor passed = torch::zeros({64, 128});
  Tensor row = passed[0];
  change(row);
  observe("passed", row);
  Tensor joined = torch::zeros({64, 128})[0];
  if (b)
    joined = torch::zeros({64, 128});
  observe("joined", joined);
  std::vector<Tensor> rows = {x[3], x[4]};
  observe("element", rows[1]);
}
void keeps(std::vector<Tensor> &list, Tensor &single) {
  Tensor x = torch::zeros({64, 128});
  list.push_back(x[0]);
  single = x;
  torch::save(x[1], "row.pt");
}
)cpp";

} // namespace

TEST_F(ExtentTest, Positions) {
  const Entry E = entry("positions");
  EXPECT_EQ(E.observed("factory").Share, share::Whole);
  for (const char *Small :
       {"row", "row by variable", "column", "indices", "in the middle",
        "narrow", "slice", "from the end", "of a part"})
    EXPECT_EQ(E.observed(Small).Share, share::Small) << Small;
  for (const char *Unknown :
       {"of two", "all", "by tensor", "half", "with a step", "strided"})
    EXPECT_EQ(E.observed(Unknown).Share, share::Unknown) << Unknown;
}

TEST_F(ExtentTest, TheStorageIsThatOfTheOperand) {
  const Entry E = entry("positions");
  ASSERT_EQ(E.observed("factory").StorageFrom.size(), 1u);
  EXPECT_EQ(E.observed("row").StorageFrom, E.observed("factory").StorageFrom);
  EXPECT_NE(E.observed("of two").StorageFrom,
            E.observed("factory").StorageFrom);
}

TEST_F(ExtentTest, WholeAndLittle) {
  const Entry E = entry("shapes");
  for (const char *Whole : {"turned", "written"})
    EXPECT_EQ(E.observed(Whole).Share, share::Whole) << Whole;
  for (const char *Little : {"copied", "little", "computed"})
    EXPECT_EQ(E.observed(Little).Share, share::Little) << Little;
  for (const char *Unknown : {"perhaps copied", "blob"})
    EXPECT_EQ(E.observed(Unknown).Share, share::Unknown) << Unknown;
  EXPECT_TRUE(E.observed("set").Share & share::Unknown);
}

TEST_F(ExtentTest, Given) {
  const Entry E = entry("given");
  for (const char *Small : {"fourth", "last of the second", "last by size",
                            "fourth from the end", "behind others", "element"})
    EXPECT_EQ(E.observed(Small).Share, share::Small) << Small;
  for (const char *Unknown :
       {"given", "first", "third", "last", "by another size",
        "at the beginning", "perhaps itself", "unseen"})
    EXPECT_EQ(E.observed(Unknown).Share, share::Unknown) << Unknown;
  EXPECT_EQ(E.observed("layer").Share, share::Whole);
  EXPECT_TRUE(E.observed("passed").Share & share::Unknown);
  EXPECT_EQ(E.observed("joined").Share, share::Small | share::Whole);
}

TEST_F(ExtentTest, Kept) {
  const Entry E = entry("keeps");
  const auto &Row = E.event<KeepEvent>("list.push_back(x[0])");
  EXPECT_TRUE(Row.Kept.isSmallPart());
  EXPECT_EQ(Row.How, StoreKind::Append);
  EXPECT_EQ(E.placeOf(Row.Places), "list");
  EXPECT_EQ(E.event<KeepEvent>("single = x").Kept.Share, share::Whole);
  const auto &Saved = E.event<KeepEvent>("torch::save(x[1], \"row.pt\")");
  EXPECT_TRUE(Saved.Places.empty());
  EXPECT_TRUE(Saved.Kept.isSmallPart());
}

// Memory of one type that a tensor takes for another, and whether what follows
// needs the type that it takes it for. The tests of torch-blob-dtype
// (test/checks) have more programs.
#include "lifetime/BlobDtype.h"
#include "model/Model.h"

using namespace torchtidy::model;
using namespace torchtidy::test;

namespace {

struct Mistyped : ModelTest<Mistyped> {
  static const char Code[];

  static std::vector<MistypedBlob> ask(llvm::StringRef Root) {
    std::vector<MistypedBlob> Result = mistypedBlobs(Shared->program());
    llvm::erase_if(Result, [&](const MistypedBlob &Found) {
      return Found.Entry->root().Function->getQualifiedNameAsString() != Root;
    });
    return Result;
  }
};

const char Mistyped::Code[] = R"cpp(
using torch::Tensor;
using Values = std::vector<double>;

Tensor byDefault(Values &values) { return torch::from_blob(values.data(), {3}); }
Tensor said(Values &values) {
  return torch::from_blob(values.data(), {3}, torch::kInt).clone();
}
Tensor right(Values &values) {
  return torch::from_blob(values.data(), {3}, torch::kDouble);
}
Tensor bytes(unsigned char *pixels) {
  return torch::from_blob(pixels, {3}, torch::kFloat);
}
Tensor unknown(void *memory) { return torch::from_blob(memory, {3}); }
Tensor converted(Values &values) {
  Tensor t = torch::from_blob(values.data(), {3});
  return t.view(-1).to(torch::kHalf) + t.to(torch::kHalf);
}
Tensor convertedOnce(Values &values) {
  Tensor t = torch::from_blob(values.data(), {3});
  return t + t.to(torch::kHalf);
}
Tensor moved(Values &values, torch::Device device) {
  return torch::from_blob(values.data(), {3}).to(device);
}
void filled(Values &values, Tensor from) {
  Tensor t = torch::from_blob(values.data(), {3});
  t.copy_(from);
}
)cpp";

TEST_F(Mistyped, AreFoundWhereBothTypesAreKnown) {
  const auto Default = ask("byDefault");
  ASSERT_EQ(Default.size(), 1u);
  EXPECT_EQ(Default[0].ReadAs, "Float");
  EXPECT_EQ(Default[0].Memory.Name, "Double");
  EXPECT_FALSE(Default[0].IsSaid);
  const auto Said = ask("said");
  ASSERT_EQ(Said.size(), 1u);
  EXPECT_EQ(Said[0].ReadAs, "Int");
  EXPECT_TRUE(Said[0].IsSaid);
}

TEST_F(Mistyped, AreNoneWhereTheTypeFitsOrMayFit) {
  for (const char *Root : {"right", "bytes", "unknown"})
    EXPECT_TRUE(ask(Root).empty()) << Root;
}

TEST_F(Mistyped, NeedTheirTypeUnlessItIsConvertedOrWritten) {
  for (const char *Root : {"byDefault", "said", "convertedOnce", "moved"}) {
    const auto All = ask(Root);
    ASSERT_EQ(All.size(), 1u) << Root;
    EXPECT_TRUE(All[0].IsTypeNeeded) << Root;
  }
  for (const char *Root : {"converted", "filled"}) {
    const auto All = ask(Root);
    ASSERT_EQ(All.size(), 1u) << Root;
    EXPECT_FALSE(All[0].IsTypeNeeded) << Root;
  }
}

} // namespace

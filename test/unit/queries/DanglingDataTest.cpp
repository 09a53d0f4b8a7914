// Objects that end before what leads into them. The tests of
// torch-dangling-data (test/checks) have more programs.
#include "lifetime/DanglingData.h"
#include "model/Model.h"

using namespace torchtidy::model;
using namespace torchtidy::test;

namespace {

struct Views : ModelTest<Views> {
  static const char Code[];

  static std::vector<OutlivedLoan> ask(llvm::StringRef Root) {
    std::vector<OutlivedLoan> Result = outlivedViews(Shared->program());
    llvm::erase_if(Result, [&](const OutlivedLoan &Found) {
      return Found.Entry->root().Function->getQualifiedNameAsString() != Root;
    });
    return Result;
  }
};

const char Views::Code[] = R"cpp(
using torch::Tensor;

float ofTemporary(const Tensor &x) {
  float *data = x.mul(2).data_ptr<float>();
  return data[0];
}
float ofVariable(const Tensor &x) {
  Tensor twice = x.mul(2);
  float *data = twice.data_ptr<float>();
  return data[0];
}
int64_t sizesOfTemporary(const Tensor &x) {
  torch::IntArrayRef sizes = x.mul(2).sizes();
  return sizes[0];
}
int64_t copied(const Tensor &x) {
  std::vector<int64_t> sizes = x.mul(2).sizes().vec();
  return sizes[0];
}
float *returned() {
  Tensor own = torch::zeros({3});
  return own.data_ptr<float>();
}
// A graph may have it as well.
float *mayLiveOn(const Tensor &x) {
  Tensor twice = x.mul(2);
  return twice.data_ptr<float>();
}
)cpp";

TEST_F(Views, OutliveWhatTheyLeadInto) {
  for (const char *Root : {"ofTemporary", "sizesOfTemporary"}) {
    const auto All = ask(Root);
    ASSERT_EQ(All.size(), 1u) << Root;
    EXPECT_EQ(All[0].End->How, EndKind::FullExpression) << Root;
    EXPECT_TRUE(All[0].Touch) << Root;
  }
  const auto Returned = ask("returned");
  ASSERT_EQ(Returned.size(), 1u);
  EXPECT_EQ(Returned[0].End->How, EndKind::Scope);
  EXPECT_TRUE(Returned[0].Hold);
}

TEST_F(Views, AreFineWhereTheObjectLivesOn) {
  EXPECT_TRUE(ask("ofVariable").empty());
  EXPECT_TRUE(ask("copied").empty());
  EXPECT_TRUE(ask("mayLiveOn").empty());
}

} // namespace

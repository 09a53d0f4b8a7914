// What the query finds, and what it does not. The tests of torch-sizeof-dtype
// (test/checks) have more programs.
#include "results/SizeofDtype.h"
#include "model/Model.h"

using namespace torchtidy::model;
using namespace torchtidy::test;

namespace {

struct SizeofDtypeTest : ModelTest<SizeofDtypeTest> {
  static const char Code[];
};

const char SizeofDtypeTest::Code[] = R"cpp(
size_t constant(int64_t n) { return n * sizeof(torch::kFloat32); }
char buffer[4 * sizeof(torch::kHalf)];
size_t variable(int64_t n, torch::Dtype dtype) { return n * sizeof(dtype); }
size_t meta(torch::Tensor x) { return x.numel() * sizeof(x.dtype()); }
// Quiet.
size_t alone(torch::Dtype dtype) { return sizeof(dtype); }
size_t type(int64_t n) { return n * sizeof(c10::ScalarType); }
)cpp";

} // namespace

TEST_F(SizeofDtypeTest, Facts) {
  const std::vector<SizeofDtype> Found = sizesOfDtypes(Shared->program());
  ASSERT_EQ(Found.size(), 4u);
  EXPECT_EQ(Found[0].Scalar, "Float");
  EXPECT_EQ(Found[0].Yields, 1u);
  EXPECT_EQ(Found[0].Element, 4u);
  EXPECT_FALSE(Found[0].MustBeConstant);
  EXPECT_EQ(Found[1].Scalar, "Half");
  EXPECT_TRUE(Found[1].MustBeConstant);
  EXPECT_EQ(Found[2].Scalar, "");
  EXPECT_FALSE(Found[2].IsMeta);
  EXPECT_TRUE(Found[3].IsMeta);
  EXPECT_EQ(Found[3].Yields, 2u);
}

// Results of operations that are given to an optimizer. The tests of
// torch-non-leaf-parameter (test/checks) have many more programs.
#include "modules/NonLeafParameter.h"
#include "model/Model.h"

using namespace torchtidy::model;
using namespace torchtidy::test;

namespace {

struct NonLeafParameters : ModelTest<NonLeafParameters> {
  static const char Code[];
};

const char NonLeafParameters::Code[] = R"cpp(
using torch::Tensor;

void trains(torch::Device device) {
  Tensor leaf = torch::zeros({2}, torch::requires_grad());
  Tensor result = leaf * 2;
  Tensor same = leaf.to(torch::kCPU);
  torch::optim::SGD opt({leaf, result, same}, 0.1);
  opt.add_parameters({result});
}
void appends() {
  Tensor leaf = torch::zeros({2}, torch::requires_grad());
  std::vector<Tensor> all, popped;
  all.push_back(leaf);
  all.push_back(leaf * 3);
  popped.push_back(leaf);
  popped.push_back(leaf * 4);
  popped.pop_back();
  torch::optim::SGD opt(std::move(all), 0.1), other(popped, 0.1);
}
)cpp";

} // namespace

TEST_F(NonLeafParameters, GivenToAnOptimizer) {
  const auto Found = entry("trains").of(nonLeafParameters(Shared->program()));
  ASSERT_EQ(Found.size(), 2u);
  EXPECT_EQ(Found[0].How, NonLeafParameter::Throws);
  EXPECT_EQ(Shared->program().text(Found[0].Tensor), "result");
  EXPECT_EQ(Found[1].How, NonLeafParameter::Ignored);
}

TEST_F(NonLeafParameters, AppendedToLeaves) {
  const auto Found = entry("appends").of(nonLeafParameters(Shared->program()));
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_EQ(Shared->program().text(Found[0].Tensor), "leaf * 3");
}

// Chains of operations each of which makes a tensor for the next one. The tests
// of torch-inplace-opportunity (test/checks) have more programs.
#include "memory/InplaceOpportunity.h"
#include "model/Model.h"

using namespace torchtidy::model;
using namespace torchtidy::test;

namespace {

struct InplaceOpportunityTest : ModelTest<InplaceOpportunityTest> {
  static const char Code[];
  static std::vector<InplaceOpportunity> ask(llvm::StringRef Root) {
    return entry(Root).of(inplaceOpportunities(Shared->program()));
  }
};

const char InplaceOpportunityTest::Code[] = R"cpp(
using torch::Tensor;

void chain(Tensor x) {
  torch::NoGradGuard guard;
  for (int i = 0; i < 9; ++i)
    x = x.exp().mul(2).add(1).tanh();
}
void recorded(Tensor x) {
  for (int i = 0; i < 9; ++i)
    x = x.exp().mul(2);
}
void ofAnotherType(Tensor x) {
  torch::NoGradGuard guard;
  for (int i = 0; i < 9; ++i)
    x = x.gt(0).mul(0.5);
}
void small() {
  torch::NoGradGuard guard;
  for (int i = 0; i < 9; ++i)
    torch::rand({8, 8}).mul(2);
}
void large() {
  torch::NoGradGuard guard;
  for (int i = 0; i < 9; ++i)
    torch::rand({800, 800}).mul(2);
}
void prepared(torch::nn::Linear &net) {
  std::vector<Tensor> all;
  for (int i = 0; i < 9; ++i)
    all.push_back(torch::rand({800, 800}).mul(2));
  for (const Tensor &x : all)
    net(x).sum().backward();
}
void column(torch::nn::Linear &net, int64_t n) {
  for (int i = 0; i < 9; ++i)
    net(torch::rand({n, 1}).mul(2)).sum().backward();
}
void once(Tensor x) {
  torch::NoGradGuard guard;
  x = x.exp().mul(2);
}
)cpp";

} // namespace

TEST_F(InplaceOpportunityTest, AChain) {
  const std::vector<InplaceOpportunity> Found = ask("chain");
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_EQ(Found[0].Links.size(), 3u);
  EXPECT_EQ(Found[0].Links.back(), Found[0].Last);
}

TEST_F(InplaceOpportunityTest, BySize) {
  EXPECT_EQ(ask("large").size(), 1u);
  EXPECT_TRUE(ask("small").empty());
}

TEST_F(InplaceOpportunityTest, Quiet) {
  for (const char *Root :
       {"recorded", "ofAnotherType", "prepared", "column", "once"})
    EXPECT_TRUE(ask(Root).empty()) << Root;
}

// Members that are never registered, and names that are registered twice. The
// tests of torch-unregistered-module (test/checks) have many more programs.
#include "modules/UnregisteredModule.h"
#include "model/Model.h"

using namespace torchtidy::model;
using namespace torchtidy::test;

namespace {

struct UnregisteredModules : ModelTest<UnregisteredModules> {
  static const char Code[];
};

const char UnregisteredModules::Code[] = R"cpp(
using torch::Tensor;
namespace nn = torch::nn;

struct Net : nn::Module {
  Net() : head(register_module("head", nn::Linear(2, 2))) {
    w = register_parameter("w", torch::zeros({2}));
    loose = nn::Linear(2, 2);
    free = torch::zeros({2});
  }
  Tensor forward(Tensor x) { return loose(head(x)) * w * free; }
  Tensor w, free;
  nn::Linear head{nullptr}, loose{nullptr};
};
void registersAgain() {
  nn::Sequential net;
  net->register_module("a", nn::Linear(2, 2));
  net->register_module("a", nn::Linear(2, 2));
  net->register_module("b", nn::Linear(2, 2));
}
)cpp";

} // namespace

TEST_F(UnregisteredModules, Members) {
  const auto Found = unregisteredMembers(Shared->program());
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_EQ(Found[0].Member->getName(), "loose");
  EXPECT_EQ(Found[0].What, UnregisteredMember::Submodule);
  EXPECT_NE(Found[0].Assignment, nullptr);
}

TEST_F(UnregisteredModules, RepeatedNames) {
  const auto Found = repeatedNames(Shared->program());
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_EQ(Found[0].Name, "a");
  EXPECT_NE(Found[0].First, Found[0].Again);
}

// What modules register, and what optimizers are given. The tests of the checks
// (test/checks) have many more programs.
#include "model/Registration.h"
#include "model/Model.h"
#include "model/NonLeafParameters.h"

using namespace torchtidy::model;
using namespace torchtidy::test;

namespace {

struct Registration : ModelTest<Registration> {
  static const char Code[];
};

const char Registration::Code[] = R"cpp(
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
void states(Net &net) {
  observe("registered", net.w);
  observe("not registered", net.free);
  observe("of a layer", net.head->weight);
  observe("fresh", torch::zeros({2}));
  observe("computed", net.w * 2);
  observe("perhaps the same", net.w.to(torch::kDouble));
}
void reassigns(Net &net) {
  net.w = torch::ones({2});
  net.free = torch::ones({2});
  net.head = nn::Linear(2, 3);
}
void registersAgain() {
  nn::Sequential net;
  net->register_module("a", nn::Linear(2, 2));
  net->register_module("a", nn::Linear(2, 2));
  net->register_module("b", nn::Linear(2, 2));
}
void trains(torch::Device device) {
  Tensor leaf = torch::zeros({2}, torch::requires_grad());
  Tensor result = leaf * 2;
  Tensor same = leaf.to(torch::kCPU);
  torch::optim::SGD opt({leaf, result, same}, 0.1);
  opt.add_parameters({result});
}
)cpp";

TEST_F(Registration, OfTensors) {
  const Way States = way("states");
  EXPECT_EQ(States.observed("registered").Registered, registered::Yes);
  EXPECT_EQ(States.observed("not registered").Registered, 0);
  EXPECT_EQ(States.observed("of a layer").Registered, registered::Yes);
  EXPECT_EQ(States.observed("fresh").Registered, registered::No);
  EXPECT_EQ(States.observed("computed").Registered, registered::No);
  EXPECT_EQ(States.observed("perhaps the same").Registered,
            registered::Yes | registered::No);
}

TEST_F(Registration, ReassignedMembers) {
  std::vector<std::string> Sites;
  for (const ReassignedMember &Found : reassignedMembers(Shared->program()))
    Sites.push_back(Shared->program().text(Found.Replace->Site));
  EXPECT_EQ(Sites, (std::vector<std::string>{"net.w = torch::ones({2})",
                                             "net.head = nn::Linear(2, 3)"}));
}

TEST_F(Registration, UnregisteredMembers) {
  const auto Found = unregisteredMembers(Shared->program());
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_EQ(Found[0].Member->getName(), "loose");
  EXPECT_EQ(Found[0].What, UnregisteredMember::Submodule);
  EXPECT_NE(Found[0].Assignment, nullptr);
}

TEST_F(Registration, RepeatedNames) {
  const auto Found = repeatedNames(Shared->program());
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_EQ(Found[0].Name, "a");
  EXPECT_NE(Found[0].First, Found[0].Again);
}

TEST_F(Registration, NonLeafParameters) {
  const auto Found = nonLeafParameters(*way("trains"));
  ASSERT_EQ(Found.size(), 2u);
  EXPECT_EQ(Found[0].How, NonLeafParameter::Throws);
  EXPECT_EQ(Shared->program().text(Found[0].Tensor), "result");
  EXPECT_EQ(Found[1].How, NonLeafParameter::Ignored);
}

} // namespace

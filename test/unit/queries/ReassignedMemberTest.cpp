// Registered members that are bound to what is not registered. The tests of
// torch-reassigned-member (test/checks) have many more programs.
#include "modules/ReassignedMember.h"
#include "model/Model.h"

using namespace torchtidy::model;
using namespace torchtidy::test;

namespace {

struct ReassignedMembers : ModelTest<ReassignedMembers> {
  static const char Code[];
};

const char ReassignedMembers::Code[] = R"cpp(
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
void reassigns(Net &net) {
  net.w = torch::ones({2});
  net.free = torch::ones({2});
  net.head = nn::Linear(2, 3);
}
)cpp";

} // namespace

TEST_F(ReassignedMembers, OfParametersAndModules) {
  std::vector<std::string> Sites;
  for (const ReassignedMember &Found : reassignedMembers(Shared->program()))
    Sites.push_back(Shared->program().text(Found.Replace->Site));
  EXPECT_EQ(Sites, (std::vector<std::string>{"net.w = torch::ones({2})",
                                             "net.head = nn::Linear(2, 3)"}));
}

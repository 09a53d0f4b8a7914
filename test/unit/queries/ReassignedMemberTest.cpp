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

struct Tied : nn::Module {
  Tied() : in(register_module("in", nn::Linear(2, 2))) {
    out = register_module("out", nn::Linear(2, 2));
  }
  nn::Linear in, out{nullptr};
};
Tensor movedAfterwards(Tensor x, torch::Device device) {
  Tied net;
  net.out->weight = net.in->weight.t();
  net.to(device);
  return net.out(x);
}
Tensor notMoved(Tensor x) {
  Tied net;
  net.out->weight = net.in->weight.t();
  return net.out(x);
}
Tensor computedAnew(Tensor x, torch::Device device) {
  Tied net;
  net.out->weight = net.in->weight.t();
  net.to(device);
  net.out->weight = net.in->weight.t();
  return net.out(x);
}
)cpp";

} // namespace

TEST_F(ReassignedMembers, OfParametersAndModules) {
  const Entry W = entry("reassigns");
  std::vector<std::string> Sites;
  for (const ReassignedMember &Found :
       W.of(reassignedMembers(Shared->program()))) {
    Sites.push_back(Shared->program().text(Found.Replace->Site));
    EXPECT_FALSE(Found.IsLeftBehind);
  }
  EXPECT_EQ(Sites, (std::vector<std::string>{"net.w = torch::ones({2})",
                                             "net.head = nn::Linear(2, 3)"}));
}

// A weight that is computed from another is trained through it, until a move
// tells them apart.
TEST_F(ReassignedMembers, AreLeftBehindByAMove) {
  const auto Of = [](llvm::StringRef Root) {
    return entry(Root).of(reassignedMembers(Shared->program()));
  };
  const auto Found = Of("movedAfterwards");
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_TRUE(Found[0].IsLeftBehind);
  EXPECT_EQ(Shared->program().text(Found[0].Replace->Site),
            "net.out->weight = net.in->weight.t()");
  EXPECT_TRUE(Of("notMoved").empty());
  EXPECT_TRUE(Of("computedAnew").empty());
}

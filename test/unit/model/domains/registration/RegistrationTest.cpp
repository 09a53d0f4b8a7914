// What is known of a tensor: whether a module has registered it.
#include "model/Model.h"

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
  observe("by a function", nn::functional::normalize(net.w));
  observe("by a layer", net.head->forward(net.w));
  observe("perhaps in place", nn::functional::dropout2d(net.w));
}
)cpp";

TEST_F(Registration, OfTensors) {
  const Entry States = entry("states");
  EXPECT_EQ(States.observed("registered").Registered, registered::Yes);
  EXPECT_EQ(States.observed("not registered").Registered, 0);
  EXPECT_EQ(States.observed("of a layer").Registered, registered::Yes);
  EXPECT_EQ(States.observed("fresh").Registered, registered::No);
  EXPECT_EQ(States.observed("computed").Registered, registered::No);
  EXPECT_EQ(States.observed("perhaps the same").Registered,
            registered::Yes | registered::No);
  EXPECT_EQ(States.observed("by a function").Registered, registered::No);
  EXPECT_EQ(States.observed("by a layer").Registered, registered::No);
  EXPECT_NE(States.observed("perhaps in place").Registered, registered::No);
}

} // namespace

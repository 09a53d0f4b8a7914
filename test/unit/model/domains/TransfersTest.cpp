// What the domains answer together: what a library function or a module whose
// code is not seen returns, what a write leaves, what a part has of a whole.
#include "model/domains/Transfers.h"
#include "model/Model.h"

using namespace torchtidy::model;
using namespace torchtidy::test;

namespace {

struct Transfers : ModelTest<Transfers> {
  static const char Code[];
};

const char Transfers::Code[] = R"cpp(
#include <tuple>
#include <utility>
#include <vector>
using torch::Tensor;
namespace nn = torch::nn;

void library(nn::Linear &net, Tensor x) {
  Tensor host = torch::zeros({2}).to(torch::kCPU);
  std::vector<Tensor> two = {host, host};
  observe("gradient of host tensors",
          torch::autograd::grad({host.sum()}, {host}).front());
  observe("layer on the host", net(host));
  observe("layer on a leaf", net(torch::zeros({2}, torch::requires_grad())));
}
void writes(Tensor x) {
  Tensor fresh = torch::zeros({2});
  Tensor leaf = torch::ones({2}, torch::requires_grad());
  fresh.add_(leaf * 2);
  observe("written as a whole", fresh);
  observe("temporary that was filled", torch::ones({2}).add_(leaf * 2));
  {
    torch::NoGradGuard guard;
    leaf.add_(1);
  }
  observe("leaf that was written", leaf);
  Tensor rows = torch::zeros({2, 2});
  rows[0].copy_(leaf * 2);
  observe("written in part", rows);
}
void change(Tensor &x);
void look(const Tensor &x);
void foreign() {
  Tensor x = torch::zeros({2, 3}), y = torch::zeros({2, 3});
  change(x);
  look(y);
  observe("perhaps another", x);
  observe("looked at", y);
}
std::pair<Tensor, Tensor> make(Tensor x);
void parts(bool again, Tensor x) {
  auto both = std::make_pair(x * 2, x.detach());
  if (again)
    both.first = torch::zeros({2});
  observe("part of one that is stored in parts", both.first);
  observe("other part", both.second);
}
struct Inner : nn::Module {
  Inner() { w = register_parameter("w", torch::zeros({2})); }
  Tensor w, mask;
};
struct Outer : nn::Module {
  Outer() : inner(register_module("inner", std::make_shared<Inner>())) {}
  std::shared_ptr<Inner> inner;
};
void modes(Outer &net) {
  net.eval();
  observe("mode of a parameter", net.inner->w);
  observe("member of a registered module", net.inner->mask);
}
)cpp";

TEST_F(Transfers, WhatCodeThatIsNotSeenMayHaveChanged) {
  Entry W = entry("foreign");
  const Value &Seen = W.observed("looked at");
  EXPECT_EQ(Seen.History, history::None);
  EXPECT_TRUE(Seen.isOnCpu());
  EXPECT_EQ(Seen.InShape.rank(), 2u);
  EXPECT_EQ(Seen.InLayout.get(), Layout::Contiguous);
  EXPECT_TRUE(Seen.Scalar.get().has_value());
  EXPECT_FALSE(Seen.Share & share::Unknown);
  const Value &Given = W.observed("perhaps another");
  EXPECT_TRUE(Given.History & history::Unknown);
  EXPECT_FALSE(Given.isOnCpu());
  EXPECT_EQ(Given.InShape.rank(), std::nullopt);
  EXPECT_EQ(Given.InLayout.get(), std::nullopt);
  EXPECT_EQ(Given.OfType.get(), std::nullopt);
  EXPECT_EQ(Given.Scalar.get(), std::nullopt);
  EXPECT_TRUE(Given.Share & share::Unknown);
}

TEST_F(Transfers, EachDomainHasOneRow) {
  std::vector<std::string> Names;
  for (const DomainTransfer &Domain : domainTransfers()) {
    Names.push_back(Domain.Name.str());
    EXPECT_TRUE(Domain.Initial || Domain.Part || Domain.Loaded ||
                Domain.Operation || Domain.Call || Domain.Write)
        << Domain.Name.str() << " answers nothing";
  }
  EXPECT_EQ(Names,
            (std::vector<std::string>{"modes", "shape", "device", "extent",
                                      "attributes", "registration", "history",
                                      "aliases", "loans", "saved", "scale"}));
}

TEST_F(Transfers, CallsKeepWhatTheirArgumentsSay) {
  const Entry Library = entry("library");
  EXPECT_EQ(Library.observed("layer on the host").OnDevice.get(), Device::CPU);
  EXPECT_TRUE(Library.observed("layer on the host").mayHaveGraph());
  // A module may compute in a type of its own, a function may not.
  EXPECT_TRUE(Library.observed("layer on the host").OfType.isEmpty());
  EXPECT_EQ(Library.observed("layer on a leaf").History, history::Graph);
}

TEST_F(Transfers, WritesAddTheirHistory) {
  const Entry Writes = entry("writes");
  EXPECT_EQ(Writes.observed("written as a whole").History, history::Graph);
  EXPECT_EQ(Writes.observed("temporary that was filled").History,
            history::Graph);
  EXPECT_FALSE(Writes.observed("temporary that was filled").Origins.empty());
  EXPECT_EQ(Writes.observed("leaf that was written").History, history::Leaf);
  EXPECT_EQ(Writes.observed("written in part").History,
            history::None | history::Graph);
}

TEST_F(Transfers, PartsHaveWhatTheWholeSaysOfThem) {
  const Entry Parts = entry("parts");
  EXPECT_FALSE(Parts.observed("other part").mayHaveGraph());
  const Entry Modes = entry("modes");
  EXPECT_EQ(Modes.observed("mode of a parameter").Mode, 0);
  EXPECT_EQ(Modes.observed("mode of a parameter").Registered, registered::Yes);
  EXPECT_EQ(Modes.observed("member of a registered module").Registered, 0);
}

} // namespace

// Objects that keep themselves alive. The tests of torch-reference-cycle
// (test/checks) have more programs.
#include "memory/ReferenceCycle.h"
#include "model/Model.h"
#include "clang/AST/ExprCXX.h"

using namespace torchtidy::model;
using namespace torchtidy::test;

namespace {

struct ReferenceCycleTest : ModelTest<ReferenceCycleTest> {
  static const char Code[];
  /// By the text of the sites.
  static std::vector<ReferenceCycle> at(llvm::StringRef Beginning) {
    std::vector<ReferenceCycle> Result = findReferenceCycles(Shared->program());
    llvm::erase_if(Result, [&](const ReferenceCycle &Found) {
      return !llvm::StringRef(Shared->program().text(Found.Site))
                  .starts_with(Beginning);
    });
    return Result;
  }
};

const char ReferenceCycleTest::Code[] = R"cpp(
using torch::Tensor;

void hooks(const Tensor &x, torch::nn::Linear net) {
  Tensor y = x * 2;
  y.register_hook([y](Tensor grad) { return grad * y; });
  Tensor z = x * 3;
  z.register_hook([y](Tensor grad) { return grad * y; });
  net->weight.register_hook([net](Tensor grad) { return grad; });
}
struct Whole;
struct Part {
  std::shared_ptr<Whole> whole;
};
struct Whole {
  std::shared_ptr<Part> part;
  std::function<void()> call;
  Tensor value;
  void add_call(const std::function<void()> &f) { calls.push_back(f); }
  std::vector<std::function<void()>> calls;
};
void methods(std::shared_ptr<Whole> c, std::shared_ptr<Whole> d) {
  c->add_call([c] {});
  c->add_call([d] {});
}
void owners(std::shared_ptr<Whole> a, std::shared_ptr<Whole> b) {
  b->part->whole = a;
  b->call = [a] {};
  a->part->whole = a;
  a->call = [a] {};
}
)cpp";

} // namespace

TEST_F(ReferenceCycleTest, Hooks) {
  const std::vector<ReferenceCycle> Found = at("y.register_hook");
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_EQ(Found[0].Of, ReferenceCycle::Hook);
  EXPECT_TRUE(Found[0].IsTensor);
  EXPECT_EQ(Found[0].Owner->getName(), "y");
  EXPECT_TRUE(Found[0].Maker);
  const std::vector<ReferenceCycle> Module = at("net->weight");
  ASSERT_EQ(Module.size(), 1u);
  EXPECT_FALSE(Module[0].IsTensor);
  EXPECT_EQ(Module[0].Owner->getName(), "net");
}

TEST_F(ReferenceCycleTest, Members) {
  const std::vector<ReferenceCycle> Part = at("a->part->whole");
  ASSERT_EQ(Part.size(), 1u);
  EXPECT_EQ(Part[0].Of, ReferenceCycle::Part);
  EXPECT_EQ(Part[0].Member->getName(), "whole");
  const std::vector<ReferenceCycle> Callback = at("a->call");
  ASSERT_EQ(Callback.size(), 1u);
  EXPECT_EQ(Callback[0].Of, ReferenceCycle::Callback);
  EXPECT_EQ(Callback[0].Member->getName(), "call");
}

TEST_F(ReferenceCycleTest, OfAnotherObject) {
  for (const char *Site : {"z.register_hook", "b->part", "b->call"})
    EXPECT_TRUE(at(Site).empty()) << Site;
}

TEST_F(ReferenceCycleTest, Methods) {
  EXPECT_EQ(at("c->add_call([c]").size(), 1u);
  EXPECT_EQ(at("c->add_call([d]").size(), 0u);
}

// Modules that one network has twice. The tests of torch-unregistered-module
// (test/checks) have more programs.
#include "queries/modules/RegisteredInTwo.h"
#include "model/Model.h"

using namespace torchtidy::model;
using namespace torchtidy::test;

namespace {

struct RegisteredInTwoTest : ModelTest<RegisteredInTwoTest> {
  static const char Code[];
  static std::vector<RegisteredInTwo> ask(llvm::StringRef Root) {
    return entry(Root).of(registeredInTwo(Shared->program()));
  }
};

const char RegisteredInTwoTest::Code[] = R"cpp(
using torch::nn::Linear;
using torch::nn::Sequential;
struct Net : torch::nn::Module {
  void listed(int n) {
    Linear first = register_module("first", Linear(2, 2));
    list->push_back(first);
    for (int i = 0; i < n; ++i)
      list->push_back(register_module("layer" + std::to_string(i), Linear(2, 2)));
    register_module("list", list);
  }
  void twice() {
    Linear one(2, 2);
    register_module("a", one);
    register_module("b", one);
  }
  void loose(int n) {
    for (int i = 0; i < n; ++i)
      list->push_back(register_module("layer" + std::to_string(i), Linear(2, 2)));
  }
  void elements(std::vector<Linear> &all, int n) {
    for (int i = 0; i < n; ++i)
      register_module("layer" + std::to_string(i), all[i]);
    for (int i = 0; i < n; ++i)
      list->push_back(all[n - i]);
    register_module("list", list);
  }
  Sequential list;
};
)cpp";

} // namespace

TEST_F(RegisteredInTwoTest, InAListThatIsRegistered) {
  const auto Found = ask("Net::listed");
  ASSERT_EQ(Found.size(), 1u) << "one list, one finding";
  ASSERT_TRUE(Found[0].Joins);
  EXPECT_NE(Found[0].First->Site, Found[0].Again->Site);
  EXPECT_EQ(Found[0].AsWell.size(), 1u);
}

TEST_F(RegisteredInTwoTest, UnderTwoNames) {
  const auto Found = ask("Net::twice");
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_FALSE(Found[0].Joins);
  EXPECT_TRUE(Found[0].AsWell.empty());
}

TEST_F(RegisteredInTwoTest, NothingInCommon) {
  EXPECT_TRUE(ask("Net::loose").empty());
  EXPECT_TRUE(ask("Net::elements").empty());
}

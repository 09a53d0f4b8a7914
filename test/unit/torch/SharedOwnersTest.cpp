// What keeps objects alive.
#include "torch/SharedOwners.h"
#include "torch/Functions.h"

using namespace torchtidy;
using namespace torchtidy::test;

namespace {

using Names = std::vector<std::string>;

struct SharedOwners : testing::Test {
  static void SetUpTestSuite() {
    Shared = std::make_unique<Calls>(
        R"cpp(
#include <chrono>
#include <functional>
template <class T> T of();
std::shared_ptr<int> shared; std::vector<int> list;
struct Batch { torch::Tensor data; };
struct Trainer { std::unique_ptr<torch::optim::Adam> adam; };
struct Agent : Trainer { int steps; };
struct Plain { std::shared_ptr<Plain> next; std::function<void()> call; };
struct Watch { std::string name; std::chrono::steady_clock::time_point start;
  std::vector<std::pair<int, double>> laps; void *events[2]; };
struct Named : Watch { const char *unit; enum Kind { A } kind; };
struct Hidden { ~Hidden(); struct Parts; std::unique_ptr<Parts> parts; };
struct Base { virtual void run(); int steps; };
struct Borrows { int &steps; };
struct Calls { std::vector<std::function<void()>> all; };
struct Self : std::enable_shared_from_this<Self> {} self;
)cpp",
        Names{"shared.reset()",
              "list.clear()",
              "list.push_back(1)",
              "self.shared_from_this()",
              "of<std::shared_ptr<int>>()",
              "of<torch::nn::Linear>()",
              "of<std::unique_ptr<int>>()",
              "of<std::weak_ptr<int>>()",
              "of<int *>()",
              "of<torch::Tensor>()",
              "of<std::function<void()>>()",
              "of<Batch>()",
              "of<Plain>()",
              "of<std::vector<std::shared_ptr<Batch>>>()",
              "of<Agent *>()",
              "of<std::vector<Trainer>>()",
              "of<torch::optim::SGD>()",
              "of<Watch>()",
              "of<Named>()",
              "of<Hidden>()",
              "of<Base>()",
              "of<Borrows>()",
              "of<Calls>()"});
  }
  static void TearDownTestSuite() { Shared.reset(); }
  void SetUp() override { ASSERT_TRUE(Shared && Shared->isRead()); }
  static clang::QualType type(const std::string &Name) {
    return Shared->callee("of<" + Name + ">()")->getReturnType();
  }
  static inline std::unique_ptr<Calls> Shared;
};

} // namespace

TEST_F(SharedOwners, WhatOwns) {
  for (const char *Name : {"std::shared_ptr<int>", "torch::nn::Linear"})
    EXPECT_TRUE(torch::sharesOwnership(type(Name)) && torch::owns(type(Name)))
        << Name;
  for (const char *Name : {"std::unique_ptr<int>", "torch::Tensor"})
    EXPECT_TRUE(!torch::sharesOwnership(type(Name)) && torch::owns(type(Name)))
        << Name;
  for (const char *Name : {"std::weak_ptr<int>", "int *"})
    EXPECT_FALSE(torch::sharesOwnership(type(Name)) || torch::owns(type(Name)))
        << Name;
  EXPECT_TRUE(torch::holdsCallable(type("std::function<void()>")));
  EXPECT_TRUE(
      torch::isSharedFromThis(Shared->callee("self.shared_from_this()")));
  for (const char *Text : {"shared.reset()", "list.clear()"})
    EXPECT_TRUE(torch::letsGo(Shared->callee(Text))) << Text;
  EXPECT_FALSE(torch::letsGo(Shared->callee("list.push_back(1)")));
}

TEST_F(SharedOwners, WhatLeadsToTensors) {
  for (const char *Name : {"torch::Tensor", "torch::nn::Linear", "Batch",
                           "std::vector<std::shared_ptr<Batch>>"})
    EXPECT_TRUE(torch::leadsToTensor(type(Name))) << Name;
  for (const char *Name :
       {"std::shared_ptr<int>", "std::function<void()>", "Plain", "int *"})
    EXPECT_FALSE(torch::leadsToTensor(type(Name))) << Name;
}

TEST_F(SharedOwners, WhatLeadsToWhatIsTrained) {
  for (const char *Name : {"torch::nn::Linear", "torch::optim::SGD", "Agent *",
                           "std::vector<Trainer>"})
    EXPECT_TRUE(torch::leadsToTrained(type(Name))) << Name;
  for (const char *Name : {"torch::Tensor", "Batch", "Plain", "int *",
                           "std::vector<std::shared_ptr<Batch>>"})
    EXPECT_FALSE(torch::leadsToTrained(type(Name))) << Name;
}

TEST_F(SharedOwners, WhatHoldsPlainData) {
  for (const char *Name : {"Watch", "Named", "std::shared_ptr<int>"})
    EXPECT_TRUE(torch::holdsPlainData(type(Name))) << Name;
  for (const char *Name :
       {"torch::Tensor", "Batch", "Plain", "Hidden", "Base", "Borrows", "Calls",
        "int *", "std::function<void()>"})
    EXPECT_FALSE(torch::holdsPlainData(type(Name))) << Name;
}

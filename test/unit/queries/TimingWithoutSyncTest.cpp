// What the query finds, and what it does not. The tests of
// torch-timing-without-sync (test/checks) have more programs.
#include "transfer/TimingWithoutSync.h"
#include "model/Model.h"

using namespace torchtidy::model;
using namespace torchtidy::test;

namespace {

struct TimingWithoutSyncTest : ModelTest<TimingWithoutSyncTest> {
  static const char Code[];
  static std::vector<TimingWithoutSync> ask(llvm::StringRef Root) {
    return entry(Root).of(findTimingWithoutSync(Shared->program()));
  }
};

const char TimingWithoutSyncTest::Code[] = R"cpp(
#include <chrono>
using torch::Tensor;
using Clock = std::chrono::steady_clock;
void unseen();

long network(torch::nn::Linear &net, Tensor x) {
  x = x.cuda();
  auto start = Clock::now();
  net(x);
  x = x * 2;
  auto end = Clock::now();
  return (end - start).count();
}
long oneOfTwo(torch::nn::Linear &net, Tensor x) {
  x = x.cuda();
  auto start = Clock::now();
  net(x);
  x.sum().item();
  auto half = Clock::now();
  net(x);
  auto end = Clock::now();
  return (half - start).count() + (end - half).count();
}
// Quiet.
long read(torch::nn::Linear &net, Tensor x) {
  x = x.cuda();
  auto start = Clock::now();
  net(x).sum().item();
  return (Clock::now() - start).count();
}
long foreign(torch::nn::Linear &net, Tensor x) {
  x = x.cuda();
  auto start = Clock::now();
  net(x);
  unseen();
  return (Clock::now() - start).count();
}
long unknown(torch::nn::Linear &net, Tensor x) {
  auto start = Clock::now();
  net(x);
  return (Clock::now() - start).count();
}
void limited(torch::nn::Linear &net, Tensor x) {
  x = x.cuda();
  auto start = Clock::now();
  do
    net(x);
  while ((Clock::now() - start).count() < 1000);
}
)cpp";

} // namespace

TEST_F(TimingWithoutSyncTest, TheLastWork) {
  const std::vector<TimingWithoutSync> Found = ask("network");
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_NE(Found[0].Time.From, Found[0].Time.To);
  EXPECT_EQ(Found[0].Work->Is, Event::Compute);
}

TEST_F(TimingWithoutSyncTest, OneOfTwoTimes) {
  EXPECT_EQ(ask("oneOfTwo").size(), 1u);
}

TEST_F(TimingWithoutSyncTest, Quiet) {
  for (const char *Root : {"read", "foreign", "unknown", "limited"})
    EXPECT_TRUE(ask(Root).empty()) << Root;
}

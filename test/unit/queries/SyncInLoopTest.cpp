// What the query finds, and what it does not. The tests of torch-sync-in-loop
// (test/checks) have more programs.
#include "transfer/SyncInLoop.h"
#include "model/Model.h"

using namespace torchtidy::model;
using namespace torchtidy::test;

namespace {

struct SyncInLoopTest : ModelTest<SyncInLoopTest> {
  static const char Code[];
  static std::vector<SyncInLoop> ask(llvm::StringRef Root) {
    return entry(Root).of(findSyncInLoop(Shared->program()));
  }
};

const char SyncInLoopTest::Code[] = R"cpp(
using torch::Tensor;
using Batches = std::vector<Tensor>;
void needs(double);

void summed(torch::nn::Linear &net, const Batches &xs) {
  double sum = 0;
  for (const Tensor &x : xs) {
    Tensor loss = net(x.to(torch::kCUDA)).sum();
    loss.backward();
    sum += loss.item<double>();
  }
}
void several(torch::nn::Linear &net, const Batches &xs) {
  Batches losses;
  for (const Tensor &x : xs) {
    Tensor loss = net(x.to(torch::kCUDA)).sum();
    std::cout << loss;
    losses.push_back(loss.detach().cpu());
    loss.masked_select(loss > 0).sum().backward();
  }
}
void previewed(torch::nn::Linear &net, const Batches &xs, int64_t n) {
  double sum = 0;
  for (const Tensor &x : xs) {
    Tensor loss = net(x.to(torch::kCUDA)).sum();
    loss.backward();
    sum += loss.item<double>();
    if (x.dim() == 3)
      for (int64_t i = 0; i < n; ++i)
        needs(net(x.to(torch::kCUDA)).sum().item<double>());
  }
}
// Quiet.
void sometimes(torch::nn::Linear &net, const Batches &xs, bool b) {
  for (const Tensor &x : xs) {
    Tensor loss = net(x.to(torch::kCUDA)).sum();
    loss.backward();
    if (b)
      loss.item<double>();
  }
}
void needed(torch::nn::Linear &net, const Batches &xs) {
  for (const Tensor &x : xs) {
    Tensor loss = net(x.to(torch::kCUDA)).sum();
    loss.backward();
    needs(loss.item<double>());
  }
}
void evaluated(torch::nn::Linear &net, const Batches &xs) {
  for (const Tensor &x : xs)
    net(x.to(torch::kCUDA)).sum().item<double>();
}
void unknown(torch::nn::Linear &net, const Batches &xs) {
  for (const Tensor &x : xs) {
    Tensor loss = net(x).sum();
    loss.backward();
    loss.item<double>();
  }
}
void onCpu(torch::nn::Linear &net, const Batches &xs) {
  for (const Tensor &x : xs) {
    Tensor y = net(x).sum(), loss = torch::rand({2}).sum();
    y.backward();
    loss.item<double>();
  }
}
)cpp";

} // namespace

TEST_F(SyncInLoopTest, ALoopInsideThatFewIterationsComeTo) {
  const std::vector<SyncInLoop> Found = ask("previewed");
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_EQ(Found[0].Waits.size(), 1u);
}

TEST_F(SyncInLoopTest, ANumber) {
  const std::vector<SyncInLoop> Found = ask("summed");
  ASSERT_EQ(Found.size(), 1u);
  ASSERT_EQ(Found[0].Waits.size(), 1u);
  EXPECT_EQ(Found[0].Waits[0].How, SyncInLoop::Number);
}

TEST_F(SyncInLoopTest, OneFactForALoop) {
  const std::vector<SyncInLoop> Found = ask("several");
  ASSERT_EQ(Found.size(), 1u);
  ASSERT_EQ(Found[0].Waits.size(), 3u);
  EXPECT_EQ(Found[0].Waits[0].How, SyncInLoop::Text);
  EXPECT_EQ(Found[0].Waits[1].How, SyncInLoop::Copy);
  EXPECT_EQ(Found[0].Waits[2].How, SyncInLoop::Shape);
}

TEST_F(SyncInLoopTest, Quiet) {
  for (const char *Root :
       {"sometimes", "needed", "evaluated", "unknown", "onCpu"})
    EXPECT_TRUE(ask(Root).empty()) << Root;
}

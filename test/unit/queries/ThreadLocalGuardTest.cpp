// Forward passes in threads that a guard does not hold for. The tests of
// torch-thread-local-guard (test/checks) have more programs.
#include "autograd/ThreadLocalGuard.h"
#include "model/Model.h"

using namespace torchtidy::model;
using namespace torchtidy::test;

namespace {

struct ThreadLocalGuardTest : ModelTest<ThreadLocalGuardTest> {
  static const char Code[];
  static std::vector<UnguardedThread> ask(llvm::StringRef Root) {
    return entry(Root).of(threadLocalGuards(Shared->program()));
  }
};

const char ThreadLocalGuardTest::Code[] = R"cpp(
#include <functional>
#include <future>
#include <thread>
using torch::Tensor;
using torch::nn::Linear;

static Tensor predict(Linear &net, const Tensor &x) { return net->forward(x); }

void started(Linear net, Tensor x) {
  torch::NoGradGuard guard;
  predict(net, x);
  std::thread worker([&] { predict(net, x); });
  worker.join();
}
void inferring(Linear net, Tensor x) {
  torch::NoGradGuard outer;
  c10::InferenceMode guard;
  std::async(std::launch::async, [&] { net->forward(x); });
}
void nested(Linear net, Tensor x) {
  torch::NoGradGuard outer;
  std::thread first([&] {
    torch::NoGradGuard inner;
    std::thread second([&] { net->forward(x); });
    second.join();
  });
  first.join();
}
void own(Linear net, Tensor x) {
  torch::NoGradGuard guard;
  std::thread worker([&] {
    torch::NoGradGuard own;
    net->forward(x);
  });
  worker.join();
}
void onSomePath(Linear net, Tensor x, bool quiet) {
  torch::NoGradGuard guard;
  std::thread worker([&] {
    if (quiet)
      torch::GradMode::set_enabled(false);
    net->forward(x);
  });
  worker.join();
}
struct Pool {
  Pool() { thread = std::thread([this] { task(); }); }
  void submit(std::function<void()> given) { task = given; }
  std::thread thread;
  std::function<void()> task;
};
void task(Linear net, Tensor x) {
  Pool pool;
  torch::NoGradGuard guard;
  pool.submit([&] { net->forward(x); });
}
struct OtherPool {
  OtherPool() { thread = std::thread([this] { task(); }); }
  void submit(std::function<void()> given) { task = given; }
  std::thread thread;
  std::function<void()> task;
};
void taskOfBoth(Linear net, Tensor x) {
  OtherPool pool;
  auto work = [&] { net->forward(x); };
  pool.submit(work);
  torch::NoGradGuard guard;
  pool.submit(work);
}
static void once(Linear net, Tensor x) {
  static torch::NoGradGuard guard;
  net->forward(x);
}
void twice(Linear net, Tensor x) {
  std::thread first(once, net, x), second(once, net, x);
  first.join(), second.join();
}
static void onceAgain(Linear net, Tensor x) {
  static torch::NoGradGuard guard;
  net->forward(x);
}
void thrice(Linear net, Tensor x) {
  for (int i = 0; i < 1; ++i)
    std::thread(onceAgain, net, x).detach();
}
)cpp";

} // namespace

TEST_F(ThreadLocalGuardTest, SpeaksOfTheCallThatTheThreadMakes) {
  const auto Found = ask("started");
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_EQ(Found[0].Is, UnguardedThread::Started);
  EXPECT_NE(Found[0].Site, Found[0].Forward->Site);
  EXPECT_TRUE(Found[0].In->IsThread);
  ASSERT_NE(Found[0].Guard, nullptr);
  EXPECT_EQ(Found[0].Guard->Mode, mode::Off);
  EXPECT_NE(Found[0].GuardScope, nullptr);
}

TEST_F(ThreadLocalGuardTest, NamesTheGuardThatIsInForce) {
  const auto Found = ask("inferring");
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_TRUE(Found[0].Guard->Mode & mode::Inference);
}

TEST_F(ThreadLocalGuardTest, AsksTheThreadThatStartsIt) {
  const auto Found = ask("nested");
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_TRUE(Found[0].Guard->In->IsThread);
}

TEST_F(ThreadLocalGuardTest, IsQuietWhereTheThreadSetsItsMode) {
  EXPECT_TRUE(ask("own").empty());
  EXPECT_TRUE(ask("onSomePath").empty());
}

TEST_F(ThreadLocalGuardTest, FollowsTasksToWhoHandsThemOut) {
  const auto Found = ask("task");
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_EQ(Found[0].Is, UnguardedThread::Task);
  EXPECT_FALSE(Found[0].In->IsThread);
  EXPECT_TRUE(ask("taskOfBoth").empty());
}

TEST_F(ThreadLocalGuardTest, CountsTheThreadsOfAStaticGuard) {
  const auto Found = ask("twice");
  ASSERT_EQ(Found.size(), 2u);
  EXPECT_EQ(Found[0].Is, UnguardedThread::Static);
  EXPECT_EQ(Found[0].GuardScope, nullptr);
  EXPECT_TRUE(ask("thrice").empty());
}

// Grad mode at each point of the program, from guards here and in callers.
#include "model/Model.h"

using namespace torchtidy::model;
using namespace torchtidy::test;

namespace {

struct GradMode : ModelTest<GradMode> {
  static const char Code[];
};

const char GradMode::Code[] = R"cpp(
#include <future>
#include <thread>
using torch::Tensor;

void guard(Tensor x) {
  observe("before", x);
  {
    torch::NoGradGuard no_grad;
    observe("inside", x);
    { torch::NoGradGuard again; }
    observe("still inside", x);
  }
  observe("behind", x);
}

void modes(Tensor x) {
  at::AutoGradMode off(false);
  observe("off", x);
  {
    at::AutoGradMode on(true);
    observe("on", x);
  }
  observe("off again", x);
}

void unknownMode(bool train, Tensor x) {
  at::AutoGradMode mode(train);
  observe("either", x);
}

void inference(Tensor x) {
  c10::InferenceMode guard;
  observe("inference", x);
  torch::AutoGradMode on(true);
  observe("inference stays", x);
  c10::InferenceMode no_inference(false);
  observe("inference left", x);
}

void noInference(Tensor x) {
  c10::InferenceMode guard(false);
  observe("no inference", x);
}

void late(bool evaluate, Tensor x) {
  {
    std::optional<torch::NoGradGuard> guard;
    if (evaluate)
      guard.emplace();
    observe("late", x);
  }
  observe("behind late", x);
}

void heap(Tensor x) {
  auto guard = std::make_unique<torch::NoGradGuard>();
  observe("heap", x);
  guard.reset();
  observe("reset", x);
}

void temporary(Tensor x) {
  torch::NoGradGuard();
  observe("temporary", x);
}

void enabled(Tensor x) {
  torch::GradMode::set_enabled(false);
  observe("disabled", x);
  torch::GradMode::set_enabled(true);
  observe("enabled", x);
}

struct Evaluating { torch::NoGradGuard guard; };
struct Scoped {
  explicit Scoped(bool train) : mode(train) {}
  at::AutoGradMode mode;
};

void ownGuards(Tensor x) {
  {
    Evaluating evaluating;
    observe("own guard", x);
  }
  {
    Scoped scoped(false);
    observe("own mode", x);
  }
  observe("behind own", x);
}

void called(Tensor x) { observe("called", x); }
void guardedCaller(Tensor x) { torch::NoGradGuard no_grad; called(x); }
void plainCaller(Tensor x) { called(x); }

void guardedCallee(Tensor x) { torch::NoGradGuard no_grad; observe("callee", x); }
void callsGuarded(Tensor x) { guardedCallee(x); observe("after call", x); }

void leaves(bool a, bool b, Tensor x) {
  for (int i = 0; i < 3; ++i) {
    torch::NoGradGuard no_grad;
    if (a)
      break;
    if (b)
      continue;
    observe("in loop", x);
  }
  observe("behind loop", x);
}

void returnsEarly(bool a, Tensor x) {
  {
    torch::NoGradGuard no_grad;
    if (a)
      return;
  }
  observe("not returned", x);
}

void lambda(Tensor x) {
  torch::NoGradGuard no_grad;
  auto run = [&] { observe("in lambda", x); };
  run();
}

void worker(Tensor x) { observe("worker", x); }

int main() {
  Tensor x = torch::ones({2});
  observe("main", x);
  torch::NoGradGuard no_grad;
  std::thread thread(worker, x);
  observe("beside thread", x);
  std::thread other([&] { observe("thread lambda", x); });
  auto later = std::async(std::launch::async, [&] { observe("async", x); });
  observe("main guarded", x);
  thread.join();
  other.join();
}
)cpp";

constexpr unsigned Inherited = mode::Inherited, On = mode::On, Off = mode::Off;

} // namespace

TEST_F(GradMode, GuardHoldsToTheEndOfItsScope) {
  Way W = way("guard");
  EXPECT_EQ(W.gradMode("before"), Inherited) << "callers lie elsewhere";
  EXPECT_EQ(W.gradMode("inside"), Off);
  EXPECT_EQ(W.gradMode("still inside"), Off);
  EXPECT_EQ(W.gradMode("behind"), Inherited);
}

TEST_F(GradMode, AutoGradMode) {
  Way W = way("modes");
  EXPECT_EQ(W.gradMode("off"), Off);
  EXPECT_EQ(W.gradMode("on"), On);
  EXPECT_EQ(W.gradMode("off again"), Off);
  EXPECT_EQ(way("unknownMode").gradMode("either"), On | Off);
}

TEST_F(GradMode, InferenceMode) {
  EXPECT_EQ(way("inference").gradMode("inference"), Off | mode::Inference);
  EXPECT_TRUE(way("inference").gradMode("inference stays") & Off)
      << "an enabled grad mode records nothing in there";
  EXPECT_FALSE(way("inference").gradMode("inference stays") & On);
  EXPECT_EQ(way("inference").gradMode("inference left"), On);
  EXPECT_FALSE(way("noInference").gradMode("no inference") & Off);
}

TEST_F(GradMode, GuardThatBeginsLateOrEndsEarly) {
  EXPECT_EQ(way("late").gradMode("late"), Inherited | Off);
  EXPECT_EQ(way("late").gradMode("behind late"), Inherited);
  EXPECT_EQ(way("heap").gradMode("heap"), Off);
  EXPECT_EQ(way("heap").gradMode("reset"), Inherited);
}

TEST_F(GradMode, TemporaryGuardsNothing) {
  EXPECT_EQ(way("temporary").gradMode("temporary"), Inherited);
}

TEST_F(GradMode, SetEnabled) {
  EXPECT_EQ(way("enabled").gradMode("disabled"), Off);
  EXPECT_EQ(way("enabled").gradMode("enabled"), On);
}

TEST_F(GradMode, GuardsOfTheUser) {
  Way W = way("ownGuards");
  EXPECT_EQ(W.gradMode("own guard"), Off);
  EXPECT_EQ(W.gradMode("own mode"), On | Off)
      << "the argument of a constructor is not followed";
  EXPECT_EQ(W.gradMode("behind own"), Inherited);
}

TEST_F(GradMode, GuardOfTheCaller) {
  EXPECT_EQ(way("guardedCaller").gradMode("called"), Off);
  EXPECT_EQ(way("plainCaller").gradMode("called"), Inherited);
  EXPECT_EQ(way("lambda").gradMode("in lambda"), Off);
}

TEST_F(GradMode, GuardOfACalleeEndsWithIt) {
  EXPECT_EQ(way("callsGuarded").gradMode("callee"), Off);
  EXPECT_EQ(way("callsGuarded").gradMode("after call"), Inherited);
}

TEST_F(GradMode, AllWaysOutOfAScopeEndTheGuard) {
  EXPECT_EQ(way("leaves").gradMode("in loop"), Off);
  EXPECT_EQ(way("leaves").gradMode("behind loop"), Inherited);
  EXPECT_EQ(way("returnsEarly").gradMode("not returned"), Inherited);
}

TEST_F(GradMode, MainBeginsWithIt) {
  EXPECT_EQ(way("main").gradMode("main"), On);
}

TEST_F(GradMode, ThreadsBeginWithIt) {
  Way W = way("main");
  EXPECT_EQ(W.gradMode("worker"), On);
  EXPECT_EQ(W.gradMode("thread lambda"), On);
  EXPECT_EQ(W.gradMode("async"), On);
  EXPECT_EQ(W.gradMode("beside thread"), Off);
  EXPECT_EQ(W.gradMode("main guarded"), Off);
}

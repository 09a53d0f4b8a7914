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

void made(Tensor x) {
  {
    auto off = std::make_unique<at::AutoGradMode>(false);
    observe("made unique", x);
  }
  {
    auto guard = std::make_shared<c10::InferenceMode>();
    at::AutoGradMode on(true);
    observe("made shared", x);
  }
  std::optional<at::AutoGradMode> off;
  off.emplace(false);
  observe("emplaced", x);
  off.reset();
  observe("emplaced is over", x);
  std::unique_ptr<torch::NoGradGuard> guard;
  guard.reset(new torch::NoGradGuard);
  observe("reset to", x);
  guard.reset();
  observe("reset", x);
}

void setInInference(Tensor x) {
  {
    c10::InferenceMode guard;
    torch::GradMode::set_enabled(true);
    observe("set in inference", x);
  }
  torch::GradMode::set_enabled(true);
  observe("set behind", x);
}

void enabled(Tensor x) {
  torch::GradMode::set_enabled(false);
  observe("disabled", x);
  torch::GradMode::set_enabled(true);
  observe("enabled", x);
}

void off() { torch::GradMode::set_enabled(false); }
void set(bool on) { torch::GradMode::set_enabled(on); }
void setBoth(bool first, bool second) { set(first); set(second); }
bool turnOff() {
  const bool before = torch::GradMode::is_enabled();
  torch::GradMode::set_enabled(false);
  return before;
}
void byHelper(bool either, Tensor x) {
  off();
  observe("helper off", x);
  set(true);
  observe("helper on", x);
  setBoth(true, false);
  observe("last of both", x);
  if (either)
    set(true);
  observe("joined", x);
  set(true);
  observe("joined on", x);
  set(either);
  observe("any", x);
}
void restoredByCaller(Tensor x) {
  const bool before = turnOff();
  observe("turned off", x);
  torch::GradMode::set_enabled(before);
  observe("as before", x);
  torch::GradMode::set_enabled(false);
  const bool none = torch::GradMode::is_enabled();
  set(true);
  set(none);
  observe("none again", x);
}
struct Saved {
  Saved() : before(at::GradMode::is_enabled()) { off(); }
  ~Saved() { set(before); }
  bool before;
};
void savedByObject(Tensor x) {
  torch::GradMode::set_enabled(true);
  {
    Saved saved;
    observe("saved", x);
  }
  observe("object is over", x);
  bool before = torch::GradMode::is_enabled();
  auto holds = [before] { return before; };
  struct Holder { bool mode; } holder{before};
  {
    auto copied = holds;
    Holder other = holder;
    off();
  }
  observe("only kept", x);
  torch::AutoGradMode guard(before);
  observe("guard from saved", x);
}
void spoilt(bool given, Tensor x) {
  torch::GradMode::set_enabled(true);
  bool before = torch::GradMode::is_enabled();
  if (given)
    before = false;
  torch::GradMode::set_enabled(before);
  observe("spoilt", x);
  torch::GradMode::set_enabled(true);
  torch::GradMode::set_enabled(!torch::GradMode::is_enabled());
  observe("negated", x);
}
void state(Tensor x) {
  auto &now = c10::AutogradState::get_tls_state();
  const bool before = now.get_grad_mode();
  now.set_grad_mode(false);
  observe("state off", x);
  now.set_grad_mode(before);
  observe("state as before", x);
}
void mayBeInInference(bool fast, Tensor x) {
  std::optional<c10::InferenceMode> guard;
  if (fast)
    guard.emplace();
  torch::GradMode::set_enabled(true);
  observe("unless in inference", x);
}
int leavesOff(bool early, Tensor x) {
  torch::GradMode::set_enabled(false);
  if (early)
    return 1;
  torch::GradMode::set_enabled(true);
  return 2;
}
void afterReturns(bool early, Tensor x) {
  torch::GradMode::set_enabled(true);
  leavesOff(early, x);
  observe("either return", x);
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

TEST_F(GradMode, HoweverTheGuardIsMade) {
  const Entry W = entry("made");
  EXPECT_EQ(W.gradMode("made unique"), mode::Off);
  EXPECT_EQ(W.gradMode("made shared"), mode::Off | mode::Inference);
  EXPECT_EQ(W.gradMode("emplaced"), mode::Off);
  EXPECT_EQ(W.gradMode("emplaced is over"), mode::Inherited);
  EXPECT_EQ(W.gradMode("reset to"), mode::Off);
  EXPECT_EQ(W.gradMode("reset"), mode::Inherited);
}

TEST_F(GradMode, SetEnabledDoesNotLeaveInferenceMode) {
  const Entry W = entry("setInInference");
  EXPECT_EQ(W.gradMode("set in inference"), mode::Off | mode::Inference);
  EXPECT_EQ(W.gradMode("set behind"), mode::On);
}

TEST_F(GradMode, GuardHoldsToTheEndOfItsScope) {
  Entry W = entry("guard");
  EXPECT_EQ(W.gradMode("before"), Inherited) << "callers lie elsewhere";
  EXPECT_EQ(W.gradMode("inside"), Off);
  EXPECT_EQ(W.gradMode("still inside"), Off);
  EXPECT_EQ(W.gradMode("behind"), Inherited);
}

TEST_F(GradMode, AutoGradMode) {
  Entry W = entry("modes");
  EXPECT_EQ(W.gradMode("off"), Off);
  EXPECT_EQ(W.gradMode("on"), On);
  EXPECT_EQ(W.gradMode("off again"), Off);
  EXPECT_EQ(entry("unknownMode").gradMode("either"), On | Off);
}

TEST_F(GradMode, InferenceMode) {
  EXPECT_EQ(entry("inference").gradMode("inference"), Off | mode::Inference);
  EXPECT_TRUE(entry("inference").gradMode("inference stays") & Off)
      << "an enabled grad mode records nothing in there";
  EXPECT_FALSE(entry("inference").gradMode("inference stays") & On);
  EXPECT_EQ(entry("inference").gradMode("inference left"), On);
  EXPECT_FALSE(entry("noInference").gradMode("no inference") & Off);
}

TEST_F(GradMode, GuardThatBeginsLateOrEndsEarly) {
  EXPECT_EQ(entry("late").gradMode("late"), Inherited | Off);
  EXPECT_EQ(entry("late").gradMode("behind late"), Inherited);
  EXPECT_EQ(entry("heap").gradMode("heap"), Off);
  EXPECT_EQ(entry("heap").gradMode("reset"), Inherited);
}

TEST_F(GradMode, TemporaryGuardsNothing) {
  EXPECT_EQ(entry("temporary").gradMode("temporary"), Inherited);
}

TEST_F(GradMode, SetEnabled) {
  EXPECT_EQ(entry("enabled").gradMode("disabled"), Off);
  EXPECT_EQ(entry("enabled").gradMode("enabled"), On);
}

TEST_F(GradMode, SetByAHelper) {
  const Entry W = entry("byHelper");
  EXPECT_EQ(W.gradMode("helper off"), Off);
  EXPECT_EQ(W.gradMode("helper on"), On) << "the caller passes a constant";
  EXPECT_EQ(W.gradMode("last of both"), Off);
  EXPECT_EQ(W.gradMode("joined"), On | Off);
  EXPECT_EQ(W.gradMode("joined on"), On);
  EXPECT_EQ(W.gradMode("any"), On | Off);
  EXPECT_EQ(entry("afterReturns").gradMode("either return"), On | Off);
}

TEST_F(GradMode, RestoredFromABool) {
  const Entry W = entry("restoredByCaller");
  EXPECT_EQ(W.gradMode("turned off"), Off);
  EXPECT_EQ(W.gradMode("as before"), Inherited);
  EXPECT_EQ(W.gradMode("none again"), Off);
  const Entry Object = entry("savedByObject");
  EXPECT_EQ(Object.gradMode("saved"), Off);
  EXPECT_EQ(Object.gradMode("object is over"), On);
  EXPECT_EQ(Object.gradMode("only kept"), Off)
      << "a bool that ends restores nothing";
  EXPECT_EQ(Object.gradMode("guard from saved"), On);
  EXPECT_EQ(entry("spoilt").gradMode("spoilt"), On | Off);
  EXPECT_EQ(entry("spoilt").gradMode("negated"), On | Off);
}

TEST_F(GradMode, SetInTheStateOfAutograd) {
  EXPECT_EQ(entry("state").gradMode("state off"), Off);
  EXPECT_EQ(entry("state").gradMode("state as before"), Inherited);
}

TEST_F(GradMode, SetWhereInferenceModeMayBeInForce) {
  EXPECT_EQ(entry("mayBeInInference").gradMode("unless in inference"),
            On | Off | mode::Inference);
}

TEST_F(GradMode, GuardsOfTheUser) {
  Entry W = entry("ownGuards");
  EXPECT_EQ(W.gradMode("own guard"), Off);
  EXPECT_EQ(W.gradMode("own mode"), Off) << "Scoped scoped(false)";
  EXPECT_EQ(W.gradMode("behind own"), Inherited);
}

TEST_F(GradMode, GuardOfTheCaller) {
  EXPECT_EQ(entry("guardedCaller").gradMode("called"), Off);
  EXPECT_EQ(entry("plainCaller").gradMode("called"), Inherited);
  EXPECT_EQ(entry("lambda").gradMode("in lambda"), Off);
}

TEST_F(GradMode, GuardOfACalleeEndsWithIt) {
  EXPECT_EQ(entry("callsGuarded").gradMode("callee"), Off);
  EXPECT_EQ(entry("callsGuarded").gradMode("after call"), Inherited);
}

TEST_F(GradMode, AllWaysOutOfAScopeEndTheGuard) {
  EXPECT_EQ(entry("leaves").gradMode("in loop"), Off);
  EXPECT_EQ(entry("leaves").gradMode("behind loop"), Inherited);
  EXPECT_EQ(entry("returnsEarly").gradMode("not returned"), Inherited);
}

TEST_F(GradMode, MainBeginsWithIt) {
  EXPECT_EQ(entry("main").gradMode("main"), On);
}

TEST_F(GradMode, ThreadsBeginWithIt) {
  Entry W = entry("main");
  EXPECT_EQ(W.gradMode("worker"), On);
  EXPECT_EQ(W.gradMode("thread lambda"), On);
  EXPECT_EQ(W.gradMode("async"), On);
  EXPECT_EQ(W.gradMode("beside thread"), Off);
  EXPECT_EQ(W.gradMode("main guarded"), Off);
}

// Guards that no function declares.
TEST(GlobalGuards, HoldForTheThreadThatMakesThem) {
  Model M(R"cpp(
#include <thread>
static thread_local torch::AutoGradMode ofEach(true);
namespace quiet {
static torch::NoGradGuard guard;
}
void elsewhere(torch::Tensor x) { observe("elsewhere", x); }
int main() {
  torch::Tensor x = torch::ones({2});
  observe("main", x);
  std::thread worker([&] { observe("worker", x); });
  worker.join();
}
)cpp");
  ASSERT_TRUE(M.isRead());
  EXPECT_EQ(M.entry("main").gradMode("main"), Off);
  EXPECT_EQ(M.entry("main").gradMode("worker"), On);
  EXPECT_EQ(M.entry("elsewhere").gradMode("elsewhere"), Inherited);
}

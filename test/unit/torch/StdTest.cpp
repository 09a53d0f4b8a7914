// What functions of the standard library mean, on its real headers.
#include "torch/Std.h"
#include "torch/Callbacks.h"
#include "torch/Functions.h"

using namespace clang;
using namespace torchtidy::torch;
using namespace torchtidy::test;

using Names = std::vector<std::string>;

namespace {

struct Case {
  const char *Call;
  StdMeaning Meaning;
};

const char Before[] = R"cpp(
#include <any>
#include <c10/core/thread_pool.h>
#include <deque>
#include <future>
#include <list>
#include <mutex>
#include <numeric>
#include <queue>
#include <stack>
extern torch::Tensor t, u;
extern std::vector<torch::Tensor> v, w;
extern std::deque<torch::Tensor> d;
extern std::stack<torch::Tensor> s;
extern std::queue<torch::Tensor> q;
extern std::map<int, torch::Tensor> m;
extern std::array<torch::Tensor, 3> a;
extern std::unique_ptr<torch::Tensor> p;
extern std::shared_ptr<torch::Tensor> sp;
extern std::weak_ptr<torch::Tensor> weak;
extern std::optional<torch::Tensor> o;
extern std::tuple<torch::Tensor, int> tuple;
extern std::vector<torch::Tensor>::iterator it;
extern std::thread thread;
extern std::once_flag once;
extern c10::List<torch::Tensor> list;
extern torch::OrderedDict<std::string, torch::Tensor> dict;
extern c10::optional<torch::Tensor> c10o;
void use(torch::Tensor &);
torch::Tensor map(torch::Tensor &);
)cpp";

const Case Cases[] = {
    {"std::move(t)", StdMeaning::Move},
    {"std::forward<torch::Tensor &>(t)", StdMeaning::Forward},
    {"std::ref(t)", StdMeaning::Same},
    {"std::cref(t)", StdMeaning::Same},
    {"std::as_const(t)", StdMeaning::Same},
    {"std::static_pointer_cast<torch::Tensor>(sp)", StdMeaning::Same},
    {"std::next(it)", StdMeaning::Same},
    {"++it", StdMeaning::Same},
    {"it--", StdMeaning::Same},
    {"std::make_shared<torch::Tensor>(t)", StdMeaning::Make},
    {"std::make_unique<torch::Tensor>(t)", StdMeaning::Make},
    {"std::make_tuple(t, 1)", StdMeaning::Tuple},
    {"std::make_pair(t, 1)", StdMeaning::Tuple},
    {"std::tie(t, u)", StdMeaning::Tie},
    {"std::forward_as_tuple(t, u)", StdMeaning::Tie},
    {"std::get<0>(tuple)", StdMeaning::Get},
    {"p.get()", StdMeaning::Get},
    {"*p", StdMeaning::Dereference},
    {"p->defined()", StdMeaning::Unknown}, // defined() is what is called
    {"p.operator->()", StdMeaning::Dereference},
    {"o.value()", StdMeaning::Dereference},
    {"c10o.value()", StdMeaning::Dereference},
    {"weak.lock()", StdMeaning::Dereference},
    {"v.begin()", StdMeaning::Iterator},
    {"v.cend()", StdMeaning::Iterator},
    {"v.rbegin()", StdMeaning::Iterator},
    {"m.find(1)", StdMeaning::Iterator},
    {"v.data()", StdMeaning::Iterator},
    {"v.at(0)", StdMeaning::Element},
    {"v[0]", StdMeaning::Element},
    {"m[0]", StdMeaning::Element},
    {"v.front()", StdMeaning::Element},
    {"s.top()", StdMeaning::Element},
    {"v.push_back(t)", StdMeaning::Append},
    {"v.emplace_back(t)", StdMeaning::Append},
    {"d.push_front(t)", StdMeaning::Append},
    {"d.emplace_front(t)", StdMeaning::Append},
    {"v.insert(it, t)", StdMeaning::Append},
    {"m.insert_or_assign(1, t)", StdMeaning::Append},
    {"m.emplace(1, t)", StdMeaning::Append},
    {"m.try_emplace(1, t)", StdMeaning::Append},
    {"q.push(t)", StdMeaning::Append},
    {"v.assign(3, t)", StdMeaning::Append},
    {"o.emplace(t)", StdMeaning::Append},
    {"list.push_back(t)", StdMeaning::Append},
    {"dict.insert(\"a\", t)", StdMeaning::Append},
    {"a.fill(t)", StdMeaning::Fill},
    {"std::fill(v.begin(), v.end(), t)", StdMeaning::Fill},
    {"std::fill_n(v.begin(), 2, t)", StdMeaning::Fill},
    {"v.clear()", StdMeaning::Clear},
    {"dict.clear()", StdMeaning::Clear},
    {"v.pop_back()", StdMeaning::Remove},
    {"d.pop_front()", StdMeaning::Remove},
    {"q.pop()", StdMeaning::Remove},
    {"v.erase(it)", StdMeaning::Remove},
    {"v.resize(2)", StdMeaning::Resize},
    {"m.extract(1)", StdMeaning::Extract},
    {"v.swap(w)", StdMeaning::Swap},
    {"std::swap(t, u)", StdMeaning::Swap},
    {"std::exchange(t, u)", StdMeaning::Exchange},
    {"p.reset()", StdMeaning::Reset},
    {"o.reset()", StdMeaning::Reset},
    {"v.reserve(8)", StdMeaning::Reserve},
    {"list.reserve(8)", StdMeaning::Reserve},
    {"p.release()", StdMeaning::GiveUp},
    {"thread.detach()", StdMeaning::Detach},
    {"std::for_each(v.begin(), v.end(), use)", StdMeaning::ForEach},
    {"std::transform(v.begin(), v.end(), v.begin(), map)",
     StdMeaning::Transform},
    {"v.size()", StdMeaning::Nothing},
    {"v.empty()", StdMeaning::Nothing},
    {"m.count(1)", StdMeaning::Nothing},
    {"v.capacity()", StdMeaning::Nothing},
    {"v.shrink_to_fit()", StdMeaning::Unknown},
    {"std::copy(v.begin(), v.end(), w.begin())", StdMeaning::Unknown},
    {"std::min(1, 2)", StdMeaning::Unknown},
    {"it == it", StdMeaning::Unknown},
    {"v = w", StdMeaning::Unknown},
};

std::vector<std::string> expressions() {
  std::vector<std::string> Result;
  for (const Case &C : Cases)
    Result.emplace_back(C.Call);
  return Result;
}

struct StdTest : testing::Test {
  static void SetUpTestSuite() {
    All = std::make_unique<Calls>(Before, expressions());
  }
  static void TearDownTestSuite() { All.reset(); }
  void SetUp() override { ASSERT_TRUE(All->isRead()); }

  static std::unique_ptr<Calls> All;
};
std::unique_ptr<Calls> StdTest::All;

} // namespace

TEST_F(StdTest, Meanings) {
  for (const Case &C : Cases)
    EXPECT_EQ(static_cast<int>(meaning(All->callee(C.Call))),
              static_cast<int>(C.Meaning))
        << C.Call;
  EXPECT_EQ(meaning(nullptr), StdMeaning::Unknown);
}

TEST_F(StdTest, MembersThatMoveElements) {
  EXPECT_EQ(All->those(reallocates),
            (Names{"v.push_back(t)", "v.emplace_back(t)", "v.insert(it, t)",
                   "m.emplace(1, t)", "v.assign(3, t)", "o.emplace(t)",
                   "list.push_back(t)", "dict.insert(\"a\", t)", "v.clear()",
                   "dict.clear()", "v.resize(2)", "v.shrink_to_fit()"}));
  EXPECT_FALSE(reallocates(nullptr));
}

TEST_F(StdTest, WaysIntoAContainer) {
  EXPECT_EQ(All->those(isBegin), (Names{"v.begin()"}));
  EXPECT_EQ(All->those(pointsIntoContainer), (Names{"v.begin()", "v.data()"}));
  EXPECT_FALSE(isBegin(nullptr));
  EXPECT_FALSE(pointsIntoContainer(nullptr));
}

TEST_F(StdTest, WhatIsKept) {
  EXPECT_EQ(All->those(keepsArgument),
            (Names{"v.push_back(t)", "v.emplace_back(t)", "v.insert(it, t)",
                   "m.emplace(1, t)", "o.emplace(t)", "list.push_back(t)",
                   "dict.insert(\"a\", t)"}));
  EXPECT_EQ(
      All->those(refersToArguments),
      (Names{"std::ref(t)", "std::tie(t, u)", "std::forward_as_tuple(t, u)"}));
  EXPECT_FALSE(keepsArgument(nullptr));
  EXPECT_FALSE(refersToArguments(nullptr));
}

TEST_F(StdTest, WhatIsConstructed) {
  EXPECT_EQ(All->those(constructsLast), (Names{"v.emplace_back(t)"}));
  EXPECT_EQ(All->those(makesByConstructor),
            (Names{"std::make_shared<torch::Tensor>(t)",
                   "std::make_unique<torch::Tensor>(t)"}));
  EXPECT_FALSE(constructsLast(nullptr));
  EXPECT_FALSE(makesByConstructor(nullptr));
}

TEST_F(StdTest, WaysToWhatIsThere) {
  EXPECT_EQ(
      All->those(appendsOneElement),
      (Names{"v.push_back(t)", "v.emplace_back(t)", "list.push_back(t)"}));
  EXPECT_EQ(All->those(onlyAccesses),
            (Names{"std::move(t)", "std::forward<torch::Tensor &>(t)",
                   "std::ref(t)", "std::cref(t)", "std::as_const(t)",
                   "std::tie(t, u)", "std::get<0>(tuple)", "p.get()",
                   "v.begin()", "v.cend()", "v.data()"}));
  EXPECT_EQ(All->those(accessesElement),
            (Names{"std::get<0>(tuple)", "p.get()", "o.value()", "c10o.value()",
                   "v.begin()", "v.data()", "v.at(0)", "v.front()"}));
  EXPECT_TRUE(All->those(callsOnce).empty());
}

TEST_F(StdTest, WhatIsWrittenOver) {
  EXPECT_EQ(All->those(writesElements),
            (Names{"v.swap(w)", "std::swap(t, u)",
                   "std::transform(v.begin(), v.end(), v.begin(), map)",
                   "std::copy(v.begin(), v.end(), w.begin())"}));
  EXPECT_EQ(All->those(replacesElements),
            (Names{"v.assign(3, t)", "v.clear()", "dict.clear()", "v.swap(w)",
                   "std::swap(t, u)"}));
}

TEST_F(StdTest, FunctionsThatOnlyCompute) {
  EXPECT_EQ(
      All->those(onlyComputes),
      (Names{"std::move(t)", "std::forward<torch::Tensor &>(t)",
             "std::make_tuple(t, 1)", "std::make_pair(t, 1)",
             "std::get<0>(tuple)", "p.get()", "std::min(1, 2)", "it == it"}));
  EXPECT_FALSE(onlyComputes(nullptr));
}

TEST(Callbacks, WhoCallsWhatItIsGiven) {
  struct Case {
    const char *Call;
    unsigned Position;
    bool Repeats, IsThread;
  };
  const Case Known[] = {
      {"std::for_each(v.begin(), v.end(), use)", 2, true, false},
      {"std::transform(v.begin(), v.end(), v.begin(), map)", 3, true, false},
      {"std::generate(v.begin(), v.end(), make)", 2, true, false},
      {"std::accumulate(v.begin(), v.end(), t, sum)", 3, true, false},
      {"at::parallel_for(0, 8, 1, part)", 3, true, false},
      {"std::call_once(once, run)", 1, false, false},
      {"std::invoke(use, t)", 0, false, false},
      {"at::launch(run)", 0, false, false},
      {"sgd.step(closure)", 0, false, false},
      {"std::async(run)", 0, false, true},
      {"std::async(std::launch::async, use, std::ref(t))", 1, false, true},
      {"pool.run(run)", 0, false, true},
  };
  const char *const Others[] = {"std::move(t)", "sgd.zero_grad()",
                                "scheduler.step()"};
  std::vector<std::string> Texts(std::begin(Others), std::end(Others));
  for (const Case &C : Known)
    Texts.emplace_back(C.Call);
  const Calls All(std::string(Before) + R"cpp(
    void run();
    torch::Tensor make();
    torch::Tensor sum(torch::Tensor, torch::Tensor &);
    void part(int64_t, int64_t);
    torch::Tensor closure();
    extern torch::optim::SGD sgd;
    extern torch::optim::StepLR scheduler;
    extern c10::ThreadPool pool;
  )cpp",
                  Texts);
  ASSERT_TRUE(All.isRead());
  auto Ask = [&](const char *Text) {
    const CallExpr *Call = All.call(Text);
    llvm::SmallVector<const Expr *, 4> Arguments(Call->arg_begin(),
                                                 Call->arg_end());
    return callbackOf(Call->getDirectCallee(), Arguments);
  };
  for (const Case &C : Known) {
    const std::optional<Callback> Found = Ask(C.Call);
    ASSERT_TRUE(Found) << C.Call;
    EXPECT_EQ(Found->Position, C.Position) << C.Call;
    EXPECT_EQ(Found->Repeats, C.Repeats) << C.Call;
    EXPECT_EQ(Found->IsThread, C.IsThread) << C.Call;
    // Compiled without OpenMP.
    EXPECT_FALSE(Found->IsSpread) << C.Call;
  }
  for (const char *Text : Others)
    EXPECT_FALSE(Ask(Text)) << Text;
  EXPECT_FALSE(callbackOf(nullptr, {}));
}

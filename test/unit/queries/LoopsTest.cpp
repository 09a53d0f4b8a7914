// What a loop writes into, what it runs in every iteration, and what can be
// written before it. LoopInvarianceTest has the expressions.
#include "queries/loops/Loops.h"
#include "model/Model.h"

using namespace clang;
using namespace torchtidy::model;
using namespace torchtidy::test;
using torchtidy::flow::Loop;

namespace {

struct Written : ModelTest<Written> {
  static const char Code[];
  /// Whether the loop writes into what it transfers.
  static bool written(llvm::StringRef Root) {
    const Entry W = entry(Root);
    std::vector<const TransferEvent *> Transfers = W.all<TransferEvent>();
    if (Transfers.size() != 1 || W->loopsAround(Transfers[0]->Point).empty()) {
      ADD_FAILURE() << Root.str() << " has no transfer in a loop, or several";
      return false;
    }
    const TransferEvent &E = *Transfers[0];
    return isWritten(*W, E.Source, E.Input, *W->loopsAround(E.Point).back());
  }
};

const char Written::Code[] = R"cpp(
using torch::Tensor;
using torch::nn::Linear;
using Tensors = std::vector<Tensor>;
void foreign(Tensor &t);
void reader(const Tensor &t) { t.sum(); }
void writer(Tensor t) { t.mul_(2); }

void never(Tensor w, torch::Device d, int n) {
  for (int i = 0; i < n; ++i) { w.to(d); w.sum(); reader(w); }
}
void before(Tensor w, torch::Device d, int n) {
  w.zero_();
  for (int i = 0; i < n; ++i) w.to(d);
  w.zero_();
}
void inPlace(Tensor w, torch::Device d, int n) {
  for (int i = 0; i < n; ++i) { w.to(d); w.add_(1); }
}
void byOperator(Tensor w, torch::Device d, int n) {
  for (int i = 0; i < n; ++i) { w.to(d); w *= 2; }
}
void byElement(Tensor w, torch::Device d, int n) {
  for (int i = 0; i < n; ++i) { w.to(d); w[i] = i; }
}
void rebound(Tensor w, torch::Device d, int n) {
  for (int i = 0; i < n; ++i) { w.to(d); w = w + 1; }
}
void byView(torch::Device d, int n) {
  Tensor w = torch::zeros({4, 4}), row = w[0];
  for (int i = 0; i < n; ++i) { w.to(d); row.fill_(i); }
}
void byHandle(torch::Device d, int n) {
  Tensor w = torch::zeros({4, 4}), other = w;
  for (int i = 0; i < n; ++i) { w.to(d); other.fill_(i); }
}
void byHelper(torch::Device d, int n) {
  Tensor w = torch::zeros({4});
  for (int i = 0; i < n; ++i) { w.to(d); writer(w); }
}
void byElementOfAList(torch::Device d, int n) {
  Tensor w = torch::zeros({4, 4});
  Tensors list{w};
  for (int i = 0; i < n; ++i) { w.to(d); list[0].add_(1); }
}
void handedOut(Tensor w, torch::Device d, int n) {
  for (int i = 0; i < n; ++i) { w.to(d); foreign(w); }
}
void another(torch::Device d, int n) {
  Tensor w = torch::zeros({4}), v = torch::zeros({4});
  for (int i = 0; i < n; ++i) { w.to(d); v.add_(1); foreign(v); }
}
void toOut(Tensor a, torch::Device d, int n) {
  Tensor w = torch::zeros({4});
  for (int i = 0; i < n; ++i) { w.to(d); torch::add_out(w, a, a); }
}
void parameter(torch::Device d, int n) {
  Tensor w = torch::zeros({4}, torch::requires_grad());
  torch::optim::SGD opt({w}, 0.1);
  for (int i = 0; i < n; ++i) { w.to(d).sum().backward(); opt.step(); }
}
void notTheParameter(torch::Device d, int n) {
  Linear net(2, 2);
  Tensor w = torch::zeros({4});
  torch::optim::SGD opt(net->parameters(), 0.1);
  for (int i = 0; i < n; ++i) { w.to(d); opt.step(); }
}
void otherLoop(Tensor w, torch::Device d, int n) {
  for (int i = 0; i < n; ++i) w.add_(1);
  for (int i = 0; i < n; ++i) w.to(d);
}
struct Holder {
  Tensor mask_;
  void go(torch::Device d, int n) {
    for (int i = 0; i < n; ++i) { mask_.to(d); update(); }
  }
  void update() { mask_.mul_(2); }
};
)cpp";

} // namespace

TEST_F(Written, Never) {
  for (const char *Root :
       {"never", "before", "another", "notTheParameter", "otherLoop"})
    EXPECT_FALSE(written(Root)) << Root;
}

TEST_F(Written, ByItsName) {
  for (const char *Root : {"inPlace", "byOperator", "byElement", "rebound",
                           "toOut", "handedOut", "Holder::go"})
    EXPECT_TRUE(written(Root)) << Root;
}

TEST_F(Written, ByAnotherName) {
  for (const char *Root :
       {"byView", "byHandle", "byHelper", "byElementOfAList"})
    EXPECT_TRUE(written(Root)) << Root;
}

TEST_F(Written, ByAnOptimizer) { EXPECT_TRUE(written("parameter")); }

namespace {

/// Each statement is known by the number of elements that it makes.
struct Statements : ModelTest<Statements> {
  static const char Code[];
  static const AllocateEvent &made(const Entry &W, int Number) {
    return W.event<AllocateEvent>("torch::zeros({" + std::to_string(Number) +
                                  "})");
  }
  static bool unconditional(llvm::StringRef Root, int Number) {
    const Entry W = entry(Root);
    const AllocateEvent &E = made(W, Number);
    if (!E.Site || W->loopsAround(E.Point).empty()) {
      ADD_FAILURE() << Number << " is in no loop";
      return false;
    }
    return isUnconditional(*W, E.Site, E.In, *W->loopsAround(E.Point).back());
  }
  static bool canMove(llvm::StringRef Root, llvm::StringRef Site) {
    const Entry W = entry(Root);
    const AllocateEvent &E = W.event<AllocateEvent>(Site);
    if (!E.Site || W->loopsAround(E.Point).empty()) {
      ADD_FAILURE() << Site.str() << " is in no loop";
      return false;
    }
    const Loop &L = *W->loopsAround(E.Point).back();
    return canMoveBefore(E.Site, W->loopStatement(L), E.In);
  }
};

const char Statements::Code[] = R"cpp(
#include <algorithm>
#include <mutex>
using torch::Tensor;
using Tensors = std::vector<Tensor>;

void plain(int n) {
  for (int i = 0; i < n; ++i) {
    torch::zeros({1});
    { torch::zeros({2}); }
    Tensor t = torch::zeros({3}).view({1});
    if (torch::zeros({4}).defined())
      torch::zeros({5});
    else
      torch::zeros({6});
    if (Tensor u = torch::zeros({7}); u.defined())
      continue;
    torch::zeros({8});
  }
}
void expressions(int n, bool some) {
  for (int i = 0; i < n; ++i) {
    Tensor t = some ? torch::zeros({1}) : torch::zeros({2});
    Tensor u = torch::zeros({3}).defined() ? t : t;
    bool both = torch::zeros({4}).defined() && torch::zeros({5}).defined();
    bool one = torch::zeros({6}).defined() || torch::zeros({7}).defined();
    static Tensor kept = torch::zeros({8});
    switch (i) {
    case 1:
      torch::zeros({9});
      break;
    default:
      torch::zeros({10});
    }
    try {
      torch::zeros({11});
    } catch (...) {
    }
  }
}
void conditionOfTheLoop(bool some) {
  while (torch::zeros({1}).defined())
    torch::zeros({2});
  do
    torch::zeros({3});
  while (some);
}
void underACondition(int n, bool some) {
  if (some)
    for (int i = 0; i < n; ++i)
      torch::zeros({1});
}
Tensor make() { return torch::zeros({1}); }
Tensor cached(bool some) {
  if (some)
    return torch::zeros({2});
  static Tensor kept = torch::zeros({3});
  return kept;
}
Tensor another() { return torch::zeros({4}); }
Tensor third() { return torch::zeros({5}); }
void helpers(int n, bool some) {
  std::once_flag flag;
  for (int i = 0; i < n; ++i) {
    make();
    cached(some);
    if (some)
      another();
    std::call_once(flag, [] { torch::zeros({6}); });
    std::call_once(flag, third);
  }
}
void algorithm(const Tensors &xs) {
  std::for_each(xs.begin(), xs.end(), [](const Tensor &x) {
    torch::zeros({1});
    if (x.defined())
      torch::zeros({2});
  });
}

void moves(Tensor given, const Tensors &xs, int64_t n) {
  const int64_t before = 4;
  auto [w, h] = std::make_pair(before, n);
  for (int64_t i = 0; i < n; ++i) {
    const int64_t inside = n;
    torch::zeros({n, before});
    torch::zeros({w, h});
    torch::zeros({inside});
    torch::zeros({i});
    torch::zeros_like(given);
    {
      int64_t before = inside;
      torch::ones({before});
    }
  }
  for (const auto &x : xs) {
    torch::zeros_like(x);
    torch::ones({n, n});
  }
}
Tensor helper(int64_t n) { return torch::ones({n, 1, 1}); }
void inHelper(int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    helper(n);
}
)cpp";

} // namespace

TEST_F(Statements, EveryIteration) {
  for (int Number : {1, 2, 3, 4, 7})
    EXPECT_TRUE(unconditional("plain", Number)) << Number;
  for (int Number : {5, 6})
    EXPECT_FALSE(unconditional("plain", Number)) << Number;
  EXPECT_TRUE(unconditional("underACondition", 1))
      << "the condition is around the loop";
}

TEST_F(Statements, Expressions) {
  for (int Number : {3, 4, 6, 11})
    EXPECT_TRUE(unconditional("expressions", Number)) << Number;
  for (int Number : {1, 2, 5, 7, 9, 10})
    EXPECT_FALSE(unconditional("expressions", Number)) << Number;
  EXPECT_FALSE(unconditional("expressions", 8)) << "a static is made once";
}

TEST_F(Statements, LoopsOfOtherKinds) {
  for (int Number : {1, 2, 3})
    EXPECT_TRUE(unconditional("conditionOfTheLoop", Number)) << Number;
  EXPECT_TRUE(unconditional("algorithm", 1));
  EXPECT_FALSE(unconditional("algorithm", 2));
}

TEST_F(Statements, InHelpers) {
  EXPECT_TRUE(unconditional("helpers", 1));
  EXPECT_FALSE(unconditional("helpers", 2));
  EXPECT_FALSE(unconditional("helpers", 3));
  EXPECT_FALSE(unconditional("helpers", 4)) << "the call is conditional";
}

TEST_F(Statements, CalledOnce) {
  EXPECT_FALSE(unconditional("helpers", 6));
  EXPECT_FALSE(unconditional("helpers", 5));
}

TEST_F(Statements, CanMove) {
  EXPECT_TRUE(canMove("moves", "torch::zeros({n, before})"));
  EXPECT_TRUE(canMove("moves", "torch::zeros({w, h})"));
  EXPECT_TRUE(canMove("moves", "torch::zeros_like(given)"));
  EXPECT_TRUE(canMove("moves", "torch::ones({n, n})"));
  EXPECT_FALSE(canMove("moves", "torch::zeros({inside})"));
  EXPECT_FALSE(canMove("moves", "torch::zeros({i})"));
  EXPECT_FALSE(canMove("moves", "torch::ones({before})"))
      << "the one of the block";
  EXPECT_FALSE(canMove("moves", "torch::zeros_like(x)"));
}

TEST_F(Statements, CannotMoveOutOfAFunction) {
  EXPECT_FALSE(canMove("inHelper", "torch::ones({n, 1, 1})"));
  const Entry W = entry("moves");
  const AllocateEvent &E = W.event<AllocateEvent>("torch::zeros({i})");
  const Stmt *S = W->loopStatement(*W->loopsAround(E.Point).back());
  EXPECT_FALSE(canMoveBefore(nullptr, S, E.In));
  EXPECT_FALSE(canMoveBefore(E.Site, nullptr, E.In));
}

namespace {

/// What is marked by zeros({n}) is done once for many passes, or is not.
struct Outweighed : ModelTest<Outweighed> {
  static const char Code[];
  static bool outweighed(llvm::StringRef Root) {
    const Entry W = entry(Root);
    const AllocateEvent &E = W.event<AllocateEvent>("torch::zeros({n})");
    const auto Around = W->loopsAround(E.Point);
    return isOutweighed(*W, Around.empty() ? nullptr : Around.back());
  }
};

const char Outweighed::Code[] = R"cpp(
using torch::Tensor;
using torch::nn::Linear;
using Tensors = std::vector<Tensor>;

void train(Linear net, torch::optim::SGD &opt, const Tensors &xs, int n) {
  torch::zeros({n});
  for (const Tensor &x : xs) { net(x).sum().backward(); opt.step(); }
}
void epochs(Linear net, torch::optim::SGD &opt, const Tensors &xs, int n) {
  for (int i = 0; i < n; ++i) {
    torch::zeros({n});
    for (const Tensor &x : xs) { net(x).sum().backward(); opt.step(); }
  }
}
Tensor sampled(Linear net, int n) {
  torch::NoGradGuard guard;
  Tensor x = torch::zeros({n});
  for (int t = 0; t < n; ++t) x = x - net(x);
  return x;
}
// Each time.
void batches(Linear net, torch::optim::SGD &opt, const Tensors &xs, int n) {
  for (const Tensor &x : xs) { torch::zeros({n}); net(x).sum().backward(); opt.step(); }
}
Tensor cell(Linear net, Tensor x, int n) {
  Tensor h = torch::zeros({n});
  for (int t = 0; t < x.size(0); ++t) h = net(h + x[t]);
  return h;
}
struct Net : torch::nn::Module {
  Tensor forward(Tensor x, int n) {
    torch::NoGradGuard guard;
    Tensor h = torch::zeros({n});
    for (int t = 0; t < n; ++t) h = fc(h + x);
    return h;
  }
  Linear fc{nullptr};
};
)cpp";

} // namespace

TEST_F(Outweighed, ByTraining) {
  EXPECT_TRUE(outweighed("train"));
  EXPECT_TRUE(outweighed("epochs"));
}

TEST_F(Outweighed, ByPassesWithoutAGraph) {
  EXPECT_TRUE(outweighed("sampled"));
}

TEST_F(Outweighed, NotByThePassItself) {
  for (const char *Root : {"batches", "cell", "Net::forward"})
    EXPECT_FALSE(outweighed(Root)) << Root;
}

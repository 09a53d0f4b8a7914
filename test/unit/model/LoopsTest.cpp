// Loops of the program, through any number of functions, and what outlives an
// iteration of them.
#include "model/Model.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/StmtCXX.h"

using namespace torchtidy::model;
using namespace torchtidy::test;
using torchtidy::flow::Loop;

namespace {

struct Loops : ModelTest<Loops> {
  static const char Code[];

  /// The statement of the innermost loop around an event, or null.
  static const clang::Stmt *innermost(const Entry &W, const Event &E) {
    auto Around = W->loopsAround(E.Point);
    return Around.empty() ? nullptr : W->loopStatement(*Around.back());
  }
  static const Event &forward(const Entry &W) {
    return *W.all<ForwardEvent>().front();
  }
  /// Whether what an event stores into lives on after an iteration of the
  /// outermost or innermost loop around it.
  static std::optional<bool> outlives(const Entry &W, llvm::StringRef Site,
                                      bool Outermost = false) {
    const StoreEvent &E = W.event<StoreEvent>(Site);
    auto Around = W->loopsAround(E.Point);
    if (Around.empty() || E.Places.empty()) {
      ADD_FAILURE() << "no loop around " << Site.str();
      return std::nullopt;
    }
    return W->outlives(E.Places.front(),
                       Outermost ? *Around.front() : *Around.back());
  }
};

const char Loops::Code[] = R"cpp(
#include <algorithm>
using torch::Tensor;
using torch::nn::Linear;

void forLoop(Linear net, Tensor x) {
  for (int i = 0; i < 3; ++i)
    net->forward(x);
}
void whileLoop(Linear net, Tensor x, bool &more) {
  while (more)
    net->forward(x);
}
void doLoop(Linear net, Tensor x, bool &more) {
  do {
    net->forward(x);
  } while (more);
}
void rangeLoop(Linear net, std::vector<Tensor> &batches) {
  for (auto &x : batches)
    net->forward(x);
}
void gotoLoop(Linear net, Tensor x, bool &more) {
again:
  net->forward(x);
  if (more)
    goto again;
}
void noLoop(Linear net, Tensor x) { net->forward(x); }

void nested(Linear net, std::vector<Tensor> &batches) {
  for (int epoch = 0; epoch < 3; ++epoch)
    for (auto &x : batches)
      net->forward(x);
}

void step(Linear net, Tensor x) { net->forward(x); }
void batch(Linear net, Tensor x) { step(net, x); }
void throughFunctions(Linear net, Tensor x) {
  for (int i = 0; i < 3; ++i)
    batch(net, x);
}

void loopInside(Linear net, std::vector<Tensor> &batches) {
  for (auto &x : batches)
    net->forward(x);
}
void loopInLoop(Linear net, std::vector<Tensor> &batches) {
  for (int epoch = 0; epoch < 3; ++epoch)
    loopInside(net, batches);
}

void algorithm(Linear net, std::vector<Tensor> &batches) {
  std::for_each(batches.begin(), batches.end(),
                [&](Tensor &x) { net->forward(x); });
}

struct Holder { std::vector<Tensor> kept; };
std::vector<Tensor> global;
void remember(Linear net, std::vector<Tensor> &into, Tensor x) {
  std::vector<Tensor> own;
  Tensor y = net->forward(x);
  into.push_back(y);
  own.push_back(y);
}
void lifetimes(Linear net, Tensor x, std::vector<Tensor> &given) {
  std::vector<Tensor> outside;
  Holder holder;
  auto heap = std::make_shared<Holder>();
  for (int epoch = 0; epoch < 3; ++epoch) {
    std::vector<Tensor> inEpoch;
    for (int i = 0; i < 3; ++i) {
      std::vector<Tensor> inside;
      auto fresh = std::make_shared<Holder>();
      Tensor y = net->forward(x);
      outside.push_back(y);
      inEpoch.push_back(y);
      inside.push_back(y);
      given.push_back(y);
      global.push_back(y);
      holder.kept.push_back(y);
      heap->kept.push_back(y);
      fresh->kept.push_back(y);
      remember(net, outside, x);
    }
  }
}
struct Trainer {
  std::vector<Tensor> losses;
  void run(Linear net, Tensor x) {
    for (int i = 0; i < 3; ++i)
      losses.push_back(net->forward(x));
  }
};

void aliases(std::vector<Tensor> &a, std::vector<Tensor> &b, Linear net, Tensor x) {
  std::vector<Tensor> local;
  Holder h;
  Tensor y = net->forward(x);
  a.push_back(y);
  b.push_back(y);
  local.push_back(y);
  h.kept.push_back(y);
  global.push_back(y);
}
)cpp";

} // namespace

TEST_F(Loops, Statements) {
  using namespace clang;
  auto Of = [](const char *Root) {
    Entry W = entry(Root);
    return innermost(W, forward(W));
  };
  EXPECT_TRUE(isa_and_nonnull<ForStmt>(Of("forLoop")));
  EXPECT_TRUE(isa_and_nonnull<WhileStmt>(Of("whileLoop")));
  EXPECT_TRUE(isa_and_nonnull<DoStmt>(Of("doLoop")));
  EXPECT_TRUE(isa_and_nonnull<CXXForRangeStmt>(Of("rangeLoop")));
  EXPECT_EQ(Of("gotoLoop"), nullptr);
  Entry Goto = entry("gotoLoop");
  EXPECT_EQ(Goto->loopsAround(forward(Goto).Point).size(), 1u)
      << "a loop without a statement";
  Entry None = entry("noLoop");
  EXPECT_TRUE(None->loopsAround(forward(None).Point).empty());
}

TEST_F(Loops, NestedOutermostFirst) {
  using namespace clang;
  Entry W = entry("nested");
  auto Around = W->loopsAround(forward(W).Point);
  ASSERT_EQ(Around.size(), 2u);
  EXPECT_TRUE(isa_and_nonnull<ForStmt>(W->loopStatement(*Around[0])));
  EXPECT_TRUE(isa_and_nonnull<CXXForRangeStmt>(W->loopStatement(*Around[1])));
}

TEST_F(Loops, ThroughFunctions) {
  using namespace clang;
  Entry W = entry("throughFunctions");
  const Event &Forward = forward(W);
  ASSERT_EQ(W->loopsAround(Forward.Point).size(), 1u);
  const Loop &L = *W->loopsAround(Forward.Point).front();
  EXPECT_TRUE(isa_and_nonnull<ForStmt>(W->loopStatement(L)));
  EXPECT_EQ(Forward.In->Depth, 2u);
  EXPECT_TRUE(W->beginsIn(Forward.In, L));
  EXPECT_TRUE(W->beginsIn(Forward.In->Caller, L));
  EXPECT_FALSE(W->beginsIn(&W->root(), L));
}

TEST_F(Loops, OfAFunctionThatALoopCalls) {
  using namespace clang;
  Entry W = entry("loopInLoop");
  auto Around = W->loopsAround(forward(W).Point);
  ASSERT_EQ(Around.size(), 2u);
  EXPECT_TRUE(isa_and_nonnull<ForStmt>(W->loopStatement(*Around[0])));
  EXPECT_TRUE(isa_and_nonnull<CXXForRangeStmt>(W->loopStatement(*Around[1])));
  EXPECT_TRUE(W->beginsIn(forward(W).In, *Around[0]));
  EXPECT_FALSE(W->beginsIn(forward(W).In, *Around[1]));
}

TEST_F(Loops, OfAnAlgorithmIsItsCall) {
  Entry W = entry("algorithm");
  const clang::Stmt *S = innermost(W, forward(W));
  ASSERT_TRUE(clang::isa_and_nonnull<clang::CallExpr>(S));
  EXPECT_TRUE(clang::cast<clang::CallExpr>(S)->getDirectCallee()->getName() ==
              "for_each");
}

TEST_F(Loops, Outlives) {
  Entry W = entry("lifetimes");
  for (const char *Site :
       {"outside.push_back(y)", "inEpoch.push_back(y)", "given.push_back(y)",
        "global.push_back(y)", "holder.kept.push_back(y)",
        "heap->kept.push_back(y)", "into.push_back(y)"})
    EXPECT_EQ(outlives(W, Site), true) << Site;
  for (const char *Site :
       {"inside.push_back(y)", "fresh->kept.push_back(y)", "own.push_back(y)"})
    EXPECT_EQ(outlives(W, Site), false) << Site;
  EXPECT_EQ(outlives(W, "outside.push_back(y)", /*Outermost=*/true), true);
  EXPECT_EQ(outlives(W, "inEpoch.push_back(y)", /*Outermost=*/true), false);
  EXPECT_EQ(
      outlives(entry("Trainer::run"), "losses.push_back(net->forward(x))"),
      true);
}

TEST_F(Loops, FromOutsideAndAliases) {
  Entry W = entry("aliases");
  auto Place = [&](const char *Name) {
    return W.event<StoreEvent>(std::string(Name) + ".push_back(y)")
        .Places.front();
  };
  const PlaceId A = Place("a"), B = Place("b"), Local = Place("local"),
                Kept = Place("h.kept"), Global = Place("global");
  EXPECT_TRUE(W->isFromOutside(A));
  EXPECT_TRUE(W->isFromOutside(Global));
  EXPECT_FALSE(W->isFromOutside(Local));
  EXPECT_FALSE(W->isFromOutside(Kept));
  EXPECT_TRUE(W->mayAlias(A, A));
  EXPECT_FALSE(W->mayAlias(A, B)) << "two parameters are taken to be two";
  EXPECT_TRUE(W->mayAlias(A, Global));
  EXPECT_FALSE(W->mayAlias(A, Local));
  EXPECT_FALSE(W->mayAlias(Local, Kept));
  const PlaceId Holder = W->places().parent(Kept);
  EXPECT_TRUE(W->mayAlias(Holder, Kept)) << "one holds the other";
  EXPECT_TRUE(W->mayAlias(PlaceSet{A, Local}, PlaceSet{Global}));
  EXPECT_FALSE(W->mayAlias(PlaceSet{}, PlaceSet{A}));
}

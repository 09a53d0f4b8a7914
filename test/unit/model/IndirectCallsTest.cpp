// Calls whose callee is not named: holders, virtual methods, stored callables.
#include "model/Model.h"
#include "clang/AST/DeclCXX.h"

using namespace torchtidy::model;
using namespace torchtidy::test;

using Names = std::vector<std::string>;

namespace {

struct Indirect : ModelTest<Indirect> {
  static const char Code[];

  /// The functions that are run below the root, and for methods their class,
  /// in the order of their activations.
  static std::vector<std::string> frames(const Entry &W) {
    std::vector<std::string> Result;
    for (const auto &F : W->graph().frames())
      if (F->Caller)
        Result.push_back(nameOf(F->Function));
    return Result;
  }
  static std::string nameOf(const clang::FunctionDecl *F) {
    const auto *Method = llvm::dyn_cast<clang::CXXMethodDecl>(F);
    if (Method && Method->getParent()->isLambda())
      return "lambda " + std::to_string(Method->getNumParams());
    return F->getQualifiedNameAsString();
  }
};

const char Indirect::Code[] = R"cpp(
#include <functional>
using torch::Tensor;

struct NetImpl : torch::nn::Module {
  Tensor forward(Tensor x) { observe("one", x); return x; }
};
TORCH_MODULE(Net);
void holder(Net net, Tensor x) { net(x); }
Tensor byPart(std::vector<Net> nets, Tensor x) { return nets[0](x); }

struct Shape {
  virtual Tensor area(Tensor x) = 0;
  Tensor twice(Tensor x) { return area(x); }
};
struct Circle : Shape { Tensor area(Tensor x) override { return x; } };
struct Ring : Circle { Tensor area(Tensor x) override { return x; } };
void any(Shape &s, Tensor x) { s.area(x); }
void below(Circle *c, Tensor x) { c->area(x); }
void exact(Tensor x) { Circle c; c.area(x); }
void qualified(Ring &r, Tensor x) { r.Circle::area(x); }
void made(Tensor x) {
  std::unique_ptr<Shape> s = std::make_unique<Ring>();
  s->area(x);
}
void inherited(Tensor x) { Circle c; c.twice(x); }

struct Hooks {
  std::function<void(Tensor)> one;
  std::vector<std::function<void(Tensor)>> all;
  void call(Tensor x) { one(x); }
  void callAll(Tensor x) { for (auto &f : all) f(x); }
};
void members(Tensor x) {
  Hooks a, b;
  a.one = [](Tensor t) { observe("a", t); };
  b.one = [&](Tensor t) { observe("b", t); };
  a.call(x);
}
void inTurn(Tensor x) {
  Hooks h;
  h.all.push_back([](Tensor t) { observe("first", t); });
  h.all.push_back([](Tensor t) { observe("second", t); });
  h.callAll(x);
}
static std::function<void(Tensor)> make() {
  return [](Tensor t) { observe("made", t); };
}
void returned(Tensor x) { auto f = make(); f(x); }
static void takesTwo(Tensor a, Tensor b) { observe("bound", b); }
void bound(Tensor x, Tensor y) {
  auto f = std::bind(takesTwo, y, std::placeholders::_1);
  std::function<void(Tensor)> g = f;
  g(x);
}
)cpp";

} // namespace

TEST_F(Indirect, HoldersRunForward) {
  EXPECT_EQ(frames(entry("holder")), (Names{"NetImpl::forward"}));
  EXPECT_TRUE(entry("holder").observed("one").History);
  EXPECT_EQ(frames(entry("byPart")), (Names{"NetImpl::forward"}));
}

TEST_F(Indirect, VirtualCalls) {
  EXPECT_EQ(frames(entry("any")), (Names{"Circle::area", "Ring::area"}));
  EXPECT_EQ(frames(entry("below")), (Names{"Circle::area", "Ring::area"}));
  EXPECT_EQ(frames(entry("exact")), (Names{"Circle::area"}));
  EXPECT_EQ(frames(entry("qualified")), (Names{"Circle::area"}));
  EXPECT_EQ(frames(entry("made")), (Names{"Ring::area"}));
  EXPECT_EQ(frames(entry("inherited")), (Names{"Shape::twice", "Circle::area"}))
      << "what this is, the caller knows";
}

TEST_F(Indirect, OneOfTheActivationsRuns) {
  Entry W = entry("any");
  std::set<const Frame *> Found;
  for (const auto &F : W->graph().frames())
    if (F->Caller)
      for (const Frame *One : W->graph().expansions(F->Caller, F->Site))
        Found.insert(One);
  EXPECT_EQ(Found.size(), 2u);
}

TEST_F(Indirect, StoredCallables) {
  EXPECT_EQ(frames(entry("members")), (Names{"Hooks::call", "lambda 1"}))
      << "the other object has its own";
  Entry W = entry("inTurn");
  EXPECT_EQ(frames(W), (Names{"Hooks::callAll", "lambda 1", "lambda 1"}));
  EXPECT_TRUE(W.observed("second").History);
  EXPECT_EQ(frames(entry("returned")), (Names{"make", "lambda 1"}));
  EXPECT_EQ(frames(entry("bound")), (Names{"takesTwo"}));
}

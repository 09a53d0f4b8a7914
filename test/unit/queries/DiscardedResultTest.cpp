// Results that are dropped. The tests of torch-discarded-result (test/checks)
// have many more programs.
#include "results/DiscardedResult.h"
#include "model/Model.h"
#include "clang/AST/ExprCXX.h"

using namespace clang;
using namespace torchtidy::model;
using namespace torchtidy::test;

namespace {

struct DiscardedResults : ModelTest<DiscardedResults> {
  static const char Code[];
  static Program &program() { return Shared->program(); }
  static std::string text(const Expr *E) { return E ? program().text(E) : ""; }
};

const char DiscardedResults::Code[] = R"cpp(
using torch::Tensor;
Tensor use(Tensor);

Tensor pure(Tensor x) { x = x.cpu(); return x + 1; }
Tensor writes(Tensor x) { x.add_(1); return x; }
void callPure(Tensor x) { pure(x); }
void callWrites(Tensor x) { writes(x); }

Tensor drops(Tensor dropped) { dropped.cuda(); return dropped; }
void dropsGradient(const Tensor &leaf) { leaf.grad().clamp(-1, 1); }
void dropsItsOwn(Tensor x) {
  Tensor copy = x.clone();
  copy.grad().clamp(-1, 1);
}
void dropsLast(Tensor unread) { unread.cuda(); }

Tensor masked(Tensor some) {
  some.index({some > 0}) = 1;
  some.index({0}) = 1;
  return some;
}
)cpp";

} // namespace

TEST_F(DiscardedResults, Dropped) {
  std::vector<std::string> Calls;
  for (const DiscardedResult &Found : discardedResults(program()))
    Calls.push_back(text(Found.Call) + " of " + text(Found.Subject));
  const std::vector<std::string> Expected = {
      "dropped.cuda() of dropped", "leaf.grad().clamp(-1, 1) of leaf.grad()",
      "some.index({some > 0}) = 1 of some"};
  EXPECT_EQ(Calls, Expected);
}

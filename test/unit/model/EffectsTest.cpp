// Functions that only return a value.
#include "model/syntax/Effects.h"
#include "model/Model.h"
#include "clang/AST/ExprCXX.h"

using namespace clang;
using namespace torchtidy::model;
using namespace torchtidy::test;

namespace {

struct EffectsOfCalls : ModelTest<EffectsOfCalls> {
  static const char Code[];
  static Program &program() { return Shared->program(); }
  /// The first call in a function.
  static const CallExpr *call(llvm::StringRef Function) {
    const CallExpr *Result = nullptr;
    const auto Find = [&](const Stmt *S, const auto &Recurse) -> void {
      if (!S || Result)
        return;
      if (const auto *Call = dyn_cast<CallExpr>(S)) {
        Result = Call;
        return;
      }
      for (const Stmt *Child : S->children())
        Recurse(Child, Recurse);
    };
    Find(Shared->function(Function)->getBody(), Find);
    return Result;
  }
  static bool onlyReturns(llvm::StringRef Function) {
    Effects Known(program().code());
    return Known.onlyReturns(call(Function));
  }
};

const char EffectsOfCalls::Code[] = R"cpp(
using torch::Tensor;
Tensor use(Tensor);

Tensor pure(Tensor x) { x = x.cpu(); return x + 1; }
Tensor writes(Tensor x) { x.add_(1); return x; }
Tensor draws(Tensor x) { return x + torch::rand_like(x); }
Tensor unseen(Tensor x) { return use(x); }
Tensor recursive(Tensor x) { return recursive(x.cpu()); }
void callPure(Tensor x) { pure(x); }
void callWrites(Tensor x) { writes(x); }
void callDraws(Tensor x) { draws(x); }
void callUnseen(Tensor x) { unseen(x); }
void callRecursive(Tensor x) { recursive(x); }
)cpp";

} // namespace

TEST_F(EffectsOfCalls, FunctionsThatOnlyReturn) {
  EXPECT_TRUE(onlyReturns("callPure"));
  EXPECT_FALSE(onlyReturns("callWrites"));
  EXPECT_FALSE(onlyReturns("callDraws"));
  EXPECT_FALSE(onlyReturns("callUnseen"));
  EXPECT_FALSE(onlyReturns("callRecursive"));
}

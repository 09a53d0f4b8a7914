// Results that are dropped, assignments to copies, containers of one object. The
// tests of the checks (test/checks/torch-discarded-result and others) have many
// more programs.
#include "model/DiscardedResults.h"
#include "model/Effects.h"
#include "model/LostWrites.h"
#include "model/Model.h"
#include "model/SharedFills.h"
#include "clang/AST/ExprCXX.h"

using namespace clang;
using namespace torchtidy::model;
using namespace torchtidy::test;

namespace {

struct LostResults : ModelTest<LostResults> {
  static const char Code[];
  static Program &program() { return Shared->program(); }
  static std::string text(const Expr *E) { return E ? program().text(E) : ""; }
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

const char LostResults::Code[] = R"cpp(
using torch::Tensor;
using Tensors = std::vector<Tensor>;
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

Tensor drops(Tensor dropped) { dropped.cuda(); return dropped; }
void dropsLast(Tensor unread) { unread.cuda(); }

void temporary(torch::nn::Linear net, Tensor y) { net->parameters()[0] = y; }
void kept(torch::nn::Linear net) {
  auto &first = net->parameters()[0];
  use(first);
}
void copied(Tensors &v) { for (auto t : v) t = t.cpu(); }

void filled(Tensor x) {
  Tensors sums(3, torch::zeros({2}));
  sums[0] += x;
  use(sums[1]);
}
void onlyRead() {
  Tensors ones(3, torch::ones({2}));
  use(ones[1]);
}
void layers() {
  std::vector<torch::nn::Linear> all(3, torch::nn::Linear(2, 2));
  all[0]->zero_grad();
}
)cpp";

} // namespace

TEST_F(LostResults, FunctionsThatOnlyReturn) {
  EXPECT_TRUE(onlyReturns("callPure"));
  EXPECT_FALSE(onlyReturns("callWrites"));
  EXPECT_FALSE(onlyReturns("callDraws"));
  EXPECT_FALSE(onlyReturns("callUnseen"));
  EXPECT_FALSE(onlyReturns("callRecursive"));
}

TEST_F(LostResults, Dropped) {
  std::vector<std::string> Calls;
  for (const DiscardedResult &Found : discardedResults(program()))
    Calls.push_back(text(Found.Call) + " of " + text(Found.Subject));
  EXPECT_EQ(Calls, std::vector<std::string>{"dropped.cuda() of dropped"});
}

TEST_F(LostResults, AssignedToACopy) {
  std::vector<std::string> Assignments;
  for (const LostWrite &Found : lostWrites(program()))
    Assignments.push_back(text(Found.Assignment));
  EXPECT_EQ(Assignments,
            (std::vector<std::string>{"net->parameters()[0] = y",
                                      "t = t.cpu()"}));
  const std::vector<KeptElement> Kept = keptElements(program());
  ASSERT_EQ(Kept.size(), 1u);
  EXPECT_EQ(Kept.front().Variable->getName(), "first");
  EXPECT_EQ(text(Kept.front().Call), "net->parameters()");
}

TEST_F(LostResults, SharedByAllElements) {
  std::vector<std::string> Fills;
  for (const SharedFill &Found : sharedFills(program()))
    Fills.push_back(text(Found.Fill->Operand) + ": " +
                    (Found.Write ? text(Found.Write->Site) : ""));
  EXPECT_EQ(Fills, (std::vector<std::string>{"torch::zeros({2}): sums[0] += x",
                                             "torch::nn::Linear(2, 2): "}));
}

// What expressions name, and what may be read of a variable behind a statement.
#include "model/syntax/Variables.h"
#include "model/Model.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/RecursiveASTVisitor.h"

using namespace clang;
using namespace torchtidy::model;
using namespace torchtidy::test;
using torchtidy::flow::Met;

namespace {

/// The left side of the only assignment of a tensor in a function.
class AssignmentFinder : public RecursiveASTVisitor<AssignmentFinder> {
public:
  bool VisitCXXOperatorCallExpr(CXXOperatorCallExpr *Call) {
    if (Call->getOperator() == OO_Equal && !Found)
      Found = Call;
    return true;
  }
  const CXXOperatorCallExpr *Found = nullptr;
};

struct Variables : ModelTest<Variables> {
  static const char Code[];
  static const CXXOperatorCallExpr *assignment(llvm::StringRef Function) {
    AssignmentFinder Finder;
    Finder.TraverseStmt(Shared->function(Function)->getBody());
    EXPECT_TRUE(Finder.Found) << Function.str();
    return Finder.Found;
  }
  static Named target(llvm::StringRef Function) {
    const std::optional<Named> Result =
        namedVariable(assignment(Function)->getArg(0));
    EXPECT_TRUE(Result.has_value()) << Function.str();
    return Result.value_or(Named());
  }
  /// The variable of the first assignment may be read behind it.
  static bool isReadAfter(llvm::StringRef Function) {
    const FunctionDecl *F = Shared->function(Function);
    const auto *Flow = Shared->program().code().controlFlow(F);
    const Named To = target(Function);
    const Readers Reading(*Flow, To.Variable, To.Member);
    return torchtidy::flow::mayMeet(
        *Flow, assignment(Function),
        [&](const CFGElement &Element) { return Reading.look(Element); });
  }
};

const char Variables::Code[] = R"cpp(
using torch::Tensor;
using Tensors = std::vector<Tensor>;
struct Batch { Tensor data, target; };
Tensor use(Tensor);

void whole(Tensor x, Tensor y) { x = y; }
void member(Batch b, Tensor y) { b.data = y; }
void arrow(Batch *b, Tensor y) { b->data = y; }
void element(Tensors v, Tensor y) { v[0] = y; }
void checked(Tensors &v, Tensor y) { v.at(0) = y; }
void mapped(std::map<int, Tensor> m, Tensor y) { m[0] = y; }
void throughIterator(Tensors v, Tensor y) { auto it = v.begin(); *it = y; }
void throughPointer(std::shared_ptr<Batch> b, Tensor y) { b->data = y; }
void memberOfElement(std::vector<Batch> v, Tensor y) { v[0].data = y; }
void tupled(std::pair<Tensor, Tensor> p, Tensor y) { std::get<0>(p) = y; }
void tied(Tensor x, Tensor y) { std::get<0>(std::tie(x, y)) = y; }
void list(c10::List<Tensor> l, Tensors &v, Tensor y) { v.front() = y; }
void temporary(torch::nn::Linear net, Tensor y) { net->parameters()[0] = y; }
void dictionary(torch::nn::Linear net, Tensor y) {
  net->named_parameters()["weight"] = y;
}
void viaMove(Tensors v, Tensor y) { std::move(v)[0] = y; }

Tensor read(Tensor x) { x = use(x); return x; }
void neverRead(Tensor x) { x = use(x); }
void replaced(Tensor x, Tensor y) { x = use(y); x = use(y); use(x); }
Tensor branch(Tensor x, bool b) { x = use(x); if (b) return x; return {}; }
void loop(Tensor x) { for (int i = 0; i < 2; ++i) { use(x); x = use(x); } }
void eachIteration(const Tensors &v) { for (auto x : v) x = use(x); }
void captured(Tensor x) { x = use(x); auto f = [&] { return x; }; f(); }
void otherMember(Batch b) { b.data = use(b.data); use(b.target); }
void sameMember(Batch b) { b.data = use(b.target); use(b.data); }
void wholeBatch(Batch b) { b.data = use(b.target); Batch c = b; }
void tiedAway(Tensor x, std::pair<Tensor, Tensor> p) {
  x = use(x); Tensor y; std::tie(x, y) = p; use(x);
}
)cpp";

} // namespace

TEST_F(Variables, NamesOfVariables) {
  EXPECT_EQ(target("whole").Variable->getName(), "x");
  EXPECT_TRUE(target("whole").isWhole());
  const Named Member = target("member");
  EXPECT_EQ(Member.Variable->getName(), "b");
  EXPECT_EQ(Member.Member->getName(), "data");
  EXPECT_FALSE(Member.ThroughPointer);
  EXPECT_TRUE(target("arrow").ThroughPointer);
  const Named Element = target("element");
  EXPECT_EQ(Element.Variable->getName(), "v");
  EXPECT_TRUE(Element.IsElement);
  EXPECT_FALSE(Element.ThroughPointer);
  EXPECT_TRUE(target("checked").IsElement);
  EXPECT_FALSE(target("mapped").ThroughPointer);
  EXPECT_TRUE(target("throughIterator").ThroughPointer);
  EXPECT_TRUE(target("throughPointer").ThroughPointer);
  EXPECT_EQ(target("memberOfElement").Member, nullptr);
  EXPECT_FALSE(target("tupled").ThroughPointer);
  EXPECT_EQ(target("viaMove").Variable->getName(), "v");
}

TEST_F(Variables, NamesOfTemporaries) {
  EXPECT_NE(target("temporary").Temporary, nullptr);
  EXPECT_FALSE(target("temporary").ThroughPointer);
  EXPECT_TRUE(target("temporary").IsElement);
  EXPECT_NE(target("dictionary").Temporary, nullptr);
  EXPECT_FALSE(target("dictionary").ThroughPointer);
  // Its parts are references.
  EXPECT_TRUE(target("tied").ThroughPointer);
}

TEST_F(Variables, ReadsBehindAStatement) {
  EXPECT_TRUE(isReadAfter("read"));
  EXPECT_FALSE(isReadAfter("neverRead"));
  EXPECT_FALSE(isReadAfter("replaced"));
  EXPECT_TRUE(isReadAfter("branch"));
  EXPECT_TRUE(isReadAfter("loop"));
  EXPECT_FALSE(isReadAfter("eachIteration"));
  EXPECT_TRUE(isReadAfter("captured"));
  EXPECT_FALSE(isReadAfter("otherMember"));
  EXPECT_TRUE(isReadAfter("sameMember"));
  EXPECT_TRUE(isReadAfter("wholeBatch"));
  EXPECT_FALSE(isReadAfter("tiedAway"));
}

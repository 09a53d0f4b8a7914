// Changes of the source that fix-its are made of.
#include "report/Edit.h"
#include "support/Parse.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "clang/Basic/SourceManager.h"
#include "gtest/gtest.h"

using namespace clang;
using namespace torchtidy;
using namespace torchtidy::test;

namespace {

// LibTorch's tensor, as a system header would declare it.
const char Before[] = R"cpp(
# 1 "torch.h" 1 3
namespace at {
struct Tensor {
  Tensor detach() const;
  Tensor operator+(Tensor) const;
  Tensor operator[](int) const;
  Tensor operator-() const;
};
}
# 1 "input.cpp" 2
using T = at::Tensor;
bool c();
void step();
void other();
T make();
int number();
void keep(T);
void count(int);
)cpp";

class CallFinder : public RecursiveASTVisitor<CallFinder> {
public:
  explicit CallFinder(llvm::StringRef Name) : Name(Name) {}
  bool VisitCallExpr(CallExpr *Call) {
    const FunctionDecl *Callee = Call->getDirectCallee();
    if (Callee && Callee->getNameAsString() == Name)
      Found = Call;
    return !Found;
  }
  const CallExpr *Found = nullptr;

private:
  llvm::StringRef Name;
};

class Source {
public:
  explicit Source(llvm::StringRef Text) : Text(Text) {
    Unit = parse(Before + Text.str());
    if (!Unit)
      return;
    Function = findFunction(*Unit, "f");
    Flow = flow::ControlFlow::build(Function, Unit->getASTContext());
  }

  const CallExpr *call(llvm::StringRef Name) const {
    CallFinder Finder(Name);
    Finder.TraverseStmt(Function->getBody());
    EXPECT_TRUE(Finder.Found) << "no call of " << Name.str();
    return Finder.Found;
  }

  std::string insertAfterStep() const {
    return apply(model::insertAfter(Unit->getASTContext(), *Flow, call("step"),
                                    "clear();"));
  }
  std::string insertBeforeStep() const {
    return apply(model::insertBefore(Unit->getASTContext(), *Flow, call("step"),
                                     "Guard guard;"));
  }
  std::string blockOfStep() const {
    return apply(model::putIntoBlock(Unit->getASTContext(), *Flow, call("step"),
                                     "Guard guard;"));
  }
  std::string insertFirst() const {
    return apply(model::insertFirst(Unit->getASTContext(),
                                    cast<CompoundStmt>(Function->getBody()),
                                    "Guard guard;"));
  }
  /// To the argument of a call.
  std::string detachArgument(llvm::StringRef Of) const {
    return apply(model::appendCall(Unit->getASTContext(), call(Of)->getArg(0),
                                   ".detach()"));
  }

private:
  /// The source with the changes, or "nothing".
  std::string apply(const std::vector<FixItHint> &Fixes) const {
    if (Fixes.empty())
      return "nothing";
    const SourceManager &SM = Unit->getSourceManager();
    std::string Result = Text.str();
    // Later places first; of two insertions at one place the second goes
    // behind the first.
    std::vector<FixItHint> Sorted = Fixes;
    llvm::stable_sort(Sorted, [&](const FixItHint &A, const FixItHint &B) {
      return SM.getFileOffset(A.RemoveRange.getBegin()) <
             SM.getFileOffset(B.RemoveRange.getBegin());
    });
    for (const FixItHint &Fix : llvm::reverse(Sorted)) {
      EXPECT_TRUE(Fix.RemoveRange.getBegin() == Fix.RemoveRange.getEnd());
      Result.insert(SM.getFileOffset(Fix.RemoveRange.getBegin()) -
                        (sizeof(Before) - 1),
                    Fix.CodeToInsert);
    }
    return Result;
  }

  llvm::StringRef Text;
  std::unique_ptr<ASTUnit> Unit;
  const FunctionDecl *Function = nullptr;
  std::unique_ptr<flow::ControlFlow> Flow;
};

std::string afterStep(llvm::StringRef Text) {
  return Source(Text).insertAfterStep();
}
std::string beforeStep(llvm::StringRef Text) {
  return Source(Text).insertBeforeStep();
}
std::string blockOfStep(llvm::StringRef Text) {
  return Source(Text).blockOfStep();
}
std::string first(llvm::StringRef Text) { return Source(Text).insertFirst(); }
std::string detached(llvm::StringRef Text, llvm::StringRef Of = "keep") {
  return Source(Text).detachArgument(Of);
}

} // namespace

TEST(InsertAfter, NewLineWithTheSameIndentation) {
  EXPECT_EQ(afterStep("void f() {\n  step();\n  other();\n}\n"),
            "void f() {\n  step();\n  clear();\n  other();\n}\n");
  EXPECT_EQ(afterStep("void f() {\n\tif (c()) {\n\t\tstep();\n\t}\n}\n"),
            "void f() {\n\tif (c()) {\n\t\tstep();\n\t\tclear();\n\t}\n}\n");
}

TEST(InsertAfter, TheWholeStatement) {
  EXPECT_EQ(afterStep("void f() {\n  (void)(step(), 1) ;\n}\n"),
            "void f() {\n  (void)(step(), 1) ;\n  clear();\n}\n");
}

TEST(InsertAfter, BracesRoundTheOnlyStatementOfALoopOrBranch) {
  EXPECT_EQ(afterStep("void f() { while (c()) step(); }"),
            "void f() { while (c()) { step(); clear(); } }");
  EXPECT_EQ(afterStep("void f() { for (;;)\n    step();\n}"),
            "void f() { for (;;)\n    { step(); clear(); }\n}");
  EXPECT_EQ(afterStep("void f() { if (c()) step(); else other(); }"),
            "void f() { if (c()) { step(); clear(); } else other(); }");
  EXPECT_EQ(afterStep("void f() { if (c()) other(); else step(); }"),
            "void f() { if (c()) other(); else { step(); clear(); } }");
  EXPECT_EQ(afterStep("void f() { do step(); while (c()); }"),
            "void f() { do { step(); clear(); } while (c()); }");
}

TEST(InsertAfter, NoBracesUnderALabel) {
  EXPECT_EQ(
      afterStep("void f() {\n  switch (1) {\n  case 1:\n    step();\n    "
                "break;\n  }\n}"),
      "void f() {\n  switch (1) {\n  case 1:\n    step();\n    clear();\n "
      "   break;\n  }\n}");
}

TEST(InsertAfter, NothingWhereItIsNotSafe) {
  EXPECT_EQ(afterStep("void f() { if ((step(), true)) other(); }"), "nothing")
      << "in a condition";
  EXPECT_EQ(afterStep("void f() { return step(); }"), "nothing");
  EXPECT_EQ(afterStep("#define STEP step()\nvoid f() { STEP; }"), "nothing");
  EXPECT_EQ(afterStep("#define RUN(X) do { X; } while (0)\n"
                      "void f() { RUN(step()); }"),
            "nothing");
}

TEST(InsertAfter, TrailingCommentsStayWithTheirStatement) {
  EXPECT_EQ(
      afterStep("void f() {\n  step();  // NOLINT(x): why\n  other();\n}\n"),
      "void f() {\n  step();  // NOLINT(x): why\n  clear();\n  other();\n}\n");
  EXPECT_EQ(
      afterStep("void f() {\n  step(); /* a\n     b */\n  // other\n}\n"),
      "void f() {\n  step(); /* a\n     b */\n  clear();\n  // other\n}\n");
  EXPECT_EQ(afterStep("void f() {\r\n  step(); /* a */ // b\r\n}\r\n"),
            "void f() {\r\n  step(); /* a */ // b\n  clear();\r\n}\r\n");
  EXPECT_EQ(afterStep("void f() {\n  if (c())\n    step(); // b\n}\n"),
            "void f() {\n  if (c())\n    { step(); clear(); } // b\n}\n");
  EXPECT_EQ(
      afterStep("void f() {\n  step();\n  // of other\n  other();\n}\n"),
      "void f() {\n  step();\n  clear();\n  // of other\n  other();\n}\n");
}

TEST(InsertAfter, ACommentBeforeMoreCodeIsOfThat) {
  EXPECT_EQ(afterStep("void f() {\n  step(); /* a */ other();\n}\n"),
            "void f() {\n  step();\n  clear(); /* a */ other();\n}\n");
}

TEST(InsertBefore, AMarkerOfTheNextLineStaysWithItsStatement) {
  EXPECT_EQ(
      beforeStep("void f() {\n  // NOLINTNEXTLINE(x)\n  step();\n}\n"),
      "void f() {\n  Guard guard;\n  // NOLINTNEXTLINE(x)\n  step();\n}\n");
  EXPECT_EQ(
      beforeStep("void f() {\n  // NOLINTNEXTLINE\n\n  step();\n}\n"),
      "void f() {\n  // NOLINTNEXTLINE\n\n  Guard guard;\n  step();\n}\n");
  EXPECT_EQ(beforeStep("void f() {\n  // why\n  step();\n}\n"),
            "void f() {\n  // why\n  Guard guard;\n  step();\n}\n");
}

TEST(PutIntoBlock, TrailingCommentsStayWithTheirStatement) {
  EXPECT_EQ(
      blockOfStep("void f() {\n  step();  // NOLINT\n}\n"),
      "void f() {\n  {\n    Guard guard;\n    step();  // NOLINT\n  }\n}\n");
}

TEST(InsertFirst, BehindTheCommentOfTheBrace) {
  EXPECT_EQ(first("void f() {  // NOLINT\n  step();\n}\n"),
            "void f() {  // NOLINT\n  Guard guard;\n  step();\n}\n");
}

TEST(InsertFirst, InABlock) {
  EXPECT_EQ(first("void f() {\n    step();\n}\n"),
            "void f() {\n    Guard guard;\n    step();\n}\n");
  EXPECT_EQ(first("void f() { step(); }"), "void f() { Guard guard; step(); }");
  EXPECT_EQ(first("void f() {}"), "void f() { Guard guard;}");
}

TEST(InsertFirst, NothingInAMacro) {
  EXPECT_EQ(first("#define BODY { step(); }\nvoid f() BODY"), "nothing");
  auto Unit = parse("void f() {}");
  ASSERT_TRUE(Unit);
  EXPECT_TRUE(
      model::insertFirst(Unit->getASTContext(), nullptr, "int i;").empty());
}

TEST(AppendCall, ToPostfixExpressions) {
  EXPECT_EQ(detached("void f(T t) { keep(t); }"),
            "void f(T t) { keep(t.detach()); }");
  EXPECT_EQ(detached("struct S { T t; }; void f(S s) { keep(s.t); }"),
            "struct S { T t; }; void f(S s) { keep(s.t.detach()); }");
  EXPECT_EQ(detached("void f() { keep(make()); }"),
            "void f() { keep(make().detach()); }");
  EXPECT_EQ(detached("void f(T t) { keep(t[1]); }"),
            "void f(T t) { keep(t[1].detach()); }");
  EXPECT_EQ(detached("void f(T t[2]) { keep(t[1]); }"),
            "void f(T t[2]) { keep(t[1].detach()); }");
  EXPECT_EQ(detached("void f(T t) { keep((t + t)); }"),
            "void f(T t) { keep((t + t).detach()); }");
}

TEST(AppendCall, InParenthesesWhereTheyAreNeeded) {
  EXPECT_EQ(detached("void f(T t) { keep(t + t); }"),
            "void f(T t) { keep((t + t).detach()); }");
  EXPECT_EQ(detached("void f(T t) { keep(-t); }"),
            "void f(T t) { keep((-t).detach()); }");
  EXPECT_EQ(detached("void f(T t) { keep(c() ? t : make()); }"),
            "void f(T t) { keep((c() ? t : make()).detach()); }");
  EXPECT_EQ(detached("void f(T *t) { keep(*t); }"),
            "void f(T *t) { keep((*t).detach()); }");
}

TEST(AppendCall, NothingToWhatIsNoTensor) {
  EXPECT_EQ(detached("void f() { count(number()); }", "count"), "nothing");
}

TEST(AppendCall, NothingInAMacro) {
  EXPECT_EQ(detached("#define LOSS t\nvoid f(T t) { keep(LOSS); }"), "nothing");
  EXPECT_EQ(detached("#define KEEP(X) keep(X + X)\nvoid f(T t) { KEEP(t); }"),
            "nothing");
}

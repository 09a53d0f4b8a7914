#include "flow/ControlFlow.h"
#include "support/Parse.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "clang/AST/StmtCXX.h"
#include "gtest/gtest.h"

using namespace clang;
using namespace torchtidy::flow;
using namespace torchtidy::test;

namespace {

/// The call of a function by its name.
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

class ControlFlowTest : public testing::Test {
protected:
  void read(llvm::StringRef Body, llvm::StringRef Before = "") {
    Unit = parse(("void a(); void b(); bool c(); int d(int);" + Before +
                  "void function() {" + Body + "}")
                     .str());
    ASSERT_TRUE(Unit);
    Function = findFunction(*Unit, "function");
    ASSERT_TRUE(Function);
    Flow = ControlFlow::build(Function, Unit->getASTContext());
    ASSERT_TRUE(Flow);
  }

  const CallExpr *call(llvm::StringRef Name) const {
    CallFinder Finder(Name);
    Finder.TraverseStmt(Function->getBody());
    EXPECT_TRUE(Finder.Found) << "no call of " << Name.str();
    return Finder.Found;
  }

  std::unique_ptr<ASTUnit> Unit;
  const FunctionDecl *Function = nullptr;
  std::unique_ptr<ControlFlow> Flow;
};

} // namespace

TEST_F(ControlFlowTest, Parents) {
  read("if (c()) { a(); }");
  EXPECT_EQ(Flow->function(), Function);
  const Stmt *Body = Function->getBody();
  EXPECT_EQ(Flow->parent(Body), nullptr);
  const Stmt *Block = Flow->parent(call("a"));
  ASSERT_TRUE(isa_and_nonnull<CompoundStmt>(Block));
  EXPECT_TRUE(isa<IfStmt>(Flow->parent(Block)));
  EXPECT_EQ(Flow->parent(Flow->parent(Block)), Body);
}

TEST_F(ControlFlowTest, IsInside) {
  read("while (c()) { a(); } b();");
  const Stmt *Loop = Flow->parent(call("c"));
  ASSERT_TRUE(isa<WhileStmt>(Loop));
  EXPECT_TRUE(Flow->isInside(call("a"), Loop));
  EXPECT_TRUE(Flow->isInside(call("c"), Loop));
  EXPECT_TRUE(Flow->isInside(Loop, Loop));
  EXPECT_TRUE(Flow->isInside(Loop, Function->getBody()));
  EXPECT_FALSE(Flow->isInside(call("b"), Loop));
  EXPECT_FALSE(Flow->isInside(Function->getBody(), Loop));
  EXPECT_FALSE(Flow->isInside(nullptr, Loop));
}

TEST_F(ControlFlowTest, StatementOfAnExpression) {
  read("int x = d(d(1) + 2); (void)x;");
  EXPECT_TRUE(isa<DeclStmt>(Flow->statement(call("d"))));
  EXPECT_EQ(Flow->statement(Function->getBody()), Function->getBody());
}

TEST_F(ControlFlowTest, StatementInABlock) {
  read("a();");
  EXPECT_EQ(Flow->statement(call("a")), call("a"));
}

TEST_F(ControlFlowTest, StatementIsTheBodyOfABracelessLoop) {
  for (const char *Code :
       {"for (int i = 0; i < 3; ++i) a();", "while (c()) a();",
        "do a(); while (c());", "int s[3]; for (int &i : s) (i = 1, a());",
        "if (c()) a();", "if (c()) b(); else a();"}) {
    read(Code);
    const Stmt *S = Flow->statement(call("a"));
    ASSERT_TRUE(S) << Code;
    EXPECT_TRUE(isa<Expr>(S)) << Code;
    EXPECT_TRUE(Flow->isInside(call("a"), S)) << Code;
    EXPECT_FALSE(isa<CompoundStmt>(Flow->parent(S))) << Code;
  }
}

TEST_F(ControlFlowTest, StatementOfAConditionIsTheWholeStatement) {
  for (const char *Code : {"if (c()) a();", "while (c()) a();",
                           "for (; c();) a();", "do a(); while (c());"}) {
    read(Code);
    const Stmt *S = Flow->statement(call("c"));
    ASSERT_TRUE(S) << Code;
    EXPECT_FALSE(isa<Expr>(S)) << Code;
    EXPECT_TRUE(isa<CompoundStmt>(Flow->parent(S))) << Code;
  }
}

TEST_F(ControlFlowTest, StatementUnderALabel) {
  read("switch (d(1)) { case 1: a(); break; default: b(); }");
  EXPECT_EQ(Flow->statement(call("a")), call("a"));
  EXPECT_EQ(Flow->statement(call("b")), call("b"));
}

TEST_F(ControlFlowTest, EveryExpressionIsAnElement) {
  read("d(d(1) + 2);");
  unsigned Calls = 0;
  for (const CFGBlock *Block : Flow->cfg())
    for (const CFGElement &Element : *Block)
      if (std::optional<CFGStmt> S = Element.getAs<CFGStmt>())
        Calls += isa<CallExpr>(S->getStmt());
  EXPECT_EQ(Calls, 2u);
}

TEST_F(ControlFlowTest, EndOfAScopeIsAnElement) {
  read("{ Guard g; a(); } b();", "struct Guard { Guard(); ~Guard(); };");
  unsigned Ends = 0;
  for (const CFGBlock *Block : Flow->cfg())
    for (const CFGElement &Element : *Block)
      Ends += Element.getAs<CFGAutomaticObjDtor>().has_value();
  EXPECT_EQ(Ends, 1u);
}

TEST_F(ControlFlowTest, NoBody) {
  auto Other = parse("void declared(); void use() { declared(); }");
  ASSERT_TRUE(Other);
  for (const Decl *D : Other->getASTContext().getTranslationUnitDecl()->decls())
    if (const auto *F = dyn_cast<FunctionDecl>(D); F && !F->hasBody()) {
      EXPECT_EQ(ControlFlow::build(F, Other->getASTContext()), nullptr);
    }
}

TEST_F(ControlFlowTest, FunctionOverTheBound) {
  std::string Code = "bool c(); void a(); void function() {\n";
  for (unsigned I = 0; I < ControlFlow::MaxBlocks / 2; ++I)
    Code += "if (c()) a();\n";
  Code += "}";
  auto Large = parse(Code);
  ASSERT_TRUE(Large);
  EXPECT_EQ(ControlFlow::build(findFunction(*Large, "function"),
                               Large->getASTContext()),
            nullptr);
}

TEST_F(ControlFlowTest, CodeWithErrors) {
  ParseOptions Options;
  Options.AllowErrors = true;
  auto Broken = parse(R"cpp(
    void call(int);
    void first() { call(missing); Unknown u; u.method(); }
    void second() { for (auto x : nothing) { call(x); } }
    void third() { while (call(1)) { } }
    struct S { S() : Field(missing) {} int Field; };
    template <class T> void fourth(T t) { t.f(undeclared); }
  )cpp",
                      Options);
  ASSERT_TRUE(Broken);
  // A graph or none, but no crash.
  struct Builder : RecursiveASTVisitor<Builder> {
    ASTContext &Context;
    unsigned Built = 0;
    explicit Builder(ASTContext &Context) : Context(Context) {}
    bool VisitFunctionDecl(FunctionDecl *F) {
      if (F->doesThisDeclarationHaveABody())
        if (auto Flow = ControlFlow::build(F, Context)) {
          ++Built;
          EXPECT_GE(Flow->cfg().size(), 2u);
        }
      return true;
    }
  } Build(Broken->getASTContext());
  Build.TraverseAST(Broken->getASTContext());
  EXPECT_GE(Build.Built, 1u);
}

// The parameter that gets an argument, and what all returns of a function say.
#include "ast/Calls.h"
#include "ast/Expressions.h"
#include "ast/Walk.h"
#include "support/Parse.h"
#include "gtest/gtest.h"

using namespace clang;
using namespace torchtidy;
using namespace torchtidy::test;

namespace {

bool isLiteral(const Expr *E) {
  return E && isa<IntegerLiteral>(ast::strip(E));
}

} // namespace

TEST(Calls, TheParameterOfAnArgument) {
  const auto Unit = parse("void g(int a, int b = 2) {}\n"
                          "void f(int x) { g(x, 1); }\n");
  ASSERT_TRUE(Unit);
  const FunctionDecl *F = findFunction(*Unit, "f"),
                     *G = findFunction(*Unit, "g");
  ASSERT_TRUE(F && G);
  const CallExpr *Call = nullptr;
  ast::forEachStmt(
      F->getBody(),
      [&](const Stmt *S) {
        if (const auto *Found = dyn_cast<CallExpr>(S))
          Call = Found;
      },
      ast::Lambdas::Skip);
  ASSERT_TRUE(Call);
  EXPECT_EQ(ast::parameterFor(Call, G, isLiteral), G->getParamDecl(1));
  EXPECT_EQ(ast::parameterFor(Call, G, [](const Expr *) { return false; }),
            nullptr);
}

TEST(Calls, AllReturns) {
  const auto Unit = parse("int all(bool b) { if (b) return 1; return 2; }\n"
                          "int some(bool b) { if (b) return 1; return b; }\n"
                          "void none(bool b) { if (b) return; }\n"
                          "void open() {}\n"
                          "int inner() { auto l = [] { return 1; };\n"
                          "              int x = l(); return x; }\n");
  ASSERT_TRUE(Unit);
  const auto Returns = [&](const char *Name) {
    return ast::allReturns(findFunction(*Unit, Name), isLiteral);
  };
  EXPECT_TRUE(Returns("all"));
  for (const char *Name : {"some", "none", "open", "inner"})
    EXPECT_FALSE(Returns(Name)) << Name;
}

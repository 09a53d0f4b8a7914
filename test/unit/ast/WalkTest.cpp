// The walk through statements: what it meets, in which order, and what it
// leaves out.
#include "ast/Walk.h"
#include "support/Parse.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/StmtCXX.h"
#include "gtest/gtest.h"

using namespace clang;
using namespace torchtidy::ast;
using namespace torchtidy::test;

using Names = std::vector<std::string>;

namespace {

/// What a function of a source refers to by name, in the order of a walk.
struct Source {
  std::unique_ptr<ASTUnit> Unit;

  explicit Source(llvm::StringRef Code) : Unit(parse(Code)) {}

  const Stmt *body(llvm::StringRef Function = "f") const {
    const FunctionDecl *F = Unit ? findFunction(*Unit, Function) : nullptr;
    return F ? F->getBody() : nullptr;
  }

  Names names(Lambdas Into) const {
    Names Result;
    forEachStmt(
        body(),
        [&](const Stmt *S) {
          if (const auto *Ref = dyn_cast<DeclRefExpr>(S))
            Result.push_back(Ref->getDecl()->getNameAsString());
        },
        Into);
    return Result;
  }
};

bool isReference(const Stmt *S) { return isa<DeclRefExpr>(S); }
bool isLambda(const Stmt *S) { return isa<LambdaExpr>(S); }

} // namespace

TEST(Walk, ParentsComeBeforeChildrenInTheOrderOfTheSource) {
  const Source Code("void f(int a, int b, int c, int d) {\n"
                    "  if (a) b = c; else d;\n"
                    "  int x = a + b, y = c;\n"
                    "  for (int i = d; i < a; ++i) b;\n"
                    "}");
  EXPECT_EQ(Code.names(Lambdas::Enter), (Names{"a", "b", "c", "d", "a", "b",
                                               "c", "d", "i", "a", "i", "b"}));
  std::vector<const char *> Kinds;
  forEachStmt(
      Code.body(),
      [&](const Stmt *S) { Kinds.push_back(S->getStmtClassName()); },
      Lambdas::Enter);
  ASSERT_GE(Kinds.size(), 2u);
  EXPECT_STREQ(Kinds[0], "CompoundStmt");
  EXPECT_STREQ(Kinds[1], "IfStmt");
}

TEST(Walk, BodiesAndCapturesOfLambdas) {
  const Source Code(
      "void g(int);\n"
      "void f(int a, int b, int c) {\n"
      "  auto l = [a, &b, d = c] { g(a); return [b] { return b; }; };\n"
      "  c;\n"
      "}");
  EXPECT_EQ(Code.names(Lambdas::Enter),
            (Names{"a", "b", "c", "g", "a", "b", "b", "c"}));
  EXPECT_EQ(Code.names(Lambdas::Captures), (Names{"a", "b", "c", "c"}));
  EXPECT_EQ(Code.names(Lambdas::Skip), (Names{"c"}));
  // The lambda itself is always met, one in its body only by Enter.
  for (Lambdas Into : {Lambdas::Enter, Lambdas::Captures, Lambdas::Skip}) {
    unsigned Number = 0;
    forEachStmt(
        Code.body(), [&](const Stmt *S) { Number += isLambda(S); }, Into);
    EXPECT_EQ(Number, Into == Lambdas::Enter ? 2u : 1u);
    EXPECT_TRUE(anyStmt(Code.body(), isLambda, Into));
  }
}

TEST(Walk, LambdaThatCapturesNothingOrThis) {
  const Source Code(
      "struct S {\n"
      "  int m;\n"
      "  void f() { [] { return 1; }(); [this] { return m; }(); }\n"
      "};");
  auto Count = [&](Lambdas Into, auto Is) {
    unsigned Result = 0;
    forEachStmt(Code.body(), [&](const Stmt *S) { Result += Is(S); }, Into);
    return Result;
  };
  auto IsThis = [](const Stmt *S) { return isa<CXXThisExpr>(S); };
  auto IsReturn = [](const Stmt *S) { return isa<ReturnStmt>(S); };
  EXPECT_EQ(Count(Lambdas::Enter, IsThis), 2u);
  EXPECT_EQ(Count(Lambdas::Captures, IsThis), 1u);
  EXPECT_EQ(Count(Lambdas::Skip, IsThis), 0u);
  EXPECT_EQ(Count(Lambdas::Enter, IsReturn), 2u);
  EXPECT_EQ(Count(Lambdas::Captures, IsReturn), 0u);
}

TEST(Walk, ABodyThatIsALambda) {
  // The root is a lambda: the same holds for it.
  const Source Code("auto l = [](int a) { return a; };");
  const VarDecl *L = nullptr;
  for (auto It = Code.Unit->top_level_begin(); It != Code.Unit->top_level_end();
       ++It)
    if (const auto *V = dyn_cast<VarDecl>(*It))
      L = V;
  ASSERT_TRUE(L);
  EXPECT_TRUE(anyStmt(L->getInit(), isReference, Lambdas::Enter));
  EXPECT_FALSE(anyStmt(L->getInit(), isReference, Lambdas::Captures));
  EXPECT_FALSE(anyStmt(L->getInit(), isReference, Lambdas::Skip));
}

TEST(Walk, ChildrenThatAreNull) {
  EXPECT_FALSE(
      anyStmt(nullptr, [](const Stmt *) { return true; }, Lambdas::Enter));
  forEachStmt(nullptr, [](const Stmt *) { ADD_FAILURE(); }, Lambdas::Enter);
  // Neither init, condition nor increment; no else; no case's right-hand side.
  const Source Code("void f(int a) { for (;;) { if (a) a; break; } "
                    "switch (a) { case 1: a; } return; }");
  unsigned Nulls = 0;
  forEachStmt(
      Code.body(),
      [&](const Stmt *S) {
        ASSERT_TRUE(S);
        for (const Stmt *Child : S->children())
          Nulls += !Child;
      },
      Lambdas::Enter);
  EXPECT_GT(Nulls, 0u) << "the test has lost its point";
  EXPECT_EQ(Code.names(Lambdas::Enter), (Names{"a", "a", "a", "a"}));
}

TEST(Walk, InitializerListsInTheirSemanticForm) {
  const Source Code("struct P { int x = 7; int y; int z[4]; };\n"
                    "void f(int a, int b) { P p = {.y = a, .z = {b}}; }");
  unsigned Lists = 0, Implicit = 0, Defaults = 0, Designated = 0;
  forEachStmt(
      Code.body(),
      [&](const Stmt *S) {
        if (const auto *List = dyn_cast<InitListExpr>(S)) {
          EXPECT_TRUE(List->isSemanticForm());
          ++Lists;
        }
        Implicit += isa<ImplicitValueInitExpr>(S);
        Defaults += isa<CXXDefaultInitExpr>(S);
        Designated += isa<DesignatedInitExpr>(S);
        EXPECT_FALSE(isa<IntegerLiteral>(S))
            << "a default member initializer belongs to its class";
      },
      Lambdas::Enter);
  EXPECT_EQ(Lists, 2u);
  EXPECT_EQ(Defaults, 1u) << "of x";
  EXPECT_EQ(Implicit, 0u) << "the filler of z is no child";
  EXPECT_EQ(Designated, 0u) << "designators are of the syntactic form";
  EXPECT_EQ(Code.names(Lambdas::Enter), (Names{"a", "b"}));
}

TEST(Walk, ListsOfTemplatesAsTheyAreWritten) {
  // Of a dependent type nothing but the syntactic form is there.
  const Source Code(
      "template <class T> void f(int a, int b) { T t = {a, {b}}; }");
  EXPECT_EQ(Code.names(Lambdas::Enter), (Names{"a", "b"}));
}

TEST(Walk, DefaultArgumentsAreNotOfTheCall) {
  const Source Code("int n; int g(int a, int b = n); void f(int a) { g(a); }");
  EXPECT_EQ(Code.names(Lambdas::Enter), (Names{"g", "a"}));
}

TEST(Walk, LocalClassesAreNotOfTheStatement) {
  const Source Code(
      "void f(int a) { struct L { int m(int b) { return b; } } l; a; }");
  EXPECT_EQ(Code.names(Lambdas::Enter), (Names{"a"}));
}

TEST(Walk, AnyEndsAtTheFirstThatItFinds) {
  const Source Code("void f(int a, int b) { a; b; }");
  unsigned Asked = 0;
  EXPECT_TRUE(anyStmt(
      Code.body(),
      [&](const Stmt *S) {
        Asked += isReference(S);
        return isReference(S);
      },
      Lambdas::Enter));
  EXPECT_EQ(Asked, 1u);
  EXPECT_FALSE(anyStmt(
      Code.body(), [](const Stmt *S) { return isa<CallExpr>(S); },
      Lambdas::Enter));
}

TEST(Walk, GoesPastWhatIsNotWanted) {
  const Source Code("int g(int); void f(int a, int b, int c) { g(a); b; c; }");
  Names Met;
  walk(
      Code.body(),
      [&](const Stmt *S, llvm::ArrayRef<const Stmt *>) {
        if (isa<CallExpr>(S))
          return Next::Past;
        const auto *Ref = dyn_cast<DeclRefExpr>(S);
        if (!Ref)
          return Next::Children;
        Met.push_back(Ref->getDecl()->getNameAsString());
        return Met.back() == "b" ? Next::Stop : Next::Children;
      },
      Lambdas::Enter);
  EXPECT_EQ(Met, (Names{"b"})) << "not a, in the call; not c, after the end";
}

TEST(Walk, KnowsWhatIsAround) {
  const Source Code("int g(int); void f(int a) { if (a) { g(a); } a; }");
  std::vector<Names> Around;
  walk(
      Code.body(),
      [&](const Stmt *S, llvm::ArrayRef<const Stmt *> Above) {
        if (const auto *Ref = dyn_cast<DeclRefExpr>(S);
            Ref && isa<ParmVarDecl>(Ref->getDecl())) {
          Names Path;
          for (const Stmt *Each : Above)
            if (!isa<CastExpr>(Each))
              Path.push_back(Each->getStmtClassName());
          Around.push_back(std::move(Path));
        }
        return Next::Children;
      },
      Lambdas::Enter);
  EXPECT_EQ(Around, (std::vector<Names>{
                        {"CompoundStmt", "IfStmt"},
                        {"CompoundStmt", "IfStmt", "CompoundStmt", "CallExpr"},
                        {"CompoundStmt"}}));
}

TEST(Walk, NoDepthIsTooDeep) {
  // Far deeper than the stack of a recursion would take: made by hand, since
  // Clang's own parser recurses.
  const Source Code("void f(int a) { a; }");
  ASTContext &Context = Code.Unit->getASTContext();
  const auto *Body = cast<CompoundStmt>(Code.body());
  Expr *E = const_cast<Expr *>(cast<Expr>(Body->body_front()));
  constexpr unsigned Depth = 500'000;
  for (unsigned I = 0; I < Depth; ++I)
    E = new (Context) ParenExpr(SourceLocation(), SourceLocation(), E);
  unsigned Parens = 0;
  size_t Deepest = 0;
  walk(
      E,
      [&](const Stmt *S, llvm::ArrayRef<const Stmt *> Around) {
        Parens += isa<ParenExpr>(S);
        Deepest = std::max(Deepest, Around.size());
        return Next::Children;
      },
      Lambdas::Enter);
  EXPECT_EQ(Parens, Depth);
  EXPECT_GE(Deepest, Depth);
  EXPECT_TRUE(anyStmt(E, isReference, Lambdas::Enter));
}

TEST(Walk, ALongSumAsItIsWritten) {
  std::string Sum = "a";
  for (unsigned I = 0; I < 20'000; ++I)
    Sum += "+a";
  // The tree of a left-associative operator is as deep as the sum is long. In a
  // template: what Clang checks of typed expressions recurses.
  const Source Code("template <class T> void f(T a) { " + Sum + "; }");
  EXPECT_EQ(Code.names(Lambdas::Enter).size(), 20'001u);
}

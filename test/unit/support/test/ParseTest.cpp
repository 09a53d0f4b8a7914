// The helpers of the unit tests are worth as much as what they notice.
#include "support/Parse.h"
#include "clang/AST/DeclCXX.h"
#include "gtest/gtest-spi.h"
#include "gtest/gtest.h"

using namespace clang;
using namespace torchtidy::test;

TEST(Parse, PlainSource) {
  auto Unit = parse(
      "#include <vector>\nint sum(const std::vector<int> &V) { return V[0]; }");
  ASSERT_TRUE(Unit);
  const FunctionDecl *Sum = findFunction(*Unit, "sum");
  ASSERT_TRUE(Sum);
  EXPECT_TRUE(Sum->hasBody());
  EXPECT_FALSE(Unit->getDiagnostics().hasErrorOccurred());
}

TEST(Parse, ErrorFailsTheTest) {
  EXPECT_NONFATAL_FAILURE(parse("int f() { return missing; }"), "'missing'");
}

TEST(Parse, ErrorMayBeAllowed) {
  ParseOptions Options;
  Options.AllowErrors = true;
  auto Unit =
      parse("int f() { return missing; }\nint g() { return 1; }", Options);
  ASSERT_TRUE(Unit);
  EXPECT_TRUE(Unit->getDiagnostics().hasErrorOccurred());
  EXPECT_TRUE(findFunction(*Unit, "g"));
}

TEST(Parse, Arguments) {
  ParseOptions Options;
  Options.Arguments = {"-std=c++20", "-DVALUE=3"};
  EXPECT_TRUE(parse("consteval int f() { return VALUE; }", Options));
}

TEST(Parse, FindFunction) {
  auto Unit = parse(R"cpp(
    struct Net { int forward(); int twice() { return 2 * forward(); } };
    int Net::forward() { return 1; }
    template <class T> T train(T Value) { return Value; }
    template <class T> T unused(T Value) { return Value; }
    namespace inner { int use() { auto Call = [](int V) { return V; }; return Call(train(1)); } }
  )cpp");
  ASSERT_TRUE(Unit);
  EXPECT_TRUE(
      isa_and_nonnull<CXXMethodDecl>(findFunction(*Unit, "Net::forward")));
  EXPECT_TRUE(findFunction(*Unit, "twice"));
  EXPECT_TRUE(findFunction(*Unit, "inner::use"));
  EXPECT_TRUE(findFunction(*Unit, "operator()"));
  const FunctionDecl *Train = findFunction(*Unit, "train");
  ASSERT_TRUE(Train);
  EXPECT_TRUE(Train->isTemplateInstantiation());
  EXPECT_TRUE(findFunction(*Unit, "unused"));
  static ASTUnit *Static;
  Static = Unit.get();
  EXPECT_NONFATAL_FAILURE(findFunction(*Static, "absent"), "absent");
}

TEST(Parse, LibTorch) {
  auto Unit = parseTorch(R"cpp(
    struct Net : torch::nn::Module {
      Net() { Layer = register_module("layer", torch::nn::Linear(2, 2)); }
      torch::Tensor forward(torch::Tensor X) { return Layer->forward(X); }
      torch::nn::Linear Layer{nullptr};
    };
    void train(Net &Model) {
      torch::optim::SGD Optimizer(Model.parameters(), 0.1);
      Model.forward(torch::ones({2, 2})).sum().backward();
      Optimizer.step();
    }
  )cpp");
  ASSERT_TRUE(Unit);
  const FunctionDecl *Forward = findFunction(*Unit, "Net::forward");
  ASSERT_TRUE(Forward);
  EXPECT_EQ(Forward->getReturnType()
                ->getAsCXXRecordDecl()
                ->getQualifiedNameAsString(),
            "at::Tensor");
  EXPECT_TRUE(findFunction(*Unit, "train"));
}

TEST(Parse, LibTorchErrorFailsTheTest) {
  EXPECT_NONFATAL_FAILURE(parseTorch("void f() { torch::no_such_function(); }"),
                          "no_such_function");
}

// The entries of a program.
#include "model/Model.h"

using namespace torchtidy::model;
using namespace torchtidy::test;

namespace {

std::vector<std::string> roots(llvm::StringRef Code) {
  Model M(Code);
  std::vector<std::string> Result;
  if (M.isRead())
    for (const auto &Execution : M.program().executions())
      Result.push_back(Execution->root().Function->getQualifiedNameAsString());
  llvm::sort(Result);
  return Result;
}

using Names = std::vector<std::string>;

} // namespace

TEST(Program, RootsAreWhatNothingInTheFileCalls) {
  EXPECT_EQ(roots(R"cpp(
    void helper(torch::Tensor x) { x.sum(); }
    void first(torch::Tensor x) { helper(x); }
    struct Net { void second(torch::Tensor x) { helper(x); } };
    int main() { first(torch::ones({1})); }
  )cpp"),
            (Names{"Net::second", "main"}));
}

TEST(Program, WhatHasNothingToDoWithLibTorchIsLeftOut) {
  EXPECT_EQ(roots(R"cpp(
    int add(int a, int b) { return a + b; }
    void print(const std::string &text) { std::puts(text.c_str()); }
    void uses(torch::Tensor x) { x.add(add(1, 2)); }
  )cpp"),
            (Names{"uses"}));
}

TEST(Program, WhatNoOtherEntryLeadsTo) {
  // A recursion that nothing enters, a callback that is only stored.
  EXPECT_EQ(roots(R"cpp(
    void odd(torch::Tensor x, int n);
    void even(torch::Tensor x, int n) { if (n) odd(x, n - 1); }
    void odd(torch::Tensor x, int n) { if (n) even(x, n - 1); }
    void callback(torch::Tensor x) { x.sum(); }
    void take(void (*)(torch::Tensor));
    void registers(torch::Tensor x) { take(callback); }
  )cpp"),
            (Names{"callback", "even", "registers"}));
}

TEST(Program, UninstantiatedTemplates) {
  EXPECT_EQ(roots(R"cpp(
    template <class Net> void train(Net &net, torch::Tensor x) {
      net.zero_grad();
      net.forward(x).backward();
    }
  )cpp"),
            (Names{"train"}));
}

TEST(Program, AskedAgainItIsTheSame) {
  Model M("void use(torch::Tensor x) { x.sum(); }");
  ASSERT_TRUE(M.isRead());
  const Execution *First = M.program().executions().front().get();
  EXPECT_EQ(M.program().executions().front().get(), First);
}

TEST(Program, NothingToAnalyse) {
  EXPECT_TRUE(roots("").empty());
  EXPECT_TRUE(roots("void declared(torch::Tensor);").empty());
}

TEST(Program, TextIsOnOneLine) {
  Model M("void use(torch::Tensor x) { observe(\"a\",\n     x . sum(\n)); }\n"
          "#define SUM(X) X.sum()\n"
          "void macro(torch::Tensor x) { observe(\"b\", SUM(x)); }");
  ASSERT_TRUE(M.isRead());
  Entry W = M.entry("use");
  EXPECT_EQ(M.program().text(W.all<EscapeEvent>().front()->Site),
            "observe(\"a\", x . sum( ))");
  EXPECT_EQ(M.program().text(nullptr), "");
}

TEST(Program, ConstructorsComeBeforeARootMethod) {
  Model M(R"cpp(
    struct Trainer {
      Trainer() : weight(torch::zeros({2}, torch::requires_grad())) {}
      void run() { observe("weight", weight); }
      torch::Tensor weight;
    };
  )cpp");
  ASSERT_TRUE(M.isRead());
  EXPECT_EQ(M.entry("Trainer::run").observed("weight").History, history::Leaf);
}

// The analysis takes time in proportion to the program: counted in values that
// are read and written, which no machine changes.
#include "model/Model.h"

using namespace torchtidy::model;
using namespace torchtidy::test;

namespace {

std::string repeated(unsigned Times, const std::string &Statement) {
  std::string Result;
  for (unsigned I = 0; I < Times; ++I)
    Result += Statement;
  return Result;
}

/// The work for an entry that is called f.
unsigned long work(const std::string &Code) {
  Model M(Code);
  EXPECT_TRUE(M.isRead());
  torchtidy::model::Code Program(M.context());
  const Execution Entry(Program, M.function("f"));
  EXPECT_TRUE(Entry.isComplete());
  return Entry.work();
}

unsigned long workOf(unsigned Times, const std::string &Statement) {
  return work("torch::Tensor g(torch::Tensor x) { return x * 2; }\n"
              "void f(torch::Tensor x, int a) {\n" +
              repeated(Times, Statement) + "}\n");
}

TEST(Growth, Branches) {
  const std::string Branch = "if (a > 1) x = x * 2;\n";
  EXPECT_LT(workOf(200, Branch), 5 * workOf(50, Branch));
}

TEST(Growth, Statements) {
  const std::string Statement = "x = x * 2; x.backward();\n";
  EXPECT_LT(workOf(200, Statement), 5 * workOf(50, Statement));
}

TEST(Growth, CallsOfCalls) {
  // Each calls the one below three times; what has returned is not kept.
  const auto Fan = [](unsigned Depth) {
    std::string Code = "torch::Tensor f0(torch::Tensor x) { return x * 2; }\n";
    for (unsigned I = 1; I <= Depth; ++I) {
      const std::string Call = "f" + std::to_string(I - 1) + "(x)";
      Code += "torch::Tensor f" + std::to_string(I) +
              "(torch::Tensor x) { return " + Call + " + " + Call + " + " +
              Call + "; }\n";
    }
    return Code + "void f(torch::Tensor x) { f" + std::to_string(Depth) +
           "(x); }\n";
  };
  EXPECT_LT(work(Fan(5)), 4 * work(Fan(4)));
}

TEST(Growth, ABoundEndsTheWork) {
  // Each statement writes all that p may lead to.
  std::string Code =
      "void f(torch::Tensor x, int a) { torch::Tensor *p = &x;\n";
  for (unsigned I = 0; I < 400; ++I)
    Code += "torch::Tensor t" + std::to_string(I) + ";\n";
  Code += "for (;;) {\n";
  for (unsigned I = 0; I < 400; ++I) {
    const std::string Number = std::to_string(I);
    Code += "if (a == " + Number + ") p = &t" + Number + "; *p = *p * x;\n";
  }
  Model M(Code + "} }\nvoid other(torch::Tensor x) { x.backward(); }\n");
  ASSERT_TRUE(M.isRead());
  Program User(M.context());
  // The other entry is there, and what is left out is told.
  ASSERT_EQ(User.executions().size(), 1u);
  EXPECT_EQ(User.executions().front()->root().Function, M.function("other"));
  ASSERT_EQ(User.shortfalls().size(), 1u);
  EXPECT_EQ(User.shortfalls().front().Function, M.function("f"));
  EXPECT_EQ(User.shortfalls().front().Left, Shortfall::All);
  EXPECT_FALSE(User.isComplete());
}

TEST(Growth, WhereAllCallsAreTooManyFewerAreFollowed) {
  std::string Code = "torch::Tensor f0(torch::Tensor x) { return x * x; }\n";
  for (unsigned I = 1; I < 8; ++I) {
    const std::string Call = "f" + std::to_string(I - 1) + "(x)";
    Code += "torch::Tensor f" + std::to_string(I) +
            "(torch::Tensor x) { return x * " + Call + " * " + Call + " * " +
            Call + " * " + Call + "; }\n";
  }
  Code += "void fan(torch::Tensor x) {\n";
  for (unsigned I = 0; I < 200; ++I)
    Code += "torch::Tensor y" + std::to_string(I) + " = x * x;\n";
  Model M(Code + "f6(x).backward(); }\n");
  ASSERT_TRUE(M.isRead());
  Program User(M.context());
  const auto Entries = User.executions();
  const auto Fan = llvm::find_if(Entries, [&](const auto &Entry) {
    return Entry->root().Function == M.function("fan");
  });
  ASSERT_NE(Fan, Entries.end());
  EXPECT_TRUE((*Fan)->isComplete());
  EXPECT_GT((*Fan)->graph().frames().size(), 20u);
  ASSERT_EQ(User.shortfalls().size(), 1u);
  EXPECT_EQ(User.shortfalls().front().Left, Shortfall::Calls);
}

/// The shortfalls of a loss behind so many layers, one after the other.
std::vector<Shortfall::Kind> leftBehindLayers(unsigned Layers) {
  Model M("void f(torch::Tensor x) {\ntorch::nn::Linear net(8, 8);\n" +
          repeated(Layers, "x = net(x);\n") + "x.sum().backward(); }\n");
  EXPECT_TRUE(M.isRead());
  Program User(M.context());
  EXPECT_EQ(User.executions().size(), 1u);
  std::vector<Shortfall::Kind> Result;
  for (const Shortfall &Each : User.shortfalls())
    Result.push_back(Each.Left);
  return Result;
}

TEST(Growth, PassesOfADeepNetworkAreToldApart) {
  EXPECT_TRUE(leftBehindLayers(300).empty());
}

TEST(Growth, WhereThereAreTooManyPassesThatIsTold) {
  const auto Left = leftBehindLayers(1100);
  ASSERT_EQ(Left.size(), 1u);
  EXPECT_EQ(Left.front(), Shortfall::Passes);
}

} // namespace

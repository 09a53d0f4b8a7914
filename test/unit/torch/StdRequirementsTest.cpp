// What the standard library calls of the types that it is given.
#include "torch/StdRequirements.h"
#include "support/Parse.h"
#include "clang/AST/DeclCXX.h"
#include "gtest/gtest.h"

using namespace clang;
using namespace torchtidy;
using namespace torchtidy::test;

TEST(StdRequirements, ConstructorsOperatorsAndNamesOfTheStandard) {
  const std::unique_ptr<ASTUnit> Unit = parse(R"cpp(
struct Called {
  template <class T> explicit Called(T);
  template <class T> operator T() const;
  template <class T> bool operator()(T, T) const;
  template <class T> void construct(T *);
  int *begin();
};
struct NotCalled {
  template <class Archive> void serialize(Archive &);
  void beginning();
};
void all(Called, NotCalled) {}
)cpp");
  ASSERT_TRUE(Unit);
  const FunctionDecl *All = findFunction(*Unit, "all");
  for (unsigned I : {0u, 1u}) {
    unsigned Count = 0;
    const CXXRecordDecl *Class =
        All->getParamDecl(I)->getType()->getAsCXXRecordDecl();
    for (const Decl *D : Class->decls()) {
      const FunctionDecl *F = D->isImplicit() ? nullptr : D->getAsFunction();
      if (!F)
        continue;
      ++Count;
      EXPECT_EQ(torch::mayBeCalledByStd(F), I == 0)
          << F->getQualifiedNameAsString();
    }
    EXPECT_EQ(Count, I == 0 ? 5u : 2u);
  }
}

// What the standard library calls of the types that it is given.
#include "torch/StdRequirements.h"
#include "support/Parse.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/DeclTemplate.h"
#include "gtest/gtest.h"
#include <map>
#include <string>

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
  void load(int &);
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
    EXPECT_EQ(Count, I == 0 ? 6u : 2u);
  }
}

TEST(StdRequirements, TemplatesThatOnlyHoldTheirModule) {
  const std::unique_ptr<ASTUnit> Unit = parse(R"cpp(
# 1 "torch/nn/pimpl.h" 1 3
namespace torch {
template <class T> class ModuleHolder {};
template <class T> class Chain {};
} // namespace torch
# 7 "input.cpp" 2
template <class T> class Cloneable {};
)cpp");
  ASSERT_TRUE(Unit);
  std::map<std::string, bool> Answers;
  for (const Decl *D : Unit->getASTContext().getTranslationUnitDecl()->decls())
    if (const auto *Space = dyn_cast<NamespaceDecl>(D)) {
      for (const Decl *Inner : Space->decls())
        if (const auto *Template = dyn_cast<ClassTemplateDecl>(Inner))
          Answers[Template->getNameAsString()] =
              torch::callsAsStdDoes(Template);
    } else if (const auto *Template = dyn_cast<ClassTemplateDecl>(D)) {
      Answers[Template->getNameAsString()] = torch::callsAsStdDoes(Template);
    }
  const std::map<std::string, bool> Expected = {
      {"Chain", false}, {"Cloneable", false}, {"ModuleHolder", true}};
  EXPECT_EQ(Answers, Expected);
}

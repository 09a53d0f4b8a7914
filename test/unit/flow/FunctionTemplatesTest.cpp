// Of a template one instantiation is analysed, or else its pattern.
#include "flow/Functions.h"
#include "support/Parse.h"
#include "clang/AST/DeclCXX.h"
#include "gtest/gtest.h"
#include <map>

using namespace clang;
using namespace torchtidy::flow;
using namespace torchtidy::test;

using Names = std::vector<std::string>;

static bool noLibrary(llvm::StringRef) { return false; }

static Names names(const UserFunctions &Functions) {
  Names Result;
  for (const FunctionDecl *F : Functions.all())
    Result.push_back(F->getQualifiedNameAsString());
  return Result;
}

static Names functionsOf(llvm::StringRef Code) {
  auto Unit = parse(Code);
  return Unit ? names(UserFunctions(Unit->getASTContext(), noLibrary))
              : Names();
}

TEST(FunctionTemplates, GenericLambda) {
  auto Unit = parse(R"cpp(
    int use() {
      auto Twice = [](auto V) { return V + V; };
      auto Unused = [](auto V) { return V; };
      (void)Unused;
      return Twice(1) + static_cast<int>(Twice(1.0));
    }
  )cpp");
  ASSERT_TRUE(Unit);
  UserFunctions Functions(Unit->getASTContext(), noLibrary);
  // use, one instantiation of Twice, and the pattern of Unused.
  ASSERT_EQ(Functions.all().size(), 3u);
  unsigned Patterns = 0;
  for (const FunctionDecl *F : Functions.all()) {
    Patterns += F->isDependentContext();
    EXPECT_EQ(Functions.lambda(F) != nullptr, F->getNameAsString() != "use");
  }
  EXPECT_EQ(Patterns, 1u);
}

TEST(FunctionTemplates, OneInstantiationForAll) {
  auto Unit = parse(R"cpp(
    template <class T> T twice(T V);
    template <class T> T twice(T V) { return V + V; }
    double use() { return twice(1) + twice(1.0) + twice('a'); }
  )cpp");
  ASSERT_TRUE(Unit);
  UserFunctions Functions(Unit->getASTContext(), noLibrary);
  EXPECT_EQ(names(Functions), (Names{"twice", "use"}));
  EXPECT_TRUE(Functions.all()[0]->isTemplateInstantiation());
  EXPECT_FALSE(Functions.all()[0]->isDependentContext());
}

TEST(FunctionTemplates, PatternOfATemplateThatNothingInstantiates) {
  auto Unit = parse(R"cpp(
    template <class Net> void train(Net &Model) { Model.forward(); }
  )cpp");
  ASSERT_TRUE(Unit);
  UserFunctions Functions(Unit->getASTContext(), noLibrary);
  ASSERT_EQ(names(Functions), (Names{"train"}));
  EXPECT_TRUE(Functions.all()[0]->isDependentContext());
}

TEST(FunctionTemplates, MembersOfClassTemplates) {
  auto Unit = parse(R"cpp(
    template <class T> struct Trainer {
      Trainer() {}
      void used() {}
      void unused() {}
      template <class U> void generic(U) {}
    };
    void use() { Trainer<int> A; A.used(); A.generic(1); Trainer<char>().used(); }
  )cpp");
  ASSERT_TRUE(Unit);
  UserFunctions Functions(Unit->getASTContext(), noLibrary);
  std::map<std::string, unsigned> Instantiations, Patterns;
  for (const FunctionDecl *F : Functions.all())
    ++(F->isDependentContext() ? Patterns
                               : Instantiations)[F->getNameAsString()];
  EXPECT_EQ(Instantiations["used"], 1u);
  EXPECT_EQ(Instantiations["generic"], 1u);
  EXPECT_EQ(Patterns["unused"], 1u) << "instantiated with the class, but the "
                                       "body never was";
  EXPECT_EQ(Patterns["used"], 0u);
}

TEST(FunctionTemplates, MemberTemplateDefinedOutside) {
  EXPECT_EQ(functionsOf(R"cpp(
    struct Trainer { template <class T> void epoch(T Data); };
    template <class T> void Trainer::epoch(T Data) {}
    void use() { Trainer().epoch(1); }
  )cpp"),
            (Names{"Trainer::epoch", "use"}));
}

TEST(FunctionTemplates, FullSpecializationOfAClass) {
  EXPECT_EQ(functionsOf(R"cpp(
    template <class T> struct Trainer { void epoch() {} };
    template <> struct Trainer<char> { void other() {} };
    void use() { Trainer<int>().epoch(); Trainer<char>().other(); }
  )cpp"),
            (Names{"Trainer<int>::epoch", "Trainer<char>::other", "use"}));
}

TEST(FunctionTemplates, LambdaInside) {
  auto Unit = parse(R"cpp(
    template <class T> void used(T Value) { [&] { ++Value; }(); }
    template <class T> void unused(T Value) { [&] { Value.call(); }(); }
    void use() { used(1); used(2.0); }
  )cpp");
  ASSERT_TRUE(Unit);
  UserFunctions Functions(Unit->getASTContext(), noLibrary);
  unsigned Lambdas = 0;
  for (const FunctionDecl *F : Functions.all())
    Lambdas += Functions.lambda(F) != nullptr;
  EXPECT_EQ(Lambdas, 2u);
  EXPECT_EQ(Functions.all().size(), 5u);
}

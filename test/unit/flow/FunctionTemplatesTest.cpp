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

/// The same with patterns marked.
static Names kindsOf(llvm::StringRef Code) {
  auto Unit = parse(Code);
  if (!Unit)
    return Names();
  UserFunctions Functions(Unit->getASTContext(), noLibrary);
  Names Result = names(Functions);
  for (unsigned I = 0; I < Result.size(); ++I)
    if (Functions.all()[I]->isDependentContext())
      Result[I] += " (pattern)";
  return Result;
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

TEST(FunctionTemplates, ExplicitSpecializationDoesNotStandForThePattern) {
  EXPECT_EQ(kindsOf(R"cpp(
    template <class T> void save(T V) {}
    template <> void save<int>(int V) {}
    void use() { save(1); save(1.0); }
  )cpp"),
            (Names{"save", "save", "use"}));
}

TEST(FunctionTemplates, ExplicitSpecializationAndPatternNeverInstantiated) {
  EXPECT_EQ(kindsOf(R"cpp(
    template <class T> void save(T V) {}
    template <> void save<int>(int V) {}
    void use() { save(1); }
  )cpp"),
            (Names{"save (pattern)", "save", "use"}));
}

TEST(FunctionTemplates, MemberOfAClassTemplateDefinedOutside) {
  EXPECT_EQ(kindsOf(R"cpp(
    template <class T> struct Trainer { void epoch(); void unused(); };
    template <class T> void Trainer<T>::epoch() {}
    template <class T> void Trainer<T>::unused() {}
    void use() { Trainer<int>().epoch(); }
  )cpp"),
            (Names{"Trainer<int>::epoch", "Trainer::unused (pattern)", "use"}));
}

TEST(FunctionTemplates, NestedClassOfAClassTemplate) {
  EXPECT_EQ(kindsOf(R"cpp(
    template <class T> struct Trainer { struct State { void load() {} }; State S; };
    void use() { Trainer<int>().S.load(); }
  )cpp"),
            (Names{"Trainer<int>::State::load", "use"}));
}

TEST(FunctionTemplates, MemberTemplateOfAClassTemplateNotInstantiated) {
  EXPECT_EQ(kindsOf(R"cpp(
    template <class T> struct Trainer { template <class U> void epoch(U) {} };
    void use() { Trainer<int>(); }
  )cpp"),
            (Names{"Trainer::epoch (pattern)", "use"}));
}

TEST(FunctionTemplates, PartialSpecialization) {
  EXPECT_EQ(kindsOf(R"cpp(
    template <class T> struct Trainer { void epoch() {} };
    template <class T> struct Trainer<T *> { void other() {} };
    void use() { Trainer<int>().epoch(); Trainer<int *>().other(); }
  )cpp"),
            (Names{"Trainer<int>::epoch", "Trainer<int *>::other", "use"}));
}

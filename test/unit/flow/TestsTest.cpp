#include "flow/Tests.h"
#include "support/Parse.h"
#include "gtest/gtest.h"

using namespace clang;
using namespace torchtidy::flow;
using namespace torchtidy::test;

using Names = std::vector<std::string>;

/// The functions that are tests, as they are written; the frameworks' own
/// headers are read by test/checks/torch-missing-no-grad/tests*.cpp.
static Names testsOf(llvm::StringRef Code) {
  auto Unit = parse(Code);
  if (!Unit)
    return {};
  const UserFunctions Functions(Unit->getASTContext(),
                                [](llvm::StringRef) { return false; });
  const Tests Found(Functions);
  Names Result;
  for (const FunctionDecl *F : Functions.all())
    if (Found.contains(F))
      Result.push_back(F->getQualifiedNameAsString());
  return Result;
}

TEST(TestFunctions, MethodsOfGoogleTestsClasses) {
  EXPECT_EQ(
      testsOf(R"cpp(
    namespace testing {
    struct Test { virtual ~Test(); virtual void TestBody() = 0; };
    template <class T> struct TestWithParam : Test {};
    }
    struct Direct : testing::Test { void TestBody() override; };
    void Direct::TestBody() {}
    template <class T> struct Fixture : testing::TestWithParam<T> {
      void helper() {}
    };
    struct Derived : Fixture<int> { void TestBody() override { helper(); } };
    namespace mine { struct Test {}; namespace testing { struct Test {}; } }
    struct Other : mine::Test { void run() {} };
    struct Another : mine::testing::Test { void run() {} };
    struct Alone { void run() {} };
  )cpp"),
      (Names{"Direct::TestBody", "Fixture<int>::helper", "Derived::TestBody"}));
}

TEST(TestFunctions, WhatAGlobalHandsToAFramework) {
  EXPECT_EQ(testsOf(R"cpp(
    namespace doctest::detail {
    struct TestCase { TestCase(void (*)(), const char *); };
    int regTest(const TestCase &);
    }
    namespace boost {
    template <class> struct function { template <class F> function(F); };
    void after(void (*)());
    namespace unit_test { int make_test_case(const function<void()> &); }
    }
    namespace Other { int regTest(void (*)()); }
    static void one() {}
    static const int First = doctest::detail::regTest({one, "one"});
    struct Two { void run() {} };
    static void two() { Two().run(); }
    static int Second = boost::unit_test::make_test_case(&two);
    static void three() {}
    static int Third = Other::regTest(three);
    void four() { boost::after(four); doctest::detail::regTest({four, ""}); }
  )cpp"),
            (Names{"one", "two"}));
}

TEST(TestFunctions, LambdasAndLocalClassesOfOne) {
  EXPECT_EQ(testsOf(R"cpp(
    namespace Catch { struct AutoReg { AutoReg(void (*)()); }; }
    static void test() {
      auto f = [] { return 1; };
      struct Local { int get() { return 2; } };
      f() + Local().get();
    }
    static Catch::AutoReg Registered(test);
    void program() { [] {}(); }
  )cpp"),
            (Names{"test", "test()::(anonymous class)::operator()",
                   "test()::Local::get"}));
}

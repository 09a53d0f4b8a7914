#include "flow/Unreached.h"
#include "support/Parse.h"
#include "gtest/gtest.h"

using namespace clang;
using namespace torchtidy::flow;
using namespace torchtidy::test;

using Names = std::vector<std::string>;

static Names unreachedOf(llvm::StringRef Code) {
  auto Unit = parse(Code);
  if (!Unit)
    return {};
  const UserFunctions Functions(Unit->getASTContext(),
                                [](llvm::StringRef) { return false; });
  Names Result;
  for (const FunctionDecl *F : Functions.all())
    if (isUnreached(Functions, F))
      Result.push_back(F->getQualifiedNameAsString());
  return Result;
}

TEST(Unreached, NobodyNamesIt) {
  EXPECT_EQ(unreachedOf(R"cpp(
    void before(int);
    void before(int) {}
    static void own() {}
    namespace { void inner() {} }
    inline void onLine() {}
    int main() {
      // before(1); own();
    }
  )cpp"),
            (Names{"before", "own", "(anonymous namespace)::inner", "onLine"}));
}

TEST(Unreached, WhateverNamesItMayRunIt) {
  EXPECT_EQ(unreachedOf(R"cpp(
    void called() {}
    void given() {}
    void ofTable() {}
    void ofAnother() {}
    void ofGlobal() {}
    void ofDefault() {}
    void declaredFirst();
    void hands(void (*)()) {}
    void dead() { ofAnother(); }
    void (*Table[])() = {ofTable};
    struct Starts { Starts(void (*)()); } Once(&ofGlobal);
    void takes(void (*)() = ofDefault) {}
    int main() { called(); hands(given); declaredFirst(); takes(); }
    void declaredFirst() {}
  )cpp"),
            (Names{"dead"}));
}

TEST(Unreached, WhatOthersRunWithoutNamingIt) {
  EXPECT_EQ(unreachedOf(R"cpp(
    extern "C" void plugin() {}
    __attribute__((used)) void kept() {}
    __attribute__((constructor)) void first() {}
    __attribute__((visibility("default"))) void shown() {}
    struct S { void method() {} virtual void step() {} static void make() {} };
    bool operator<(const S &, const S &) { return false; }
    template <class T> void generic(T) {}
    int main() { generic(1); }
  )cpp"),
            (Names{}));
}

TEST(Unreached, OnlyInAProgram) {
  EXPECT_EQ(unreachedOf("static void own() {} void shared() {}"), (Names{}));
}

TEST(Unreached, AHeaderMayTellOthersOfIt) {
  EXPECT_EQ(unreachedOf(R"cpp(
    # 1 "step.h" 1
    void declared();
    inline void defined() {}
    # 5 "input.cpp" 2
    void declared() {}
    void alone() {}
    int main() {}
  )cpp"),
            (Names{"alone"}));
}

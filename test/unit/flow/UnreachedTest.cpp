#include "flow/Unreached.h"
#include "support/Parse.h"
#include "gtest/gtest.h"

using namespace clang;
using namespace torchtidy::flow;
using namespace torchtidy::test;

using Names = std::vector<std::string>;

/// Net is what a macro makes NetImpl from, and templates of a library run
/// forward().
static Names unreachedOf(llvm::StringRef Code) {
  auto Unit = parse(Code);
  if (!Unit)
    return {};
  const UserFunctions Functions(Unit->getASTContext(),
                                [](llvm::StringRef) { return false; });
  const Unreached Found(Functions, {[](const FunctionDecl *F) {
                                      return F->getNameAsString() == "forward";
                                    },
                                    [](const CXXRecordDecl *Class) {
                                      llvm::StringRef Name = Class->getName();
                                      Name.consume_back("Impl");
                                      return Name;
                                    }});
  Names Result;
  for (const FunctionDecl *F : Functions.all())
    if (Found.contains(F))
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
            (Names{"ofAnother", "dead"}));
}

TEST(Unreached, WhatOnlyUnreachedCodeNames) {
  EXPECT_EQ(unreachedOf(R"cpp(
    struct Board { void score() {} void apply() {} };
    struct Tree { virtual void grow() { leaf(); } void leaf() {} };
    struct Deep : Tree { void grow() override { wide(); } void wide() {} };
    void shared(Board &b) { b.apply(); }
    int even(int n);
    int odd(int n) { return n ? even(n - 1) : 0; }
    int even(int n) { return n ? odd(n - 1) : 1; }
    int turns(int n) { return n ? turns(n - 1) : 0; }
    void evaluate(Board &b) { b.score(); shared(b); Tree().grow(); }
    void benchmark() { Board b; evaluate(b); Deep().grow(); }
    int main() { Board b; shared(b); return turns(3); }
  )cpp"),
            (Names{"Board::score", "Tree::grow", "Tree::leaf", "Tree::Tree",
                   "Deep::grow", "Deep::wide", "Deep::Deep", "odd", "even",
                   "evaluate", "benchmark"}));
}

TEST(Unreached, WhatStartsWithTheProgramRuns) {
  EXPECT_EQ(unreachedOf(R"cpp(
    struct Agent { virtual ~Agent() {} virtual void act() {} };
    bool add(Agent *(*make)());
    struct Greedy : Agent {
      void act() override { choose(); }
      void choose() {}
      static Agent *make() { return new Greedy; }
      static bool known;
    };
    bool Greedy::known = add(&Greedy::make);
    void helper() {}
    static auto Late = [] { helper(); };
    void inTemplate(int) {}
    template <class T> void generic(T t) { inTemplate(t); }
    int main() { generic(1); }
  )cpp"),
            (Names{}));
}

TEST(Unreached, WhatOthersRunWithoutNamingIt) {
  EXPECT_EQ(unreachedOf(R"cpp(
    extern "C" void plugin() {}
    __attribute__((used)) void kept() {}
    __attribute__((constructor)) void first() {}
    __attribute__((visibility("default"))) void shown() {}
    struct S {
      S(int) {}
      ~S() {}
      virtual void step() {}
      operator bool() { return true; }
      void forward() {}
    };
    bool operator<(const S &, const S &) { return false; }
    template <class T> void generic(T t) { t.behindATemplate(); }
    template <class T> struct Holder { void inTemplate() {} };
    struct Given { void behindATemplate() {} };
    int main() { S s(1); Holder<int> held; Given given; }
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

TEST(Unreached, MethodsThatNobodyNames) {
  EXPECT_EQ(unreachedOf(R"cpp(
    struct Board {
      void asTensor() {}
      void apply() {}
      static Board make() { return Board(); }
      void later();
    };
    void Board::later() {}
    int main() { Board b; b.apply(); }
  )cpp"),
            (Names{"Board::asTensor", "Board::make", "Board::later"}));
}

TEST(Unreached, AWordInCodeThatIsLeftOutIsAName) {
  EXPECT_EQ(unreachedOf(R"cpp(
    void onWindows() {}
    void inMacro() {}
    #define RUN inMacro()
    #if 0
    void start() { onWindows(); }
    #endif
    // inComment();
    const char *inText = "inComment";
    void inComment() {}
    int main() {}
  )cpp"),
            (Names{"inComment"}));
}

TEST(Unreached, ClassesOfWhichNobodyMakesAnObject) {
  EXPECT_EQ(unreachedOf(R"cpp(
    struct Old {
      Old(int n) : count(n) {}
      virtual void forward() {}
      void train();
      static int made;
      Old *next = nullptr;
      int count;
    };
    int Old::made = 0;
    void Old::train() { forward(); }
    int main() {}
  )cpp"),
            (Names{"Old::Old", "Old::forward", "Old::train"}));
}

TEST(Unreached, ClassesThatAreNamedMayBeMade) {
  EXPECT_EQ(unreachedOf(R"cpp(
    template <class T> T *make() { return new T; }
    struct Made { virtual void forward() {} };
    struct Base { virtual void forward() {} };
    struct Derived : Base { void forward() override {} };
    struct Listed { virtual void forward() {} };
    struct NetImpl { virtual void forward() {} };
    #define MODULE(Name) struct Name { Name##Impl *held; }
    MODULE(Net);
    struct Failed { virtual void forward() {} };
    struct Local { virtual void forward() {} };
    Listed *listed[2];
    int main() {
      Made made;
      Derived derived;
      auto *local = make<Local>();
      #ifdef WITH_FAILED
      Failed failed;
      #endif
    }
  )cpp"),
            (Names{}));
}

TEST(Unreached, AClassOfAHeaderBelongsToOthersToo) {
  EXPECT_EQ(unreachedOf(R"cpp(
    # 1 "net.h" 1
    struct Shared { void forward(); void other() {} };
    # 4 "input.cpp" 2
    void Shared::forward() {}
    int main() {}
  )cpp"),
            (Names{}));
}

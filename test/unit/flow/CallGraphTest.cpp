#include "flow/CallGraph.h"
#include "support/Parse.h"
#include "clang/AST/DeclCXX.h"
#include "gtest/gtest.h"

using namespace clang;
using namespace torchtidy::flow;
using namespace torchtidy::test;

using Names = std::vector<std::string>;

namespace {

/// The call graph of a source, asked by names. Lambdas are called "lambda".
class CallGraphTest : public testing::Test {
protected:
  void read(llvm::StringRef Code) {
    Unit = parse(Code);
    ASSERT_TRUE(Unit);
    Functions.emplace(Unit->getASTContext(),
                      [](llvm::StringRef) { return false; });
    Calls.emplace(*Functions);
  }

  std::string name(const FunctionDecl *F) const {
    return Functions->lambda(F) ? "lambda" : F->getQualifiedNameAsString();
  }
  Names names(llvm::ArrayRef<const FunctionDecl *> List) const {
    Names Result;
    for (const FunctionDecl *F : List)
      Result.push_back(name(F));
    return Result;
  }
  const FunctionDecl *find(llvm::StringRef Name) const {
    for (const FunctionDecl *F : Functions->all())
      if (name(F) == Name)
        return F;
    ADD_FAILURE() << "no function " << Name.str();
    return Functions->all().front();
  }

  Names roots() const { return names(Calls->roots()); }
  Names bottomUp() const { return names(Calls->bottomUp()); }
  Names callees(llvm::StringRef Name) const {
    Names Result = names(Calls->callees(find(Name)));
    llvm::sort(Result);
    return Result;
  }
  Names callers(llvm::StringRef Name) const {
    Names Result = names(Calls->callers(find(Name)));
    llvm::sort(Result);
    return Result;
  }
  bool isRecursive(llvm::StringRef Name) const {
    return Calls->isRecursive(find(Name));
  }

  std::unique_ptr<ASTUnit> Unit;
  std::optional<UserFunctions> Functions;
  std::optional<CallGraph> Calls;
};

} // namespace

TEST_F(CallGraphTest, CalleesBeforeCallers) {
  read(R"cpp(
    void top();
    void leaf() {}
    void middle() { leaf(); }
    void top() { middle(); leaf(); }
    int main() { top(); }
  )cpp");
  EXPECT_EQ(bottomUp(), (Names{"leaf", "middle", "top", "main"}));
  EXPECT_EQ(roots(), (Names{"main"}));
  EXPECT_EQ(callees("top"), (Names{"leaf", "middle"}));
  EXPECT_EQ(callers("leaf"), (Names{"middle", "top"}));
  EXPECT_TRUE(callers("main").empty());
}

TEST_F(CallGraphTest, SeveralRoots) {
  read(R"cpp(
    void shared() {}
    void first() { shared(); }
    void second() { shared(); }
  )cpp");
  EXPECT_EQ(roots(), (Names{"first", "second"}));
}

TEST_F(CallGraphTest, MethodsAndConstructors) {
  read(R"cpp(
    struct Member { Member(int) {} };
    struct Base { Base() { init(); } void init() {} };
    struct Net : Base {
      Net() : Part(1) {}
      int run() { return size(); }
      int size() const { return 1; }
      Member Part;
    };
    void use() { Net N; N.run(); new Member(2); }
  )cpp");
  EXPECT_EQ(callees("use"), (Names{"Member::Member", "Net::Net", "Net::run"}));
  EXPECT_EQ(callees("Net::Net"), (Names{"Base::Base", "Member::Member"}));
  EXPECT_EQ(callees("Net::run"), (Names{"Net::size"}));
  EXPECT_EQ(roots(), (Names{"use"}));
}

TEST_F(CallGraphTest, OperatorsAndConversions) {
  read(R"cpp(
    struct Number {
      Number(int) {}
      Number operator+(const Number &) const { return *this; }
      operator bool() const { return true; }
    };
    void take(Number) {}
    void use(Number A) { if (A + A) take(3); }
  )cpp");
  EXPECT_EQ(callees("use"), (Names{"Number::Number", "Number::operator bool",
                                   "Number::operator+", "take"}));
}

TEST_F(CallGraphTest, DirectRecursion) {
  read("void again(int N) { if (N) again(N - 1); }\nvoid once() {}\n");
  EXPECT_TRUE(isRecursive("again"));
  EXPECT_FALSE(isRecursive("once"));
  EXPECT_EQ(roots(), (Names{"again", "once"})) << "nothing else calls it";
}

TEST_F(CallGraphTest, MutualRecursion) {
  read(R"cpp(
    void odd(int N);
    void leaf() {}
    void even(int N) { if (N) odd(N - 1); leaf(); }
    void odd(int N) { if (N) even(N - 1); }
    void use() { even(4); }
  )cpp");
  EXPECT_TRUE(isRecursive("even"));
  EXPECT_TRUE(isRecursive("odd"));
  EXPECT_FALSE(isRecursive("use"));
  EXPECT_FALSE(isRecursive("leaf"));
  EXPECT_EQ(bottomUp(), (Names{"leaf", "even", "odd", "use"}))
      << "members of a recursion in source order";
  EXPECT_EQ(roots(), (Names{"use"}));
}

TEST_F(CallGraphTest, RecursionThatNothingEntersIsNoRoot) {
  // Whoever needs every function asks for the rest (model::Program).
  read("void b();\nvoid a() { b(); }\nvoid b() { a(); }\n");
  EXPECT_TRUE(roots().empty());
  EXPECT_EQ(bottomUp().size(), 2u);
}

TEST_F(CallGraphTest, ThreadEntryIsHandedOn) {
  read(R"cpp(
    #include <thread>
    struct Server { void run() { std::thread(&Server::serve, this).join(); }
                    void serve() {} };
    void worker(int) {}
    void use() { std::thread T(worker, 1); T.join(); }
  )cpp");
  EXPECT_EQ(callees("use"), (Names{"worker"}));
  EXPECT_EQ(callees("Server::run"), (Names{"Server::serve"}));
  EXPECT_EQ(roots(), (Names{"Server::run", "use"}));
}

TEST_F(CallGraphTest, LambdaIsCalledByWhoWritesIt) {
  read(R"cpp(
    #include <functional>
    void inside() {}
    int size() { return 1; }
    void use() {
      std::function<void()> F = [N = size()] { inside(); };
      F();
    }
  )cpp");
  EXPECT_EQ(callees("use"), (Names{"lambda", "size"}));
  EXPECT_EQ(callees("lambda"), (Names{"inside"}));
  EXPECT_EQ(callers("inside"), (Names{"lambda"}));
  EXPECT_EQ(roots(), (Names{"use"}));
}

TEST_F(CallGraphTest, GenericLambda) {
  read(R"cpp(
    void inside(int) {}
    void use() { auto F = [](auto V) { inside(V); }; F(1); }
  )cpp");
  EXPECT_EQ(callees("lambda"), (Names{"inside"}));
  EXPECT_EQ(roots(), (Names{"use"}));
}

TEST_F(CallGraphTest, AllInstantiationsAreOneFunction) {
  read(R"cpp(
    template <class T> void train(T) {}
    void first() { train(1); }
    void second() { train(1.0); }
    void mention() { auto F = &train<char>; F('a'); }
  )cpp");
  EXPECT_EQ(callers("train"), (Names{"first", "mention", "second"}));
  EXPECT_EQ(roots(), (Names{"first", "second", "mention"}));
}

TEST_F(CallGraphTest, MethodsOfClassTemplates) {
  read(R"cpp(
    template <class T> struct Trainer {
      void epoch() { batch(); }
      void batch() {}
    };
    void first() { Trainer<int>().epoch(); }
    void second() { Trainer<char>().epoch(); }
  )cpp");
  // One instantiation stands for all.
  EXPECT_EQ(callers("Trainer<int>::epoch"), (Names{"first", "second"}));
  EXPECT_EQ(callees("Trainer<int>::epoch"), (Names{"Trainer<int>::batch"}));
}

TEST_F(CallGraphTest, FunctionsOutsideTheFileAreNotThere) {
  read(R"cpp(
    #include <vector>
    void elsewhere();
    void use(std::vector<int> &V) { elsewhere(); V.push_back(1); }
  )cpp");
  EXPECT_TRUE(callees("use").empty());
  EXPECT_TRUE(
      Calls->callees(findFunction(*Unit, "use")->getCanonicalDecl()).empty());
}

TEST_F(CallGraphTest, VirtualCallsRunOverriders) {
  read(R"cpp(
    struct Base { virtual void run() = 0; virtual void stop() {} };
    struct Middle : Base { void run() override {} };
    struct Lower : Middle { void run() override {} void stop() override {} };
    void calls(Base &b) { b.run(); }
    void named(Middle &m) { m.Middle::run(); }
    void other(Base &b) { b.stop(); }
  )cpp");
  EXPECT_EQ(callees("calls"), (Names{"Lower::run", "Middle::run"}));
  EXPECT_EQ(callees("named"), (Names{"Middle::run"}))
      << "a qualified call is no virtual one";
  EXPECT_EQ(callees("other"), (Names{"Base::stop", "Lower::stop"}));
  EXPECT_EQ(roots(), (Names{"calls", "named", "other"}));
}

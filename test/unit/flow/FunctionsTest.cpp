#include "flow/Functions.h"
#include "support/Parse.h"
#include "clang/AST/DeclCXX.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

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

TEST(Functions, DefinitionsInSourceOrder) {
  EXPECT_EQ(
      functionsOf(R"cpp(
    void declared();
    void second() { declared(); }
    namespace inner { namespace { int first() { return 1; } } }
    extern "C" { void c() {} }
    static void last() {}
  )cpp"),
      (Names{"second", "inner::(anonymous namespace)::first", "c", "last"}));
}

TEST(Functions, Members) {
  EXPECT_EQ(functionsOf(R"cpp(
    struct Net {
      Net() : Size(1) {}
      ~Net() {}
      int size() const { return Size; }
      static int make();
      bool operator==(const Net &Other) const { return Size == Other.Size; }
      struct Part { void inside() {} };
      Net(const Net &) = default;
      void never() = delete;
      int Size;
    };
    int Net::make() { return 1; }
  )cpp"),
            (Names{"Net::Net", "Net::~Net", "Net::size",
                   "Net::operator==", "Net::Part::inside", "Net::make"}));
}

// An implicit default constructor runs the initializers of the members; copying
// and assigning by members has nothing of its own.
TEST(Functions, OfImplicitMembersOnlyDefaultConstructors) {
  EXPECT_EQ(functionsOf(R"cpp(
    struct Member { Member() {} };
    struct Net { Member Part; };
    void use() { Net First; Net Second = First; Second = First; }
  )cpp"),
            (Names{"Member::Member", "Net::Net", "use"}));
}

TEST(Functions, Lambdas) {
  auto Unit = parse(R"cpp(
    auto Global = [] { return 1; };
    int use() {
      auto Outer = [](int V) {
        auto Inner = [V] { return V; };
        return Inner();
      };
      return Outer(2) + [] { return 3; }();
    }
  )cpp");
  ASSERT_TRUE(Unit);
  UserFunctions Functions(Unit->getASTContext(), noLibrary);
  unsigned Lambdas = 0;
  for (const FunctionDecl *F : Functions.all())
    if (const LambdaExpr *Lambda = Functions.lambda(F)) {
      ++Lambdas;
      EXPECT_EQ(Lambda->getCallOperator(), F);
      EXPECT_EQ(Functions.definition(F), F);
    } else {
      EXPECT_EQ(F->getNameAsString(), "use");
    }
  EXPECT_EQ(Lambdas, 4u);
  EXPECT_EQ(Functions.all().size(), 5u);
}

TEST(Functions, LambdasInInitializers) {
  EXPECT_EQ(functionsOf(R"cpp(
    struct Net {
      Net() : Size([] { return 1; }()) {}
      int Size;
    };
    struct Part { int Size = [] { return 4; }(); };
    void use(int Default = [] { return 2; }()) {
      int Array[] = {[](int V) { return V; }(Default)};
      (void)Array;
    }
  )cpp")
                .size(),
            6u);
}

TEST(Functions, LocalClass) {
  EXPECT_EQ(functionsOf(R"cpp(
    void use() {
      struct Local { void method() { auto L = [] {}; L(); } };
      Local().method();
    }
  )cpp")
                .size(),
            3u);
}

TEST(Functions, Friend) {
  EXPECT_EQ(functionsOf(R"cpp(
    struct Net {
      friend void save(const Net &) {}
      template <class T> friend void load(Net &, T) {}
    };
    void use(Net &N) { save(N); load(N, 1); }
  )cpp"),
            (Names{"save", "load", "use"}));
}

TEST(Functions, Definition) {
  auto Unit = parse(R"cpp(
    #include <vector>
    int helper();
    int missing();
    struct Base { virtual int run() = 0; };
    int use(std::vector<int> &V, Base &B) {
      V.push_back(1);
      return helper() + missing() + B.run();
    }
    int helper() { return 1; }
  )cpp");
  ASSERT_TRUE(Unit);
  UserFunctions Functions(Unit->getASTContext(), noLibrary);
  EXPECT_EQ(names(Functions), (Names{"use", "helper"}));
  const FunctionDecl *Use = findFunction(*Unit, "use");
  const FunctionDecl *Helper = findFunction(*Unit, "helper");
  ASSERT_TRUE(Use && Helper);
  EXPECT_EQ(Functions.definition(Helper->getFirstDecl()), Helper)
      << "from a declaration";
  EXPECT_EQ(Functions.definition(nullptr), nullptr);
  for (const Decl *D : Unit->getASTContext().getTranslationUnitDecl()->decls())
    if (const auto *F = dyn_cast<FunctionDecl>(D))
      if (F->getIdentifier() && F->getName() == "missing") {
        EXPECT_EQ(Functions.definition(F), nullptr);
      }
  EXPECT_TRUE(Functions.isUserCode(Use->getLocation()));
  EXPECT_FALSE(Functions.isUserCode(SourceLocation()));
}

TEST(Functions, CodeOfMacrosBelongsToTheirUse) {
  EXPECT_EQ(functionsOf(R"cpp(
    #define DEFINE(Name) void Name() {}
    DEFINE(first)
    DEFINE(second)
  )cpp"),
            (Names{"first", "second"}));
}

TEST(Functions, LibraryCodeByPath) {
  // Not a system header, and recognised all the same.
  llvm::SmallString<128> Header(testing::TempDir());
  Header += "/torch-tidy-flow-library.h";
  {
    std::error_code Error;
    llvm::raw_fd_ostream Out(Header, Error);
    ASSERT_FALSE(Error) << Error.message();
    Out << "inline int library() { return [] { return 1; }(); }\n";
  }
  const std::string Code =
      ("#include \"" + Header + "\"\nint use() { return library(); }\n").str();
  auto Unit = parse(Code);
  llvm::sys::fs::remove(Header);
  ASSERT_TRUE(Unit);

  UserFunctions WithIt(Unit->getASTContext(), noLibrary);
  EXPECT_EQ(WithIt.all().size(), 3u);
  UserFunctions Without(Unit->getASTContext(), [](llvm::StringRef Path) {
    return Path.contains("flow-library");
  });
  EXPECT_EQ(names(Without), (Names{"use"}));
  const FunctionDecl *Library = WithIt.all()[0];
  EXPECT_EQ(WithIt.definition(Library), Library);
  EXPECT_EQ(Without.definition(Library), nullptr);
}

TEST(Functions, TraversalScopeLimitsWhatIsLookedAt) {
  // clang-tidy's callers set it; our own driver does.
  auto Unit = parse("void first() {}\nvoid second() {}\n");
  ASSERT_TRUE(Unit);
  const FunctionDecl *Second = findFunction(*Unit, "second");
  Unit->getASTContext().setTraversalScope({const_cast<FunctionDecl *>(Second)});
  EXPECT_EQ(names(UserFunctions(Unit->getASTContext(), noLibrary)),
            (Names{"second"}));
}

TEST(Functions, CodeWithErrors) {
  ParseOptions Options;
  Options.AllowErrors = true;
  auto Unit = parse(R"cpp(
    void fine() {}
    int broken() { return missing(1) + ; }
    Unknown alsoBroken(Missing M) { M.call(); }
    struct Half { void method() { undeclared(); } Unknown Field; };
    template <class T> void generic(T V) { typename T::type X = undeclared2(V); }
    auto lambda = [](Missing M) { return M.call(); };
    void alsoFine() {}
  )cpp",
                    Options);
  ASSERT_TRUE(Unit);
  Names Found = names(UserFunctions(Unit->getASTContext(), noLibrary));
  EXPECT_TRUE(llvm::is_contained(Found, "fine"));
  EXPECT_TRUE(llvm::is_contained(Found, "alsoFine"));
}

// A plugin for tests. Under the name of one of the project's checks it reports
// every function declaration it is shown, so that a test sees what a check is
// shown. At functions of certain names it crashes, hangs, works, exits or is
// killed, and one it gives another name in each source that includes it.
#include "clang-tidy/ClangTidyCheck.h"
#include "clang-tidy/ClangTidyModule.h"
#include "clang-tidy/ClangTidyModuleRegistry.h"
#include "clang/ASTMatchers/ASTMatchFinder.h"
#include "llvm/Support/Path.h"
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <unistd.h>

using namespace clang;

namespace {

/// Uses so many seconds of processor time.
void work(int Seconds) {
  const std::clock_t End = std::clock() + Seconds * CLOCKS_PER_SEC;
  while (std::clock() < End)
    ;
}

class EveryFunction : public tidy::ClangTidyCheck {
public:
  using ClangTidyCheck::ClangTidyCheck;
  void registerMatchers(ast_matchers::MatchFinder *Finder) override {
    Finder->addMatcher(ast_matchers::functionDecl().bind("function"), this);
  }
  void check(const ast_matchers::MatchFinder::MatchResult &Result) override {
    const auto *Function = Result.Nodes.getNodeAs<FunctionDecl>("function");
    const std::string Name = Function->getDeclName().getAsString();
    if (Name == "crashHere")
      __builtin_trap();
    if (Name == "hangHere")
      for (;;)
        pause();
    if (Name == "spinHere")
      work(60);
    if (Name == "workHere")
      work(1);
    if (Name == "exitHere")
      exit(3);
    if (Name == "killHere")
      raise(SIGKILL);
    if (Name == "renameHere") {
      const SourceManager &SM = *Result.SourceManager;
      const StringRef Source = llvm::sys::path::stem(
          SM.getFileEntryRefForID(SM.getMainFileID())->getName());
      diag(Function->getLocation(), "not called after %0")
          << Source
          << FixItHint::CreateReplacement(Function->getLocation(),
                                          ("in_" + Source).str());
      return;
    }
    diag(Function->getLocation(), "shown %0") << Function;
  }
};

class Module : public tidy::ClangTidyModule {
public:
  void addCheckFactories(tidy::ClangTidyCheckFactories &Factories) override {
    Factories.registerCheck<EveryFunction>("torch-missing-zero-grad");
    Factories.registerCheck<EveryFunction>("test-every-function");
  }
};

// Modules are asked in the order of their registration: this one comes last.
tidy::ClangTidyModuleRegistry::Add<Module> Registered("every-function",
                                                      "For tests.");

} // namespace

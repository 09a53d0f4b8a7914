// The base of every check: it asks the model of the translation unit, returns
// findings, and leaves everything that has to do with clang-tidy to this class.
#ifndef TORCHTIDY_TORCHCHECK_H
#define TORCHTIDY_TORCHCHECK_H

#include "clang-tidy/ClangTidyCheck.h"
#include "report/Finding.h"
#include <memory>
#include <vector>

namespace torchtidy {

namespace model {
class Program;
}

class FindingPool;

class TorchCheck : public clang::tidy::ClangTidyCheck {
public:
  TorchCheck(llvm::StringRef Name, clang::tidy::ClangTidyContext *Context);
  ~TorchCheck() override;

  bool
  isLanguageVersionSupported(const clang::LangOptions &Options) const override {
    return Options.CPlusPlus;
  }
  /// All nodes, also those that nobody has written: checks match the
  /// translation unit alone and ask the model, which goes through implicit code
  /// itself.
  std::optional<clang::TraversalKind> getCheckTraversalKind() const override {
    return clang::TK_AsIs;
  }

  void registerMatchers(clang::ast_matchers::MatchFinder *Finder) final;
  void check(const clang::ast_matchers::MatchFinder::MatchResult &Result) final;
  void onEndOfTranslationUnit() final;

protected:
  /// The check's question to the model. A finding's Check may be left empty; of
  /// several at one location, the first is kept.
  virtual std::vector<model::Finding> analyze(model::Program &Program) = 0;

  /// A yes-or-no option of .clang-tidy. OptionsView::get<bool> is not used: GCC
  /// and Clang mangle its name differently, so a plugin that one of them built
  /// cannot be loaded into a clang-tidy that the other built.
  bool boolOption(llvm::StringRef Option, bool Default) const;
  void storeBoolOption(clang::tidy::ClangTidyOptions::OptionMap &Map,
                       llvm::StringRef Option, bool Value) const;

private:
  void leaveOutPrecompiled(clang::ASTContext &Context) const;
  void emit(const model::Finding &Finding, const clang::ASTContext &Context);

  clang::tidy::ClangTidyContext *Tidy;
  /// Shared by the checks of one translation unit: dies with the last of them.
  std::shared_ptr<model::Program> Model;
  std::shared_ptr<FindingPool> Pool;
};

} // namespace torchtidy

#endif

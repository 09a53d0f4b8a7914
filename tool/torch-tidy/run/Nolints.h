// Comments that silence findings: which of the names in them have silenced one.
#ifndef TORCHTIDY_TOOL_RUN_NOLINTS_H
#define TORCHTIDY_TOOL_RUN_NOLINTS_H

#include "clang-tidy/ClangTidyDiagnosticConsumer.h"
#include "run/Evidence.h"
#include "clang/AST/ASTContext.h"
#include "clang/Lex/Preprocessor.h"
#include <string>
#include <vector>

namespace torchtidy::tool {

/// As clang-tidy reads it, but for one in a string: that is no comment.
struct NolintComment {
  /// "NOLINT", "NOLINTNEXTLINE", "NOLINTBEGIN" or "NOLINTEND".
  std::string Word;
  std::string FilePath;
  bool IsInHeader = false;
  unsigned FileOffset = 0, Line = 0;
  /// What stands between its parentheses, and where in the file.
  std::string List;
  unsigned ListOffset = 0;
};

/// A name of a torch check, or a glob of them, in such a comment.
struct NolintName {
  std::string Text, Word;
  std::string FilePath;
  /// What a relative path is relative to.
  std::string Folder;
  unsigned FileOffset = 0;
  bool IsInHeader = false;
  enum State {
    /// A check has found something where the comment silences.
    Used,
    Unused,
    /// No torch check is called so.
    Unknown,
    /// Not all was analysed there, or the check is not enabled.
    NotJudged,
  };
  State Is = NotJudged;
  /// By WarningsAsErrors.
  bool IsError = false;
};

/// What a name that is not Used is reported as.
constexpr llvm::StringLiteral UnusedNolint = "torch-tidy-unused-nolint";

/// Collects the comments of the user's code that PP reads while this lives:
/// those of code that the preprocessor leaves out are not among them.
class NolintCollector : clang::CommentHandler {
public:
  NolintCollector(clang::Preprocessor &PP, std::vector<NolintComment> &Found);
  ~NolintCollector() override;
  NolintCollector(const NolintCollector &) = delete;
  NolintCollector &operator=(const NolintCollector &) = delete;

private:
  bool HandleComment(clang::Preprocessor &PP,
                     clang::SourceRange Comment) override;

  clang::Preprocessor &PP;
  std::vector<NolintComment> &Found;
};

/// Lines of a file.
struct FileLines {
  std::string FilePath;
  unsigned First = 0, Last = 0;
};

/// The parts of the user's declarations that may mean more than the checks have
/// seen: templates without an instantiation, and an 'if constexpr', of which a
/// branch may be in none.
std::vector<FileLines> partlySeen(clang::ASTContext &Context,
                                  llvm::ArrayRef<clang::Decl *> Scope);

/// Context: of the file that was analysed. HasErrors: it has compile errors.
/// Names that are not shown for the filters are left out.
std::vector<NolintName> judge(llvm::ArrayRef<NolintComment> Comments,
                              const Silenceable &Found,
                              llvm::ArrayRef<FileLines> PartlySeen,
                              bool HasErrors,
                              const clang::tidy::ClangTidyContext &Context);

} // namespace torchtidy::tool

#endif

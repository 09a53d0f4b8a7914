// Code that uses LibTorch and that the preprocessor has left out: what was not
// parsed was not analysed, and has to be told.
#ifndef TORCHTIDY_TOOL_RUN_HIDDENCODE_H
#define TORCHTIDY_TOOL_RUN_HIDDENCODE_H

#include "clang/Lex/Preprocessor.h"
#include <map>
#include <string>
#include <vector>

namespace torchtidy::tool {

/// One part of a file.
struct HiddenCode {
  std::string Path;
  unsigned Line = 0, Lines = 0;
  /// The directive that hides it, as it is written: "#ifdef WITH_TORCH".
  std::string Condition;
  /// The macro that would show it if it were defined; empty where there is no
  /// single one.
  std::string Macro;
  /// What an #if, #ifdef or #elif names; empty for an #else. Known where the
  /// file was parsed, and not told to others.
  std::vector<std::string> Names;
};

/// Adds the user's parts that PP leaves out and that use LibTorch to Found,
/// which has to live as long as PP.
void watchHiddenCode(clang::Preprocessor &PP, std::vector<HiddenCode> &Found);

/// The macros, each as after -D, that show most of what is hidden; none where
/// nothing does. Known: what build files define, by its name.
std::vector<std::string>
mostHiding(llvm::ArrayRef<HiddenCode> Hidden,
           const std::map<std::string, std::string> &Known);

} // namespace torchtidy::tool

#endif

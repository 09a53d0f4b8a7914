// Which torch checks run: the level's default, .clang-tidy, the levels that it
// gives to files by pattern, --level, --checks, each over the one before it.
#ifndef TORCHTIDY_TOOL_LEVELS_H
#define TORCHTIDY_TOOL_LEVELS_H

#include "clang-tidy/ClangTidyOptions.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/GlobPattern.h"
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace torchtidy::tool {

/// "0", "1" or "2"; empty for any other text.
std::optional<unsigned> parseLevel(llvm::StringRef Text);

/// "defects", "measured costs", "advice that depends on the case"
llvm::StringRef levelTitle(unsigned Level);

/// The value of 'Checks' by default.
std::string defaultChecks();

/// The key of CheckOptions that gives levels to files: "tests/*=0;bench/*=2".
inline constexpr llvm::StringLiteral LevelsOption = "torch-tidy.Levels";

/// One item of it.
struct LevelOfFiles {
  llvm::GlobPattern Files;
  unsigned Level;
};
/// Those that Text lists, or what is wrong with it.
llvm::Expected<std::vector<LevelOfFiles>> parseLevels(llvm::StringRef Text);

/// Puts an explicit --level, where there is one, or the level that a
/// configuration file gives to the file, between the configuration files and
/// --checks. Level 2 has the option Minor of checks of level 1 (tellsMinor),
/// but where --fail-on asks for what is below: what such a check tells then
/// counts as one of its level.
std::unique_ptr<clang::tidy::ClangTidyOptionsProvider>
withLevel(std::unique_ptr<clang::tidy::ClangTidyOptionsProvider> Base,
          std::optional<unsigned> Level, std::optional<unsigned> FailOn);

} // namespace torchtidy::tool

#endif

// Which torch checks run: the level's default, .clang-tidy, --level, --checks,
// each over the one before it.
#ifndef TORCHTIDY_TOOL_LEVELS_H
#define TORCHTIDY_TOOL_LEVELS_H

#include "clang-tidy/ClangTidyOptions.h"
#include <memory>
#include <optional>
#include <string>

namespace torchtidy::tool {

/// "0", "1" or "2"; empty for any other text.
std::optional<unsigned> parseLevel(llvm::StringRef Text);

/// "defects", "measured costs", "advice that depends on the case"
llvm::StringRef levelTitle(unsigned Level);

/// The value of 'Checks' by default.
std::string defaultChecks();

/// Puts an explicit --level, where there is one, between the configuration
/// files and --checks.
std::unique_ptr<clang::tidy::ClangTidyOptionsProvider>
withLevel(std::unique_ptr<clang::tidy::ClangTidyOptionsProvider> Base,
          std::optional<unsigned> Level);

} // namespace torchtidy::tool

#endif

// The configuration: from the command line, .clang-tidy files and our defaults,
// and the commands that print or verify it.
#ifndef TORCHTIDY_TOOL_CONFIG_H
#define TORCHTIDY_TOOL_CONFIG_H

#include "Options.h"
#include "clang-tidy/ClangTidyOptions.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/VirtualFileSystem.h"

namespace torchtidy::tool {

/// Null where the configuration cannot be read: the reason has been printed.
std::unique_ptr<clang::tidy::ClangTidyOptionsProvider>
makeOptionsProvider(const Options &Line,
                    llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> FS);

/// Whether those that the sources have can be read: the reason has been printed
/// where one cannot. clang-tidy goes on without, and what it finds then is not
/// what was asked for.
bool areConfigurationsValid(llvm::ArrayRef<std::string> Sources,
                            clang::tidy::ClangTidyOptionsProvider &Provider);

/// The configuration of one source file.
struct EffectiveConfig {
  clang::tidy::ClangTidyOptionsProvider &Provider;
  std::string File;
  clang::tidy::ClangTidyOptions Options;
  std::vector<std::string> Checks;
};

// Each returns the exit code.
int explainConfig(const EffectiveConfig &Config);
int dumpConfig(EffectiveConfig Config, bool AlphaCheckers);
int verifyConfig(const EffectiveConfig &Config, bool AlphaCheckers);

} // namespace torchtidy::tool

#endif

// Where the compile commands come from, and which source files can be analysed.
#ifndef TORCHTIDY_TOOL_INPUTS_H
#define TORCHTIDY_TOOL_INPUTS_H

#include "Options.h"
#include "llvm/Support/VirtualFileSystem.h"

namespace torchtidy::tool {

struct Compilations {
  std::unique_ptr<clang::tooling::CompilationDatabase> Database;
  /// There is a compile_commands.json that cannot be read, or none in the
  /// folder that -p names.
  bool Broken = false;
  /// The files are parsed without any flags.
  bool WithoutFlags = false;
};

/// Loads the compile commands; says so where there are none. As in clang-tidy
/// the files are then parsed without flags.
Compilations loadCompilations(Options &Line);

/// The sources that can be analysed; says of each other one why it cannot.
std::vector<std::string>
usableSources(llvm::ArrayRef<std::string> Sources,
              const clang::tooling::CompilationDatabase &Database,
              llvm::vfs::FileSystem &FS);

} // namespace torchtidy::tool

#endif

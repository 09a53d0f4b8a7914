// Where the compile commands come from.
#ifndef TORCHTIDY_TOOL_INPUTS_COMPILATIONS_H
#define TORCHTIDY_TOOL_INPUTS_COMPILATIONS_H

#include "Options.h"
#include "inputs/Unbuilt.h"
#include "clang/Tooling/CompilationDatabase.h"
#include "llvm/Support/VirtualFileSystem.h"
#include <map>

namespace torchtidy::tool {

/// Which files there are compile commands for.
enum class CommandsFor {
  /// Those of a list.
  Listed,
  /// Whatever file: somebody has given the flags.
  Any,
  /// Whatever file: the flags are a guess (InferredFlags.h).
  Guessed,
};

struct Compilations {
  std::unique_ptr<clang::tooling::CompilationDatabase> Database;
  /// There is a compile_commands.json that cannot be read, or none in the
  /// folder that -p names.
  bool Broken = false;
  /// Whether there is a list of files.
  CommandsFor Known = CommandsFor::Listed;
  /// Of a guess: what the build files define (InferredFlags::Definitions).
  std::map<std::string, std::string> Definitions;
  /// Of a guess; null where it is none.
  std::unique_ptr<UnbuiltSources> Unbuilt;
};

/// Loads the compile commands: the flags after "--", those of -p, or those of
/// the nearest compile_commands.json in a folder above the first source or in
/// the subfolder "build" of one. Where there are none says so, and infers them;
/// the sources are then those of the build's tree, unless some are named. No
/// Database where it is not known which are meant.
Compilations
loadCompilations(Options &Line,
                 llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> FS);

} // namespace torchtidy::tool

#endif

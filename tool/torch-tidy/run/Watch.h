// --watch: analyses again when a source has changed.
#ifndef TORCHTIDY_TOOL_RUN_WATCH_H
#define TORCHTIDY_TOOL_RUN_WATCH_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <map>
#include <string>
#include <vector>

namespace torchtidy::tool {

/// Runs Command, which is this program with its arguments, in a process of its
/// own (isWatched), and again whenever a C, C++ or CUDA file, a .clang-tidy or
/// a compile_commands.json below one of the folders has changed, or any file
/// that a run has told, until it is ended: by Ctrl-C or another signal, which a
/// run in progress gets too. Returns the exit code, 128 and the number of the
/// signal.
int watch(llvm::ArrayRef<std::string> Command,
          llvm::ArrayRef<std::string> Folders);

/// Whether this process is such a run: --watch then has no meaning.
bool isWatched();

/// In such a run: what the analysed sources consist of, wherever it lies.
void tellWatched(
    const std::map<std::string, std::vector<std::string>> &FilesBySource);

} // namespace torchtidy::tool

#endif

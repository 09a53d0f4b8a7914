// Which source files a command line means.
#ifndef TORCHTIDY_TOOL_INPUTS_SOURCES_H
#define TORCHTIDY_TOOL_INPUTS_SOURCES_H

#include "inputs/Compilations.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/VirtualFileSystem.h"
#include <string>
#include <vector>

namespace torchtidy::tool {

struct SourceList {
  /// Those that can be analysed, each once.
  std::vector<std::string> Usable;
  /// Those of them that nobody named: from folders, globs, a list of commands.
  llvm::StringSet<> Gathered;
  /// How many cannot be, or were asked for and are not there; each has been
  /// told.
  size_t NumUnusable = 0;
};

/// Names: files, folders, and globs in which '*' also stands for slashes; with
/// none, all files that have a compile command. Of folders and globs those
/// files are meant that have a compile command; where there is no list of
/// those, all C++ sources, and where the flags are a guess all but the ones of
/// folders that nothing builds (Unbuilt.h), which are told, unless a folder has
/// no others.
SourceList findSources(llvm::ArrayRef<std::string> Names,
                       const Compilations &Commands, llvm::vfs::FileSystem &FS);

/// The folder that a name of a source begins in: that of a file, a folder
/// itself, what comes before the first wildcard of a glob. Absolute.
std::string folderOf(llvm::StringRef Name);

} // namespace torchtidy::tool

#endif

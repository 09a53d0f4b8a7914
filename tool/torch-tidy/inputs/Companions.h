// Which sources are one program: a source, and those that define what the
// headers that it includes declare.
#ifndef TORCHTIDY_TOOL_INPUTS_COMPANIONS_H
#define TORCHTIDY_TOOL_INPUTS_COMPANIONS_H

#include "clang/Tooling/CompilationDatabase.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/VirtualFileSystem.h"
#include <memory>
#include <string>
#include <vector>

namespace torchtidy::tool {

struct SourceProgram {
  /// One of the sources that were asked for, as it is named there.
  std::string Source;
  /// What belongs to it, nearest first: net.cpp, for a main.cpp that includes
  /// net.h, and what net.cpp needs in its turn. Absolute.
  std::vector<std::string> Companions;
  /// What its compile command needs besides to see them all.
  std::vector<std::string> Flags;
  /// There are more than are taken (MaxCompanions).
  bool IsCut = false;
};

/// A program of more sources is cut there: it would be no quicker than all of
/// them.
constexpr size_t MaxCompanions = 64;

/// The programs among Sources: those with companions that are none themselves
/// of another one. Known: where companions are looked for. A source defines
/// what a header declares if it has the header's name and includes it, or,
/// where none does so itself, another header that does. Tests are no part of a
/// program, and begin none.
std::vector<SourceProgram>
findPrograms(llvm::ArrayRef<std::string> Sources,
             llvm::ArrayRef<std::string> Known,
             const clang::tooling::CompilationDatabase &Database,
             llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> FS);

/// The compile commands of Base, where that of a program's source includes its
/// companions first. Base and Programs have to live as long.
std::unique_ptr<clang::tooling::CompilationDatabase>
commandsOfPrograms(const clang::tooling::CompilationDatabase &Base,
                   llvm::ArrayRef<SourceProgram> Programs);

} // namespace torchtidy::tool

#endif

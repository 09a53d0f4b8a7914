// Precompiled headers without the function bodies that no check reads.
#ifndef TORCHTIDY_TOOL_HEADERS_PRECOMPILEDHEADER_H
#define TORCHTIDY_TOOL_HEADERS_PRECOMPILEDHEADER_H

#include "headers/IncludeGraph.h"
#include "clang/Frontend/CompilerInvocation.h"
#include "llvm/Support/VirtualFileSystem.h"
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace torchtidy::tool {

/// The part of a compile command that LibTorch's headers can depend on. Two
/// commands of which it is the same text may share a precompiled header. Not in
/// it are the names of the source file and of what is made of it, and the
/// folders of the user's own headers, which no include of LibTorch or of the
/// system can mean: none of their entries is one of a system folder.
std::shared_ptr<clang::CompilerInvocation>
sharedPart(const clang::CompilerInvocation &Command, llvm::vfs::FileSystem &FS);

/// The folders of Command that are no part of that.
std::vector<std::string> foldersBeside(const clang::CompilerInvocation &Command,
                                       llvm::vfs::FileSystem &FS);

/// Sets the options that a source which uses such a header must have in common
/// with it.
void useSharedOptions(clang::CompilerInvocation &Command);

enum class Bodies {
  /// Function bodies that no torch check reads are skipped: for torch-tidy.
  Skipped,
  /// For others, whose checks and warnings may ask for any.
  Kept
};

/// What headers were asked for, and where they were looked for.
struct HeaderLookups {
  std::vector<std::string> Folders;
  /// As they are written in #include and __has_include, found or not.
  std::set<std::string> Names;
  /// Those in quotes, with the folder of the file that asks.
  std::set<std::pair<std::string, std::string>> Beside;
};

struct PrecompiledHeaderResult {
  /// Why there is none; empty when it was made.
  std::string Failure;
  /// The files that the includes were found in.
  std::vector<std::string> Entries;
  /// All files that were read.
  std::vector<std::string> Inputs;
  HeaderLookups Lookups;
  IncludeGraph Includes;
  /// What to write to a file. LLVM's own way of writing it ends the program
  /// where the disk is full.
  llvm::SmallVector<char, 0> Content;
};

/// Compiles Header, which holds nothing but includes.
///
/// Base: the path of a precompiled header that this one goes on from, or empty.
/// With one, Header ends with the include of an empty file, End, and there is
/// no result where what comes before that would have changed what the base was
/// made of, had it come first.
PrecompiledHeaderResult
precompile(const clang::CompilerInvocation &Command, llvm::StringRef Header,
           Bodies Which, llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> FS,
           llvm::StringRef Base = "", llvm::StringRef End = "",
           std::vector<std::string> BaseInputs = {},
           std::vector<std::string> BaseGraphs = {});

} // namespace torchtidy::tool

#endif

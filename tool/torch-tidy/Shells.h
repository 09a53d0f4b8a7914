// The command line for shells and for man(1), from the options themselves.
#ifndef TORCHTIDY_TOOL_SHELLS_H
#define TORCHTIDY_TOOL_SHELLS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

namespace torchtidy::tool {

/// A script that completes the command line: of bash, zsh or fish. False for
/// another shell.
bool writeCompletions(llvm::raw_ostream &OS, llvm::StringRef Shell);

/// The page of man(1). Overview and Footer: what --help says before and after
/// the options.
void writeManPage(llvm::raw_ostream &OS, llvm::StringRef Overview,
                  llvm::StringRef Footer);

/// All of these as files in a folder, under the names that they are installed
/// by. False where that fails, which has been said then.
bool writeShellFiles(llvm::StringRef Folder, llvm::StringRef Overview,
                     llvm::StringRef Footer);

} // namespace torchtidy::tool

#endif

// Whether what is printed has colours.
#ifndef TORCHTIDY_TOOL_COLORS_H
#define TORCHTIDY_TOOL_COLORS_H

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"
#include <optional>

namespace torchtidy::tool {

/// Makes --color ours, which is LLVM's elsewhere, and has the words of error(),
/// warning() and note() follow hasColors(). Before the command line is read.
void addColorOption(llvm::cl::OptionCategory &Category);

/// After it was read: what --color says, or else UseColor, of clang-tidy's
/// --use-color. Nothing where neither was given. False where --color is none of
/// its three words, which has been said then.
bool readColorOption(std::optional<bool> &UseColor);

/// By the command line, else by the environment (NO_COLOR, CLICOLOR_FORCE,
/// FORCE_COLOR, CLICOLOR), else whether it is a terminal that has them.
bool hasColors(const llvm::raw_ostream &OS);

} // namespace torchtidy::tool

#endif

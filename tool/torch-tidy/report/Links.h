// Hyperlinks of a terminal (OSC 8): the name of a check leads to its page.
#ifndef TORCHTIDY_TOOL_REPORT_LINKS_H
#define TORCHTIDY_TOOL_REPORT_LINKS_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace torchtidy::tool {

/// Whether standard output is a terminal of which the environment says that it
/// has hyperlinks. Others would be right to ignore them; not all do.
bool terminalHasLinks();

/// Of findings as Clang prints them in colours, each name in brackets becomes a
/// link: of a torch check to the page beside this program, of another to
/// LLVM's. Nothing else changes.
std::string withLinks(llvm::StringRef Findings, llvm::StringRef Executable);

} // namespace torchtidy::tool

#endif

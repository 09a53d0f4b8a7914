// Where editors go when a user asks what a finding means.
#ifndef TORCHTIDY_TOOL_CLANGD_DOCLINKS_H
#define TORCHTIDY_TOOL_CLANGD_DOCLINKS_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace torchtidy::tool {

/// clangd takes every check for one of LLVM's and links to its site, where
/// there are no torch checks: in Message such a link becomes one to the page
/// that is installed in PageFolder (absolute) as <check>.md.
std::string withDocLinks(llvm::StringRef Message, llvm::StringRef PageFolder);

} // namespace torchtidy::tool

#endif

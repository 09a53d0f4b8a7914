// What editors show in the menu of fixes.
#ifndef TORCHTIDY_TOOL_CLANGD_FIXTITLES_H
#define TORCHTIDY_TOOL_CLANGD_FIXTITLES_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace torchtidy::tool {

/// A message of the protocol. clangd shows the first line of what a fix
/// inserts, which is empty where that is a statement on a line of its own
/// ("insert '...'"), and all of the finding where the fix has several parts.
/// Such a fix of a torch check says what the finding advises: "call
/// 'opt.zero_grad()' after this step()". All else stays as it is.
std::string withFixTitles(llvm::StringRef Message);

} // namespace torchtidy::tool

#endif

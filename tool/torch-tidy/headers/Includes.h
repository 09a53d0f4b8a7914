// The includes of a file, as they are written.
#ifndef TORCHTIDY_TOOL_HEADERS_INCLUDES_H
#define TORCHTIDY_TOOL_HEADERS_INCLUDES_H

#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace torchtidy::tool {

/// With their brackets or quotes ("<torch/torch.h>"), in order, under whatever
/// condition. Not those whose name is a macro. Empty for what is no C++.
std::vector<std::string> includesOf(llvm::StringRef Text);

} // namespace torchtidy::tool

#endif

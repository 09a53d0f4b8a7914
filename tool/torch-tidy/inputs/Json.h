// JSON that others may have written.
#ifndef TORCHTIDY_TOOL_INPUTS_JSON_H
#define TORCHTIDY_TOOL_INPUTS_JSON_H

#include "llvm/Support/JSON.h"

namespace torchtidy::tool {

/// As llvm::json::parse, which calls itself for each level and would end with
/// the stack: what is nested deeper than MaxDepth is an error here.
llvm::Expected<llvm::json::Value> parseJson(llvm::StringRef Text,
                                            unsigned MaxDepth = 500);

} // namespace torchtidy::tool

#endif

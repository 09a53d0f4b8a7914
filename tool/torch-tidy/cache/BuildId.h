// What tells one build of this program from another.
#ifndef TORCHTIDY_TOOL_CACHE_BUILDID_H
#define TORCHTIDY_TOOL_CACHE_BUILDID_H

#include <string>

namespace torchtidy::tool {

/// The linker's hash of this program (its GNU build ID), in hexadecimal; empty
/// where it was linked without one. Hashing the file itself would take as long
/// as an analysis: with LLVM inside it has a hundred megabytes.
std::string buildIdOfProgram();

} // namespace torchtidy::tool

#endif

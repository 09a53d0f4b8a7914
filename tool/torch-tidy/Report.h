// What is printed about a run besides the findings themselves, and the exit
// code.
#ifndef TORCHTIDY_TOOL_REPORT_H
#define TORCHTIDY_TOOL_REPORT_H

#include "clang-tidy/ClangTidyDiagnosticConsumer.h"
#include <vector>

namespace torchtidy::tool {

using Findings = std::vector<clang::tidy::ClangTidyError>;

/// A file without its headers may have thousands of errors. Keeps the first of
/// each file, as Clang does, and says how many are left out.
void limitCompileErrors(Findings &All);

/// Says which headers are missing and that the files were analysed without
/// them.
void explainMissingHeaders(const Findings &All, bool WithoutFlags);

bool hasCompileErrors(const Findings &All);

/// How many findings are of torch checks up to Level.
unsigned countUpToLevel(const Findings &All, unsigned Level);

/// "Suppressed 3 warnings (2 in non-user code, 1 NOLINT)." as clang-tidy says
/// it.
void printSuppressed(const clang::tidy::ClangTidyStats &Stats);

} // namespace torchtidy::tool

#endif

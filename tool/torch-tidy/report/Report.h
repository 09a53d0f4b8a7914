// What is printed about a run besides the findings themselves, and the exit
// code.
#ifndef TORCHTIDY_TOOL_REPORT_REPORT_H
#define TORCHTIDY_TOOL_REPORT_REPORT_H

#include "clang-tidy/ClangTidyDiagnosticConsumer.h"
#include "run/Evidence.h"
#include "run/HiddenCode.h"
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace torchtidy::tool {

using Findings = std::vector<clang::tidy::ClangTidyError>;

/// A file without its headers may have thousands of errors. Keeps the first of
/// each file, as Clang does, and says how many are left out.
void limitCompileErrors(Findings &All);

/// Removes the compile errors and returns how many there were.
unsigned removeCompileErrors(Findings &All);

/// Where a header of LibTorch is missing, removes all compile errors but those
/// of missing headers: they follow from it. Returns how many.
unsigned removeConsequences(Findings &All);

/// By the name of the header, as it is included, the files that include it.
using MissingHeaders = std::map<std::string, std::vector<std::string>>;
MissingHeaders findMissingHeaders(const Findings &All);

/// Says once of each header that it is missing. Hidden: how many compile errors
/// are not shown for that.
void explainMissingHeaders(const MissingHeaders &Missing, bool AreInferred,
                           unsigned Hidden);

/// Says of which functions not all was analysed, and why.
void explainShortfalls(llvm::ArrayRef<Shortfall> Shortfalls);

/// Says which conditions hide code that uses LibTorch, and which macros were
/// defined to see more.
void explainHidden(llvm::ArrayRef<HiddenCode> Hidden,
                   const std::map<std::string, unsigned> &Defined);

/// Says how many findings there are, of which checks, in how many files, and
/// how much was not looked at. NumFailed, NumWithoutLibTorch: of the sources.
void summarize(const Findings &All, size_t NumSources, size_t NumFailed,
               size_t NumWithoutLibTorch, size_t NumLeftOut,
               llvm::ArrayRef<HiddenCode> Hidden);

/// The torch checks that have found something, in the order of the findings.
std::vector<llvm::StringRef> checksOf(const Findings &All);

/// One line on how to read on about the checks. IsGate: they fail the run, and
/// how one is silenced is told too. AreListed: summarize() has named them.
void explainChecks(llvm::ArrayRef<llvm::StringRef> Checks, bool IsGate,
                   bool AreListed);

bool hasCompileErrors(const Findings &All);

/// Of a check; a comment that silences nothing counts as a defect. Nothing for
/// what is not ours.
std::optional<unsigned> levelOf(llvm::StringRef Check);

/// Those of torch checks up to Level.
Findings upToLevel(const Findings &All, unsigned Level);

/// "Suppressed 3 warnings (2 in non-user code, 1 NOLINT)." as clang-tidy says
/// it.
void printSuppressed(const clang::tidy::ClangTidyStats &Stats);

} // namespace torchtidy::tool

#endif

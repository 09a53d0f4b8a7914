// Reads what analyzers write: SARIF, clang-tidy's --export-fixes, clang-tidy's
// text. Which of them a file is, its content says.
#ifndef TORCHTIDY_CONFIRM_FINDINGS_READ_H
#define TORCHTIDY_CONFIRM_FINDINGS_READ_H

#include "findings/Finding.h"

namespace torchtidy::confirm {

struct FindingsFile {
  std::string Path;
  std::vector<DiagnosedFinding> Findings;
  /// The whole file, where it is SARIF: verdicts are written into it.
  std::string SarifText;
  /// Findings of other tools, and of checks that no run can confirm.
  size_t Others = 0;
};

/// Throws UserError where the file is none of these.
FindingsFile readFindings(const std::string &Path);
/// The same of a text that is already here. Relative paths in it are taken from
/// the current folder.
FindingsFile parseFindings(const std::string &Text, const std::string &Path);

// The formats.
void readSarif(const std::string &Text, FindingsFile &Result);
void readYaml(const std::string &Text, FindingsFile &Result);
/// False where no line is a diagnostic.
bool readText(const std::string &Text, FindingsFile &Result);

/// Completes a finding by what all formats need: the evidence of its check, and
/// the kind where it has only one; the statement by reading the source where
/// the format has no ranges; loop and site of the iterations by notes whose
/// role is known.
void complete(DiagnosedFinding &Finding);

/// The evidence that checks/Checks.def names; empty for other tools' checks.
std::string evidenceOf(const std::string &Check);

} // namespace torchtidy::confirm

#endif

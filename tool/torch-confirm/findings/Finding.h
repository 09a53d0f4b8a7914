// A finding of a static analyzer, as its output has it.
#ifndef TORCHTIDY_CONFIRM_FINDINGS_FINDING_H
#define TORCHTIDY_CONFIRM_FINDINGS_FINDING_H

#include "FindingKinds.h"
#include <string>
#include <vector>

namespace torchtidy::confirm {

/// Lines of one file, both ends included.
struct LineRange {
  std::string File;
  unsigned First = 0, Last = 0;

  bool isKnown() const { return First != 0; }
};

struct FindingNote {
  LineRange Place;
  /// For people. What the place has to do with the finding is its role; formats
  /// other than torch-tidy's SARIF do not say it.
  std::string Message;
  std::optional<NoteRole> Role = {};
};

/// A part of a fix: Text in place of what lies between two places. Lines and
/// columns begin at 1, columns count code points, the end is exclusive;
/// an EndColumn of 0 is the end of the line.
struct FindingEdit {
  std::string File;
  unsigned Line = 0, Column = 0, EndLine = 0, EndColumn = 0;
  std::string Text;
};

struct DiagnosedFinding {
  /// "torch-retained-graph"
  std::string Check;
  /// What the finding says: verdicts depend on it, and never on the words of
  /// the message. Formats other than torch-tidy's SARIF do not say it; then it
  /// is known only where the check has one kind.
  std::optional<FindingKind> Kind;
  std::string Message;
  /// The flagged statement.
  LineRange Statement;
  /// Of the place that the message points at; 0 where it is not known.
  unsigned Line = 0, Column = 0;
  std::vector<FindingNote> Notes;
  /// The fix that is offered; empty for none. Only SARIF's are read.
  std::vector<FindingEdit> Fix;

  /// The name in checks/Checks.def of the measure that confirms it; empty for
  /// other tools' checks.
  std::string Evidence;
  /// The loop that repeats the statement, where the output says so.
  LineRange Loop;
  /// An operation that runs once per iteration of it.
  LineRange IterationSite;

  /// Where it is in a SARIF file: its run, and the result in that.
  size_t SarifRun = 0, SarifResult = 0;
};

} // namespace torchtidy::confirm

#endif

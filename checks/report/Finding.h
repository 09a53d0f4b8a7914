// A diagnosis as data. Checks produce findings; one adapter (TorchCheck) turns
// them into clang-tidy diagnostics, and unit tests, SARIF and the harness read
// the same object.
#ifndef TORCHTIDY_REPORT_FINDING_H
#define TORCHTIDY_REPORT_FINDING_H

#include "FindingKinds.h"
#include "clang/Basic/Diagnostic.h"
#include "clang/Basic/SourceLocation.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>
#include <vector>

namespace torchtidy::model {

struct Note {
  clang::SourceLocation Location;
  /// For people; what it says is in Role, too.
  std::string Message;
  NoteRole Role;
};

struct Finding {
  /// The name in the registry.
  llvm::StringRef Check;
  /// Where a developer has to change something: a statement, never the header
  /// of a loop.
  clang::SourceRange Range;
  /// The place the message points at, inside Range.
  clang::SourceLocation Location;
  /// What the message says, for programs: a row of FindingKinds.def. A check
  /// that has one row only may leave it empty.
  std::optional<FindingKind> Kind;
  /// Lower case, no full stop: what happens, what it costs, what to do.
  std::string Message;
  /// The other places involved (the loop, the backward(), the model).
  std::vector<Note> Notes;
  std::vector<clang::FixItHint> Fixes;
  /// What the finding is about, for "one cause, one finding": two findings with
  /// one cause at one line are one. Empty: the check's own name.
  std::string Cause;

  // For the harness. A flagged line without an operation
  // (`losses.push_back(l)`) is invisible at run time, so a site that counts its
  // iterations goes along.

  /// The loop that repeats the flagged statement, invalid where it is a call.
  clang::SourceRange Loop;
  /// An operation that runs once per iteration of Loop.
  clang::SourceLocation IterationSite;
};

} // namespace torchtidy::model

#endif

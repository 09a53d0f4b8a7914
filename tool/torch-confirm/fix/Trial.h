// The program as it is and with fixes: what both runs came to, and what that
// says of each finding.
#ifndef TORCHTIDY_CONFIRM_FIX_TRIAL_H
#define TORCHTIDY_CONFIRM_FIX_TRIAL_H

#include "findings/Finding.h"
#include "recording/Recording.h"
#include "rules/Verdict.h"
#include "run/Output.h"
#include <algorithm>
#include <optional>
#include <string>

namespace torchtidy::confirm::fix {

/// One run under the probe.
struct ProgramRun {
  Recording What;
  /// The file with its standard output.
  std::string Output;
};

/// How a run with fixes is beside the one without.
struct Comparison {
  bool EndsSame = true;
  /// "exit code 0"; "signal 6"
  std::string EndBefore, EndAfter;
  /// Without the lines that differ from run to run.
  OutputDifference Output;
  /// Lines that differ between two runs of the fixed program as well.
  size_t Unsteady = 0;

  bool isSame() const { return EndsSame && Output.isSame(); }
  /// Both print something, but nothing that could be compared.
  bool isAllUnsteady() const {
    return Unsteady &&
           Unsteady >= std::max(Output.LinesBefore, Output.LinesAfter);
  }
};

/// In the order of a report.
enum class FixOutcome {
  /// The effect was there, is gone with the fix, and the program does the same;
  /// or it was a wrong result.
  Confirmed,
  /// The effect is gone, and the program prints something else.
  OutputChanged,
  /// The effect is there with the fix, too.
  EffectRemains,
  /// There is no effect without the fix.
  Refuted,
  NotMeasurable,
  /// The fix overlaps another one, or is of a file that was not copied.
  NotApplied,
  DoesNotBuild,
  NotReached
};

/// "OUTPUT CHANGED"
std::string nameOf(FixOutcome Result);

struct FixVerdict {
  FixOutcome Result = FixOutcome::NotMeasurable;
  /// More to it than the two measures say; may be empty.
  std::string Sentence;
  /// What the rule says of the place without the fix and with it; the latter
  /// is not there where the fix was not applied.
  Verdict Before;
  std::optional<Verdict> After;
};

struct FixedFinding {
  DiagnosedFinding Finding;
  FixVerdict Result;
  /// Of --each: what the run with this fix alone came to.
  std::optional<Comparison> Alone;
  std::optional<Recording> AloneRun;
};

/// Compares ends and outputs; Again is a further output of the fixed program,
/// or empty.
Comparison compare(const ProgramRun &Before, const ProgramRun &After,
                   const std::string &Again, const IgnoredLines &Ignored = {});

/// What the rule of the finding says of the program as it is.
Verdict verdictOf(const DiagnosedFinding &Finding, const Recording &Run);

/// What is said of a finding without an effect; not of Outcome::Confirmed.
FixOutcome withoutEffect(Outcome Result);

/// A finding in one of two programs, and that program's run.
struct FindingIn {
  const DiagnosedFinding &Finding;
  const ProgramRun &Run;
};

/// Of a finding without its fix and with it. OtherFixes: of how many other
/// findings fixes are in the second program only as well.
FixVerdict decide(const FindingIn &Before, const FindingIn &After,
                  const Comparison &Beside, size_t OtherFixes);

/// The finding says that results are wrong, so that a fix changes them.
bool isOfResults(const Verdict &Confirmed);

} // namespace torchtidy::confirm::fix

#endif

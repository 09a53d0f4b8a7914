// Experiments: the program runs again, and the probe acts at the place of a
// finding. What is gone then, the place has caused.
#ifndef TORCHTIDY_CONFIRM_CLI_EXPERIMENTS_H
#define TORCHTIDY_CONFIRM_CLI_EXPERIMENTS_H

#include "rules/Judge.h"
#include "run/Execute.h"
#include "run/Output.h"
#include "support/Capture.h"
#include "trace/TraceFile.h"
#include <optional>

namespace torchtidy::confirm {

class Experiments {
public:
  /// Which: how the program runs; where it writes is chosen here. Its standard
  /// input is that of this process where that is a file, else nothing.
  Experiments(Watched Which, IgnoredLines Lines);

  /// The first run, by which findings are judged. What it prints comes when it
  /// has ended. Throws UserError where it cannot be watched. Also: variables
  /// that this run alone gets.
  Recording first(Ended &End, const Variables &Also);
  /// Tries the findings that were confirmed and that an experiment can be made
  /// of, and says so in them.
  void amend(std::vector<JudgedFinding> &All);

private:
  struct Done {
    Recording Run;
    trace::TraceData Trace;
    Ended End;
    std::string Output;
  };

  Done run(const std::string &Name, const std::string &NoGrad,
           const Variables &Also = {});
  /// Hashes of the stacks at a finding whose graphs no backward runs, one a
  /// line; empty, and why, where there are none.
  std::string stacksOf(const DiagnosedFinding &Finding, std::string &Why) const;
  /// Why runs of this program cannot be compared; empty where they can.
  const std::string &unsteady();
  void tryWithoutGrad(JudgedFinding &Each);

  TemporaryFolder Folder;
  Watched What;
  IgnoredLines Ignored;
  Done First;
  std::optional<std::string> Unsteady;
  size_t Count = 0;
};

} // namespace torchtidy::confirm

#endif

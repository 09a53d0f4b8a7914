// What 'run' and 'judge' have in common: findings in, reports out.
#ifndef TORCHTIDY_CONFIRM_CLI_JUDGING_H
#define TORCHTIDY_CONFIRM_CLI_JUDGING_H

#include "cli/ColorOption.h"
#include "findings/Read.h"
#include "recording/Recording.h"
#include "rules/Judge.h"
#include <CLI/CLI.hpp>
#include <functional>

namespace torchtidy::confirm {

class Judging {
public:
  void addOptions(CLI::App &App);

  /// Reads the findings, or makes them with torch-tidy (--analyze). Before the
  /// program runs, so that a mistake in them costs no run.
  void prepare();
  const FindingsFile &findings() const { return Input; }

  /// Whether a report goes to /dev/stdout, or may.
  bool writesToDevice() const;

  /// Adds what --sanitizer-report holds, judges, and writes all reports;
  /// whether --fail-on has met a verdict. Others: of other processes of the
  /// same run, each finding has the verdict that says most. Amend: what else is
  /// to be seen to before they are written.
  bool report(Recording Run, const std::vector<Recording> &Others = {},
              const std::function<void(std::vector<JudgedFinding> &)> &Amend =
                  {}) const;

private:
  std::string FindingsPath, BuildFolder, TorchTidy;
  std::string Output, Json, SarifOut, FailOn;
  std::vector<std::string> SanitizerPaths;
  bool Analyze = false, Update = false, Details = false;
  ColorOption Color;
  FindingsFile Input;

  void analyze();
  void addSanitizer(Recording &Run) const;
};

} // namespace torchtidy::confirm

#endif

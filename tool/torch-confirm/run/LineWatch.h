// Whether flagged lines run: which they are, for the probe (trace/Lines.h),
// and what became of them.
#ifndef TORCHTIDY_CONFIRM_RUN_LINEWATCH_H
#define TORCHTIDY_CONFIRM_RUN_LINEWATCH_H

#include "findings/Finding.h"
#include "recording/Recording.h"
#include "run/LineCode.h"
#include <optional>

namespace torchtidy::confirm {

/// The lines of the flagged statements.
WantedLines wantedLines(const std::vector<DiagnosedFinding> &Findings);

class LineMarks;

class LineWatch {
public:
  /// Looks for the lines in these files, the program first, and makes the file
  /// for the probe. Nothing is thrown: where something is missing, the lines
  /// are not known, and why is said by the capability "line-hits".
  LineWatch(const std::vector<std::string> &All, WantedLines Lines,
            std::string Path);

  /// What the probe is told, for the environment; nothing where there is
  /// nothing to watch.
  std::vector<std::pair<std::string, std::string>> environment() const;

  /// When the program has ended: what the probes of all its processes found.
  void addTo(Recording &Run) const;

private:
  struct Place {
    /// Of trace::LinesAddress.
    size_t Address = 0;
    bool Begins = false;
  };
  struct Watched {
    size_t Module = 0;
    LineHits Line;
    std::vector<Place> Places;
    std::string Missing;
  };

  void write(const std::vector<size_t> &Order,
             const std::vector<std::vector<LineCode>> &Code);
  LineHits hitsOf(const Watched &What, const LineMarks &Seen) const;
  void addOthers(const LineMarks &Seen, std::vector<LineHits> &Result) const;

  std::vector<std::string> Modules;
  WantedLines Wanted;
  std::string File;
  std::vector<Watched> Lines;
  /// Why nothing is watched.
  std::string Problem;
  bool IsWritten = false;
};

} // namespace torchtidy::confirm

#endif

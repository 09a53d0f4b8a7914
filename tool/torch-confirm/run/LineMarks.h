// What probes have written into the file of lines (trace/Lines.h).
#ifndef TORCHTIDY_CONFIRM_RUN_LINEMARKS_H
#define TORCHTIDY_CONFIRM_RUN_LINEMARKS_H

#include "run/Mapping.h"
#include "trace/Lines.h"

namespace torchtidy::confirm {

/// In words.
std::string textOf(trace::LinesProblem What);

/// The file when the program has ended.
class LineMarks {
public:
  explicit LineMarks(const std::string &Path) : File(Path) {}

  /// Null where the file is gone.
  const trace::LinesHeader *header() const {
    return File.at<trace::LinesHeader>(0);
  }
  /// Bits of an address.
  uint32_t state(size_t Address) const;
  bool wasLoaded(size_t Module) const;
  /// How many processes had a problem.
  uint32_t number(trace::LinesProblem What) const {
    return header()->Problems[uint32_t(What)].load();
  }
  /// Why nothing was watched in any process; empty where something was.
  std::string whyNone() const;
  /// Why something may have been missed; empty where nothing was.
  std::string whyNotAll() const;

private:
  Mapping File;
};

} // namespace torchtidy::confirm

#endif

// A program while it runs, as text that fits a terminal.
#ifndef TORCHTIDY_CONFIRM_LIVE_VIEW_H
#define TORCHTIDY_CONFIRM_LIVE_VIEW_H

#include "live/Attach.h"
#include "report/Sources.h"

namespace torchtidy::confirm {

struct LiveViewOptions {
  /// Escape sequences of a terminal.
  bool Color = false;
  /// Blocks of several heights for the curve; else ASCII.
  bool Unicode = true;
  /// Of the terminal.
  size_t Columns = 100, Rows = 40;
};

class LiveView {
public:
  explicit LiveView(const LiveViewOptions &Options) : Options(Options) {}

  void resize(size_t Columns, size_t Rows) {
    Options.Columns = Columns;
    Options.Rows = Rows;
  }

  /// The next look at the program; changes are told against the first one, and
  /// times against the one before.
  void take(LiveLook Look);

  /// Lines without ends; none is wider than the terminal, nor are there more.
  /// \param Output the last lines that the program has printed.
  std::vector<std::string> lines(const std::vector<std::string> &Output = {});
  /// The same in one line, for a log.
  std::string line() const;

private:
  class Writer;

  LiveViewOptions Options;
  Sources Known;
  std::optional<LiveLook> Now, Before;
  /// Bytes of each line at the first look.
  std::map<std::pair<std::string, unsigned>, int64_t> First;
};

} // namespace torchtidy::confirm

#endif

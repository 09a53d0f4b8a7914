// A terminal that is drawn on anew again and again, and given back as it was;
// and where there is none, only the waiting.
#ifndef TORCHTIDY_CONFIRM_LIVE_SCREEN_H
#define TORCHTIDY_CONFIRM_LIVE_SCREEN_H

#include <csignal>
#include <string>
#include <termios.h>
#include <utility>
#include <vector>

namespace torchtidy::confirm {

class Screen {
public:
  enum class Woken {
    /// The time is over.
    Time,
    /// It has another size.
    Size,
    /// By a key (q) or a signal that asks to end.
    End,
  };

  /// \param Terminal where it is drawn, if that is a terminal.
  /// \param ReadsKeys whether standard input, where it is a terminal, is read.
  Screen(int Terminal, bool ReadsKeys);
  ~Screen();
  Screen(const Screen &) = delete;
  Screen &operator=(const Screen &) = delete;

  /// Only on a terminal.
  void show(const std::vector<std::string> &Lines);
  Woken wait(double Seconds);
  /// The signal that asked to end, once; 0 where it was the key, or nothing.
  int takeSignal() { return std::exchange(Signal, 0); }

  bool isTerminal() const { return IsTerminal; }
  size_t columns() const { return Columns; }
  /// A row less than it has: the last one would scroll it.
  size_t rows() const { return Rows; }

private:
  void enter();
  void leave();
  void measure();
  void handle(int Which);
  void write(const std::string &Text) const;

  const int Terminal;
  const bool IsTerminal;
  bool ReadsKeys;
  int Signals = -1;
  sigset_t Before;
  termios Settings = {};
  size_t Columns = 80, Rows = 24;
  int Signal = 0;
};

} // namespace torchtidy::confirm

#endif

// What a run shows of itself on a terminal: one line, written over and over.
#ifndef TORCHTIDY_TOOL_RUN_PROGRESS_H
#define TORCHTIDY_TOOL_RUN_PROGRESS_H

#include "llvm/ADT/ArrayRef.h"
#include <chrono>
#include <string>

namespace torchtidy::tool {

class Progress {
public:
  explicit Progress(llvm::ArrayRef<std::string> Sources);

  /// Whether standard error is a terminal that lines can be overwritten on.
  bool isLive() const { return IsLive; }
  void ended(size_t Source, size_t NumFindings);
  /// Paused: of those that run, how many wait for LibTorch's headers.
  void tick(size_t Running, size_t Paused);
  /// Before anything else is printed.
  void clear();

private:
  std::string line(size_t Running, size_t Paused) const;

  llvm::ArrayRef<std::string> Sources;
  bool IsLive;
  /// What stands there now.
  std::string Drawn;
  size_t NumEnded = 0, NumFindings = 0, Last = 0;
  std::chrono::steady_clock::time_point Start;
};

/// "42 s", "3 min 5 s".
std::string describeSeconds(double Seconds);

} // namespace torchtidy::tool

#endif

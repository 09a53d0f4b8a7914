// Where a program reads a clock twice and takes the difference.
#ifndef TORCHTIDY_QUERIES_DEVICES_CLOCKDIFFERENCES_H
#define TORCHTIDY_QUERIES_DEVICES_CLOCKDIFFERENCES_H

#include "model/execution/Execution.h"

namespace torchtidy::model {

struct ClockDifference {
  /// The readings: calls of a clock, or of a function of the user's that reads
  /// one, such as a method of a timer.
  const OpaqueEvent *From = nullptr, *To = nullptr;
  /// All readings that the time may be counted from; one of them is From.
  llvm::SmallVector<const OpaqueEvent *, 2> Starts;
  /// What is the difference, and where that is written.
  const clang::Expr *Difference = nullptr;
  const Frame *In = nullptr;
};

/// One for each pair of readings.
std::vector<ClockDifference> clockDifferences(const Execution &Entry);

} // namespace torchtidy::model

#endif

#ifndef TORCHTIDY_CONFIRM_SCENARIOS_FORMAT_H
#define TORCHTIDY_CONFIRM_SCENARIOS_FORMAT_H

#include "support/Numbers.h"
#include <cmath>
#include <cstdio>
#include <string>

namespace torchtidy::confirm::scenarios {

/// "1,048,576"; "0.375"; four digits where it is small and no
/// whole number.
inline std::string formatNumber(double Number) {
  const double Size = std::abs(Number);
  // Bytes of an iteration may be a mean: print it without an exponent.
  if (Size < 1e15 && (Size >= 1e4 || Number == std::floor(Number)))
    return grouped(Number);
  char Text[64];
  std::snprintf(Text, sizeof(Text), "%.4g", Number);
  return Text;
}

} // namespace torchtidy::confirm::scenarios

#endif

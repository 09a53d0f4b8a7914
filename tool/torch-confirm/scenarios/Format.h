#ifndef TORCHTIDY_CONFIRM_SCENARIOS_FORMAT_H
#define TORCHTIDY_CONFIRM_SCENARIOS_FORMAT_H

#include <cmath>
#include <cstdio>
#include <string>

namespace torchtidy::confirm::scenarios {

/// "1,048,576"; "0.375"; six digits where it is no whole number.
inline std::string formatNumber(double Number) {
  char Text[64];
  if (Number != std::floor(Number) || std::abs(Number) >= 1e15) {
    // Bytes of an iteration may be a mean, and then nobody wants an exponent.
    std::snprintf(Text, sizeof(Text),
                  std::abs(Number) >= 1e4 && std::abs(Number) < 1e15 ? "%.0f"
                                                                     : "%.4g",
                  Number);
    if (std::abs(Number) < 1e4 || std::abs(Number) >= 1e15)
      return Text;
  } else {
    std::snprintf(Text, sizeof(Text), "%.0f", Number);
  }
  std::string Result = Text;
  const size_t First = Result[0] == '-' ? 1 : 0;
  for (size_t I = Result.size(); I > First + 3; I -= 3)
    Result.insert(I - 3, ",");
  return Result;
}

} // namespace torchtidy::confirm::scenarios

#endif

#include "support/Numbers.h"
#include <cmath>
#include <cstdio>

namespace torchtidy::confirm {

std::string grouped(double Number) {
  char Text[512];
  std::snprintf(Text, sizeof(Text), "%.0f", Number);
  std::string Result = Text;
  if (!std::isfinite(Number))
    return Result;
  const size_t First = Result[0] == '-';
  for (size_t At = Result.size(); At > First + 3;)
    Result.insert(At -= 3, ",");
  return Result;
}

} // namespace torchtidy::confirm

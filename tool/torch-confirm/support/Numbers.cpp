#include "support/Numbers.h"
#include "support/Errors.h"
#include <charconv>
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

double parseSeconds(const std::string &Option, const std::string &Text) {
  constexpr double Year = 366 * 86400.0;
  double Result = 0;
  const char *End = Text.data() + Text.size();
  const auto Read = std::from_chars(Text.data(), End, Result);
  // A number that cannot be compared is none.
  if (Read.ec != std::errc() || Read.ptr != End || !(Result > 0) ||
      Result > Year)
    throw UserError(Option + "='" + Text +
                    "' is no number of seconds above 0, such as 600 or 2.5");
  return Result;
}

} // namespace torchtidy::confirm

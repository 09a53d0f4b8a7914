#include "rules/Verdict.h"
#include "support/Numbers.h"
#include <cmath>
#include <cstdio>

namespace torchtidy::confirm {

std::string nameOf(Outcome Result) {
  switch (Result) {
  case Outcome::Confirmed:
    return "CONFIRMED";
  case Outcome::Refuted:
    return "REFUTED";
  case Outcome::NotReached:
    return "NOT REACHED";
  case Outcome::NotMeasurable:
    break;
  }
  return "NOT MEASURABLE HERE";
}

static std::string oneDecimal(double Number) {
  char Text[64];
  std::snprintf(Text, sizeof(Text), "%.1f", Number);
  std::string Result = Text;
  if (Result.size() > 2 && Result.compare(Result.size() - 2, 2, ".0") == 0)
    Result.erase(Result.size() - 2);
  return Result;
}

std::string numberText(double Number) {
  if (std::abs(Number) < 100 && Number != std::floor(Number))
    return oneDecimal(Number);
  return grouped(Number);
}

std::string bytesText(double Bytes) {
  const char *const Units[] = {"KiB", "MiB", "GiB", "TiB"};
  if (std::abs(Bytes) < 1024)
    return numberText(std::round(Bytes)) +
           (std::round(Bytes) == 1 ? " byte" : " bytes");
  int Unit = -1;
  while (std::abs(Bytes) >= 1024 && Unit < 3) {
    Bytes /= 1024;
    ++Unit;
  }
  return (std::abs(Bytes) < 100 ? oneDecimal(Bytes) : numberText(Bytes)) + " " +
         Units[Unit];
}

std::string countText(double Number, const std::string &Noun) {
  return numberText(Number) + " " + Noun + (Number == 1 ? "" : "s");
}

} // namespace torchtidy::confirm

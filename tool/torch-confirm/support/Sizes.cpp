#include "support/Sizes.h"
#include "support/Errors.h"
#include <cctype>
#include <cmath>
#include <cstdlib>

namespace torchtidy::confirm {

int64_t parseBytes(const std::string &Option, const std::string &Text) {
  const char *Begin = Text.c_str();
  char *End = nullptr;
  const double Number = std::strtod(Begin, &End);
  const std::string Wrong(Option +
                          " takes a number of bytes, as '512KiB' or "
                          "'1.5MiB'; '" +
                          Text + "' is none");
  if (End == Begin || !std::isfinite(Number) || Number < 0 ||
      !(std::isdigit(static_cast<unsigned char>(*Begin)) || *Begin == '.'))
    throw UserError(Wrong);
  while (*End == ' ')
    ++End;
  std::string Unit(End);
  double Scale = 1;
  if (!Unit.empty() && Unit != "B") {
    const std::string Prefixes = "KMGT";
    const size_t Power = Prefixes.find(
        static_cast<char>(std::toupper(static_cast<unsigned char>(Unit[0]))));
    const std::string Rest = Unit.substr(1);
    if (Power == std::string::npos ||
        (!Rest.empty() && Rest != "iB" && Rest != "B"))
      throw UserError(Wrong);
    Scale = std::pow(Rest == "B" ? 1000 : 1024, double(Power + 1));
  }
  const double Bytes = Number * Scale;
  if (Bytes >= 9e18)
    throw UserError(Wrong);
  return std::llround(Bytes);
}

} // namespace torchtidy::confirm

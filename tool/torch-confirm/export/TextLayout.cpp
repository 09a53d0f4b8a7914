#include "export/TextLayout.h"
#include "profile/Parts.h"
#include "report/Report.h"
#include <cstdarg>

namespace torchtidy::confirm {

std::string format(const char *How, ...) {
  char Text[512];
  va_list Arguments;
  va_start(Arguments, How);
  std::vsnprintf(Text, sizeof(Text), How, Arguments);
  va_end(Arguments);
  return Text;
}

std::string percent(double Share) { return format("%.0f %%", 100 * Share); }

std::string secondsText(double Seconds) {
  if (Seconds < 0.001)
    return format("%.0f us", Seconds * 1e6);
  return Seconds < 1 ? format("%.1f ms", Seconds * 1e3)
                     : format("%.1f s", Seconds);
}

std::string placeText(const SourceLine &Line) {
  return Line.File.empty()
             ? textOf(Line)
             : shortPath(Line.File) + ":" + std::to_string(Line.Line);
}

std::string TextLayout::bold(const std::string &Text) const {
  return Options.Color ? "\033[1m" + Text + "\033[0m" : Text;
}

void TextLayout::section(const char *Name, const std::string &Text) {
  Out << '\n' << bold(format("%-8s", Name)) << Text << '\n';
}

void TextLayout::row(const std::string &Text) {
  Out << "        " << Text << '\n';
}

std::string TextLayout::placeAndSource(const SourceLine &Line) {
  const std::string Source = Lines.line(Line.File, Line.Line);
  return placeText(Line) + (Source.empty() ? "" : "  " + Source);
}

} // namespace torchtidy::confirm

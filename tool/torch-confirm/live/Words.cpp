#include "live/Words.h"
#include <algorithm>
#include <cstdio>
#include <sstream>
#include <utility>

namespace torchtidy::confirm {

std::string padded(const std::string &Text, size_t Columns) {
  return Text.size() < Columns ? std::string(Columns - Text.size(), ' ') + Text
                               : Text;
}

std::vector<std::string> wrapped(const std::string &Text, size_t Columns) {
  std::vector<std::string> Lines;
  std::string Line;
  std::istringstream Words(Text);
  for (std::string Word; Words >> Word;) {
    if (!Line.empty() && Line.size() + 1 + Word.size() > Columns)
      Lines.push_back(std::exchange(Line, ""));
    Line += (Line.empty() ? "" : " ") + Word;
  }
  Lines.push_back(Line);
  return Lines;
}

std::string cut(const std::string &Text, size_t Columns) {
  size_t At = 0, Wide = 0;
  while (At < Text.size()) {
    size_t Next = At + 1;
    while (Next < Text.size() && (Text[Next] & 0xC0) == 0x80)
      ++Next;
    if (++Wide > Columns)
      return Text.substr(0, At);
    At = Next;
  }
  return Text;
}

std::string printable(std::string Text) {
  for (char &C : Text)
    if (static_cast<unsigned char>(C) < ' ' || C == 127)
      C = ' ';
  return Text;
}

std::string durationText(double Seconds) {
  char Text[32];
  const long All = long(Seconds);
  if (All >= 3600)
    std::snprintf(Text, sizeof(Text), "%ld:%02ld:%02ld", All / 3600,
                  All / 60 % 60, All % 60);
  else
    std::snprintf(Text, sizeof(Text), "%ld:%02ld", All / 60, All % 60);
  return Text;
}

std::string curveText(const std::vector<double> &Values, size_t Columns,
                      bool Unicode) {
  static const char *const Blocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  static const char *const Letters[] = {"_", ".", ":", "-", "=", "+", "*", "#"};
  if (Values.empty() || !Columns)
    return {};
  const double Most = *std::max_element(Values.begin(), Values.end());
  std::string Result;
  const size_t Wide = std::min(Columns, Values.size());
  for (size_t I = 0; I < Wide; ++I) {
    // The highest of those that share a column.
    const size_t From = I * Values.size() / Wide,
                 To = (I + 1) * Values.size() / Wide;
    double High = 0;
    for (size_t At = From; At < To; ++At)
      High = std::max(High, Values[At]);
    const size_t Level =
        Most > 0 ? std::min<size_t>(7, size_t(8 * High / Most)) : 0;
    Result += Unicode ? Blocks[Level] : Letters[Level];
  }
  return Result;
}

} // namespace torchtidy::confirm

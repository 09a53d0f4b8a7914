// The sections and rows that the report for people is made of.
#ifndef TORCHTIDY_CONFIRM_TEXT_LAYOUT_H
#define TORCHTIDY_CONFIRM_TEXT_LAYOUT_H

#include "export/Text.h"
#include "report/Sources.h"
#include <sstream>

namespace torchtidy::confirm {

/// Rows of each table without --details.
constexpr size_t FewRows = 5;

__attribute__((format(printf, 1, 2))) std::string format(const char *How, ...);
/// "12 %"
std::string percent(double Share);
/// "3.1 s", "12.0 ms", "7 us"
std::string secondsText(double Seconds);
/// "/a/train.cpp" line 3: "train.cpp:3"
std::string placeText(const SourceLine &Line);

class TextLayout {
public:
  TextLayout(const Recording &Run, const Profile &Of,
             const ProfileTextOptions &Options)
      : Run(Run), Of(Of), Options(Options) {}

  const Recording &Run;
  const Profile &Of;
  const ProfileTextOptions &Options;
  std::ostringstream Out;

  std::string bold(const std::string &Text) const;
  void section(const char *Name, const std::string &Text);
  void row(const std::string &Text);
  /// The place and what is written there.
  std::string placeAndSource(const SourceLine &Line);

private:
  Sources Lines;
};

/// What most was alive for: of the CPU, and of a device.
void writePeak(TextLayout &To, const char *Name, const PeakProfile &Peak);
/// Times, copies, the network, and what was looked for.
void writeTables(TextLayout &To);

} // namespace torchtidy::confirm

#endif

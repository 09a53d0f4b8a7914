// Text that has to fit a number of columns.
#ifndef TORCHTIDY_CONFIRM_LIVE_WORDS_H
#define TORCHTIDY_CONFIRM_LIVE_WORDS_H

#include <string>
#include <vector>

namespace torchtidy::confirm {

/// With spaces before it.
std::string padded(const std::string &Text, size_t Columns);
/// In lines that end at spaces, where there are any.
std::vector<std::string> wrapped(const std::string &Text, size_t Columns);
/// Its first columns; not within a character of several bytes.
std::string cut(const std::string &Text, size_t Columns);
/// Without what moves the cursor.
std::string printable(std::string Text);
/// "1:02:03", "2:03"
std::string durationText(double Seconds);
/// As wide as that, of the values in their order: "▁▂▅█", or ".-+#".
std::string curveText(const std::vector<double> &Values, size_t Columns,
                      bool Unicode);

} // namespace torchtidy::confirm

#endif

#include "report/Sources.h"
#include <algorithm>
#include <filesystem>
#include <fstream>

namespace fs = std::filesystem;

namespace torchtidy::confirm {
namespace {

constexpr size_t Longest = 60;

std::vector<std::string> read(const std::string &File) {
  std::vector<std::string> Lines;
  std::error_code Error;
  // A name that is a FIFO or a device by now would hold us up.
  if (!fs::is_regular_file(File, Error))
    return Lines;
  std::ifstream In(File);
  for (std::string Line; std::getline(In, Line);)
    Lines.push_back(std::move(Line));
  return Lines;
}

std::string shortened(const std::string &Line) {
  const size_t First = Line.find_first_not_of(" \t");
  if (First == std::string::npos)
    return {};
  std::string Text =
      Line.substr(First, Line.find_last_not_of(" \t\r") - First + 1);
  std::replace_if(
      Text.begin(), Text.end(),
      [](unsigned char C) { return C < ' ' || C == 127; }, ' ');
  if (Text.size() <= Longest)
    return Text;
  size_t End = Longest - 3;
  // Not within a character of UTF-8.
  while (End && (static_cast<unsigned char>(Text[End]) & 0xC0) == 0x80)
    --End;
  return Text.substr(0, End) + "...";
}

} // namespace

std::string Sources::line(const std::string &File, unsigned Line) {
  const auto [It, IsNew] = Files.try_emplace(File);
  if (IsNew)
    It->second = read(File);
  if (Line == 0 || Line > It->second.size())
    return {};
  return shortened(It->second[Line - 1]);
}

} // namespace torchtidy::confirm

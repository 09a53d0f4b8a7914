#include "fix/CMakeCache.h"
#include <sstream>

namespace torchtidy::confirm::fix {
namespace {

bool endsWith(const std::string &Text, const std::string &End) {
  return Text.size() >= End.size() &&
         Text.compare(Text.size() - End.size(), End.size(), End) == 0;
}

/// As a bracket argument, in which nothing has a meaning.
std::string quoted(const std::string &Text) {
  std::string Marks;
  while (Text.find("]" + Marks + "]") != std::string::npos ||
         endsWith(Text, "]" + Marks))
    Marks += '=';
  return "[" + Marks + "[" + Text + "]" + Marks + "]";
}

} // namespace

// NAME:TYPE=VALUE; a name with a colon is in quotes, a value that begins or
// ends with a blank in apostrophes.
CMakeCache::CMakeCache(const std::string &Text) {
  std::istringstream Lines(Text);
  for (std::string Line; std::getline(Lines, Line);) {
    if (endsWith(Line, "\r"))
      Line.pop_back();
    if (Line.empty() || Line[0] == '#' || Line.rfind("//", 0) == 0)
      continue;
    std::string Name;
    size_t Colon = Line.find(':');
    if (Line[0] == '"') {
      const size_t End = Line.find('"', 1);
      if (End == std::string::npos)
        continue;
      Name = Line.substr(1, End - 1);
      Colon = Line.find(':', End);
    } else {
      Name = Line.substr(0, Colon);
    }
    const size_t Equals = Line.find('=', Colon);
    if (Colon == std::string::npos || Equals == std::string::npos)
      continue;
    std::string Value = Line.substr(Equals + 1);
    if (Value.size() >= 2 && Value.front() == '\'' && Value.back() == '\'')
      Value = Value.substr(1, Value.size() - 2);
    Entries[Name] = {Line.substr(Colon + 1, Equals - Colon - 1), Value};
  }
}

std::string CMakeCache::value(const std::string &Name) const {
  const auto It = Entries.find(Name);
  return It == Entries.end() ? "" : It->second.Value;
}

std::string CMakeCache::script(
    const std::function<std::string(const std::string &)> &Map) const {
  std::string Result;
  for (const auto &[Name, Each] : Entries) {
    if (Each.Type == "INTERNAL" || Each.Type == "STATIC" ||
        endsWith(Each.Value, "-NOTFOUND"))
      continue;
    // What -D gave without a type.
    const std::string Type =
        Each.Type == "UNINITIALIZED" ? "STRING" : Each.Type;
    Result += "set(" + quoted(Name) + " " + quoted(Map(Each.Value)) +
              " CACHE " + Type + " \"\")\n";
  }
  return Result;
}

std::string withFolder(const std::string &Text, const std::string &From,
                       const std::string &To,
                       const std::function<bool(const std::string &)> &Keep) {
  constexpr const char *Ends = ";:,=\"'";
  constexpr const char *EndsOrBlank = ";:,=\"' ";
  std::string Result;
  size_t At = 0;
  while (true) {
    const size_t Found = From.empty() ? std::string::npos : Text.find(From, At);
    if (Found == std::string::npos)
      return Result + Text.substr(At);
    const size_t Behind = Found + From.size();
    // "/project-2" is not "/project", nor is "/elsewhere/project"; but it may
    // be behind an option, "-I/project".
    const bool IsWhole =
        Behind == Text.size() || Text[Behind] == '/' ||
        std::string(EndsOrBlank).find(Text[Behind]) != std::string::npos;
    size_t Word = Text.find_last_of(EndsOrBlank, Found);
    Word = Word == std::string::npos ? 0 : Word + 1;
    const std::string Before = Text.substr(Word, Found - Word);
    const bool IsStart =
        Before.empty() ||
        (Before[0] == '-' && Before.find('/') == std::string::npos);
    // A path may hold blanks, or end at the first.
    const std::string Path =
        Text.substr(Found, Text.find_first_of(Ends, Behind) - Found);
    const std::string UpToBlank =
        Text.substr(Found, Text.find_first_of(EndsOrBlank, Behind) - Found);
    Result += Text.substr(At, Found - At);
    Result +=
        IsWhole && IsStart && !(Keep(Path) && Keep(UpToBlank)) ? To : From;
    At = Behind;
  }
}

} // namespace torchtidy::confirm::fix

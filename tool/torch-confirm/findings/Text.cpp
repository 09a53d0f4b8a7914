// The text that clang-tidy and torch-tidy print.
#include "findings/Read.h"
#include <filesystem>
#include <regex>
#include <set>
#include <sstream>

namespace fs = std::filesystem;

namespace torchtidy::confirm {

bool readText(const std::string &Text, FindingsFile &Result) {
  static const std::regex Diagnostic(
      "(.+?):([0-9]+):([0-9]+): (warning|error|note|remark|fatal error): (.*)");
  static const std::regex Names("(.*) \\[([A-Za-z0-9.,_-]+)\\]");
  std::istringstream Lines(Text);
  std::set<std::string> Seen;
  bool IsAny = false, TakesNotes = false;
  for (std::string Line; std::getline(Lines, Line);) {
    if (!Line.empty() && Line.back() == '\r')
      Line.pop_back();
    std::smatch Part;
    // Quotations of the source are indented, and long ones would cost time.
    if (Line.empty() || Line[0] == ' ' || Line.size() > 4000 ||
        !std::regex_match(Line, Part, Diagnostic))
      continue;
    IsAny = true;
    LineRange Place;
    Place.File = fs::absolute(Part[1].str()).lexically_normal();
    Place.First = std::stoul(Part[2]);
    const std::string Kind = Part[4], Message = Part[5];
    if (Kind == "note") {
      Place.Last = Place.First;
      if (TakesNotes)
        Result.Findings.back().Notes.push_back({Place, Message});
      continue;
    }
    std::smatch Named;
    TakesNotes = false;
    if (!std::regex_match(Message, Named, Names)) {
      ++Result.Others;
      continue;
    }
    // A header is analysed with each file that includes it.
    if (!Seen.insert(Line).second)
      continue;
    DiagnosedFinding Finding;
    Finding.Message = Named[1];
    // "[torch-retained-graph,-warnings-as-errors]"
    Finding.Check = Named[2].str().substr(0, Named[2].str().find(','));
    Finding.Line = Place.First;
    Finding.Column = std::stoul(Part[3]);
    Finding.Statement = Place;
    Result.Findings.push_back(std::move(Finding));
    TakesNotes = true;
  }
  // clang-tidy's last words, where it found nothing.
  return IsAny || Text.find("warnings generated") != std::string::npos;
}

} // namespace torchtidy::confirm

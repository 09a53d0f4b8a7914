#include "export/Page.h"
#include "support/Errors.h"
#include "support/Files.h"
#include <fstream>
#include <map>

using nlohmann::ordered_json;
namespace fs = std::filesystem;

namespace torchtidy::confirm {

/// In the order in which they need each other.
static constexpr const char *Scripts[] = {
    "format.js", "model.js", "tables.js", "summary.js", "marks.js",
    "curves.js", "flame.js", "frames.js", "main.js"};
/// Lines of a source before and after the one that is meant.
static constexpr unsigned Around = 3;
/// What one moment more would cost is a bit of each position of the slider;
/// with more entries than this a browser takes seconds to open the page.
static constexpr size_t MostHeld = 200000;

/// Inside of a script element nothing but "</script" and "<!--" means anything
/// to a browser. In JSON a "<" can only be part of a string.
static std::string embedded(const ordered_json &Value) {
  const std::string Text =
      Value.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
  std::string Result;
  Result.reserve(Text.size());
  for (char C : Text)
    if (C == '<')
      Result += "\\u003c";
    else
      Result += C;
  return Result;
}

static std::string asText(const std::string &Text) {
  std::string Result;
  for (char C : Text)
    switch (C) {
    case '<':
      Result += "&lt;";
      break;
    case '&':
      Result += "&amp;";
      break;
    default:
      Result += C;
    }
  return Result;
}

/// The lines around one of a file; null where it cannot be read.
static ordered_json excerpt(const std::string &File, unsigned Line) {
  std::ifstream In(File);
  const unsigned First = Line > Around ? Line - Around : 1;
  ordered_json Lines = ordered_json::array();
  std::string Text;
  for (unsigned Number = 1; Number <= Line + Around; ++Number) {
    if (!std::getline(In, Text))
      break;
    if (Number >= First)
      Lines.push_back(Text.substr(0, 300));
  }
  // Shorter than when the program was built: it is another one by now.
  if (Lines.size() <= Line - First)
    return nullptr;
  return {{"file", File}, {"line", Line}, {"first", First}, {"lines", Lines}};
}

static ordered_json sourcesOf(const ordered_json &Report) {
  ordered_json Result = ordered_json::array();
  for (const ordered_json &Cause : Report.value("causes", ordered_json())) {
    const ordered_json Line = Cause.value("line", ordered_json::object());
    if (!Line.contains("file") || !Line.contains("line"))
      continue;
    std::error_code Error;
    const std::string File = Line["file"];
    if (!fs::is_regular_file(File, Error))
      continue;
    if (ordered_json Lines = excerpt(File, Line["line"]); !Lines.is_null())
      Result.push_back(std::move(Lines));
  }
  return Result;
}

/// Without what most moments held where that is very much. Peaks and failures
/// stay, the first, and the last.
static ordered_json slimmed(ordered_json Report) {
  ordered_json &Moments = Report["moments"];
  size_t All = 0;
  for (const ordered_json &Each : Moments)
    All += Each["held"].size();
  const size_t Every = (All + MostHeld - 1) / MostHeld;
  for (size_t I = 1; Every > 1 && I + 1 < Moments.size(); ++I) {
    const std::string Kind = Moments[I]["kind"];
    if (I % Every && (Kind == "regular" || Kind == "after step"))
      Moments[I].erase("held");
  }
  return Report;
}

static std::string scripts(const fs::path &Folder) {
  std::string Result;
  for (const char *Each : Scripts)
    Result += readFile(Folder / Each);
  return Result;
}

void requirePage(const fs::path &Data) {
  if (!fs::exists(Data / "page-libraries" / "libraries.js"))
    throw UserError(
        "this build of torch-confirm has no HTML page: what draws in it was "
        "not fetched when it was built. Install npm and configure again (cmake "
        "<build folder>), or take a package; everything else works, --json "
        "too");
}

std::string pageOf(const ordered_json &Report, const fs::path &Data) {
  requirePage(Data);
  const fs::path Own = Data / "page", Libraries = Data / "page-libraries";
  const std::map<std::string, std::string> Parts = {
      {"TITLE", asText(Report.value("headline", std::string()))},
      {"STYLES",
       readFile(Libraries / "libraries.css") + readFile(Own / "page.css")},
      {"REPORT",
       embedded({{"report", slimmed(Report)}, {"sources", sourcesOf(Report)}})},
      {"LICENCES", asText(readFile(Libraries / "licences.txt"))},
      {"LIBRARIES", readFile(Libraries / "libraries.js")},
      {"SCRIPTS", scripts(Own)}};
  // In one go: what is put in is not looked through again.
  const std::string Template = readFile(Own / "page.html");
  std::string Result;
  size_t From = 0;
  for (size_t At = 0; (At = Template.find("{{", From)) != std::string::npos;) {
    const size_t End = Template.find("}}", At);
    Result.append(Template, From, At - From);
    Result += Parts.at(Template.substr(At + 2, End - At - 2));
    From = End + 2;
  }
  return Result.append(Template, From);
}

} // namespace torchtidy::confirm

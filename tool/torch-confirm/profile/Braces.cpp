#include "profile/Braces.h"
#include "report/Sources.h"
#include <algorithm>

namespace torchtidy::confirm {
namespace {

/// A statement is rarely longer.
constexpr unsigned MostLines = 8;

/// Of the statement that a line of braces belongs to.
unsigned lineOfReturn(Sources &Lines, const SourceLine &At) {
  if (Lines.line(At.File, At.Line).find_first_not_of("{};() ") !=
          std::string::npos ||
      Lines.line(At.File, At.Line).empty())
    return At.Line;
  for (unsigned Up = 1; Up <= MostLines && Up < At.Line; ++Up) {
    const std::string Text = Lines.line(At.File, At.Line - Up);
    if (Text.rfind("return", 0) == 0)
      return At.Line - Up;
    // Of another block.
    if (Text == "}")
      break;
  }
  return At.Line;
}

} // namespace

void moveOffBraces(Recording &Run) {
  Sources Lines;
  for (Site &Each : Run.Sites)
    for (SourceLine &Frame : Each.Stack)
      Frame.Line = lineOfReturn(Lines, Frame);
}

} // namespace torchtidy::confirm

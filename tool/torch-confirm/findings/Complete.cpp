// What formats without ranges do not say: found in the source and, by their
// roles, in the notes.
#include "findings/Read.h"
#include <fstream>

namespace torchtidy::confirm {
namespace {

/// A statement is rarely longer, and a wrong guess must not swallow a function.
constexpr unsigned LongestStatement = 40;

/// Skips a string or character literal that begins at I.
size_t skipLiteral(const std::string &Line, size_t I) {
  const char Quote = Line[I++];
  for (; I < Line.size() && Line[I] != Quote; ++I)
    if (Line[I] == '\\')
      ++I;
  return I;
}

/// The last line of the statement that holds the place: where its brackets are
/// closed and a ';' comes, or a '{' opens a block.
unsigned lastLine(const std::string &File, unsigned First, unsigned Column) {
  std::ifstream Source(File);
  std::string Line;
  for (unsigned I = 1; I < First && std::getline(Source, Line); ++I)
    ;
  int Depth = 0;
  for (unsigned Number = First;
       Number < First + LongestStatement && std::getline(Source, Line);
       ++Number) {
    for (size_t I = Number == First && Column ? Column - 1 : 0; I < Line.size();
         ++I) {
      const char C = Line[I];
      if (C == '"' || C == '\'') {
        I = skipLiteral(Line, I);
      } else if (C == '/' && I + 1 < Line.size() && Line[I + 1] == '/') {
        break;
      } else if (C == '(' || C == '[' || (C == '{' && Depth > 0)) {
        ++Depth;
      } else if (C == ')' || C == ']' || (C == '}' && Depth > 0)) {
        // Below zero: the place is an argument of the statement.
        --Depth;
      } else if ((C == ';' || C == '{' || C == '}') && Depth <= 0) {
        return Number;
      }
    }
  }
  return First;
}

} // namespace

void complete(DiagnosedFinding &Finding) {
  if (Finding.Evidence.empty())
    Finding.Evidence = evidenceOf(Finding.Check);
  if (!Finding.Kind)
    Finding.Kind = onlyKind(Finding.Check);
  LineRange &Statement = Finding.Statement;
  if (Statement.isKnown() && Statement.Last == 0)
    Statement.Last = lastLine(Statement.File, Statement.First, Finding.Column);
  for (const FindingNote &Note : Finding.Notes) {
    if (!Finding.IterationSite.isKnown() && Note.Role == NoteRole::GraphBuilt)
      Finding.IterationSite = Note.Place;
    // The head of a loop alone holds no operations.
    if (!Finding.Loop.isKnown() && Note.Role == NoteRole::Loop &&
        Note.Place.Last > Note.Place.First)
      Finding.Loop = Note.Place;
  }
  for (LineRange *Range : {&Finding.IterationSite, &Finding.Loop})
    if (Range->isKnown() && Range->Last < Range->First)
      Range->Last = Range->First;
}

} // namespace torchtidy::confirm

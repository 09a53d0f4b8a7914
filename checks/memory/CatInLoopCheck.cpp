// Finds tensors that grow in a loop by being concatenated with themselves.
#include "memory/CatInLoopCheck.h"
#include "ast/Locations.h"
#include "memory/CatInLoop.h"
#include "report/Report.h"

namespace torchtidy::checks {

using namespace model;

static Finding describe(const Program &Program, const CatInLoop &Found) {
  Finding Result;
  Result.Location = ast::beginLoc(Found.Cat);
  Result.Range = Found.Cat->getSourceRange();
  Result.Kind = FindingKind::CatInLoop;
  const std::string Call = calleeText(Program, Found.Cat);
  Result.Message =
      "'" + Call + "' copies all that '" +
      plainName(Program.context(), Found.Operand) +
      "' has collected in every iteration: the bytes copied grow with the "
      "square of the iterations; collect in a 'std::vector<torch::Tensor>' and "
      "call '" +
      Call + "' once after the loop";
  addLoop(Result, *Found.Entry, Found.In, Found.Around);
  for (const clang::CallExpr *Other : Found.AsWell)
    addNote(Result, {ast::beginLoc(Other), "and here", NoteRole::AsWell});
  Result.IterationSite = ast::beginLoc(Found.Cat);
  return Result;
}

std::vector<Finding> CatInLoopCheck::analyze(Program &Program) {
  return findingsOf(
      Program, findCatInLoop, describe,
      [this](const CatInLoop &Found) { return Minor || !Found.IsMinor; });
}

} // namespace torchtidy::checks

// Finds tensors that are converted to a wider type on the host and moved to a
// device then: more bytes go over the bus than have to.
#include "transfer/ConvertBeforeTransferCheck.h"
#include "ast/Locations.h"
#include "report/Report.h"
#include "transfer/ConvertBeforeTransfer.h"
#include "clang/Lex/Lexer.h"

namespace torchtidy::checks {

using namespace clang;
using namespace model;

/// ".to(device)", as it is written; invalid where a macro has a part of it.
static CharSourceRange memberCall(const Program &Program,
                                  const CXXMemberCallExpr *Call) {
  const auto *Member =
      dyn_cast<MemberExpr>(Call->getCallee()->IgnoreParenImpCasts());
  if (!Member || Member->isArrow() || !Member->getOperatorLoc().isFileID() ||
      !ast::endLoc(Call).isFileID())
    return {};
  return Lexer::makeFileCharRange(
      CharSourceRange::getTokenRange(Member->getOperatorLoc(),
                                     ast::endLoc(Call)),
      Program.sourceManager(), Program.context().getLangOpts());
}

static std::string textOf(const Program &Program, CharSourceRange Range) {
  return Lexer::getSourceText(Range, Program.sourceManager(),
                              Program.context().getLangOpts())
      .str();
}

/// The two calls change places. With a variable or an operation between them
/// there is no fix: what the second is given may not be there at the first, and
/// what is moved need not be what is converted.
static std::vector<FixItHint> swap(const Program &Program,
                                   const WideTransfer &Found) {
  const CharSourceRange First = memberCall(Program, Found.Converts),
                        Second = memberCall(Program, Found.Moves);
  if (Found.Variable || Found.IsComputed || First.isInvalid() ||
      Second.isInvalid())
    return {};
  const auto Whole =
      CharSourceRange::getCharRange(First.getBegin(), Second.getEnd());
  const auto Between =
      CharSourceRange::getCharRange(First.getEnd(), Second.getBegin());
  return {FixItHint::CreateReplacement(Whole, textOf(Program, Second) +
                                                  textOf(Program, Between) +
                                                  textOf(Program, First))};
}

static Finding describe(const Program &Program, const WideTransfer &Found) {
  Finding Result;
  Result.Location = Found.Moves->getExprLoc();
  Result.Range = Found.Moves->getSourceRange();
  const std::string Times = std::to_string(Found.Wide / Found.Narrow);
  Result.Message = "this tensor is converted to a wider type on the host and "
                   "moved then: " +
                   Times +
                   " times as many bytes go to the device; move it first and "
                   "convert it there" +
                   (Found.IsComputed ? ", and compute with it then" : "");
  if (Found.Variable || Found.IsComputed)
    addNote(Result,
            {Found.Converts->getExprLoc(), "converted here", NoteRole::Made});
  const auto Around = Found.Entry->loopsAround(Found.Move->Point);
  if (!Around.empty())
    addLoop(Result, *Found.Entry, Found.Move->In, Around.back());
  Result.Fixes = swap(Program, Found);
  Result.IterationSite = ast::beginLoc(Found.Moves);
  return Result;
}

std::vector<Finding> ConvertBeforeTransferCheck::analyze(Program &Program) {
  return findingsOf(Program, wideTransfers, describe);
}

} // namespace torchtidy::checks

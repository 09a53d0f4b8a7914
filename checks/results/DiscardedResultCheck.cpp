// Finds calls that only return a tensor, as x.to(device) does, and whose result
// is dropped although x is used afterwards as if it had been changed.
#include "results/DiscardedResultCheck.h"
#include "report/Report.h"
#include "results/DiscardedResult.h"
#include "clang/AST/ExprCXX.h"

namespace torchtidy::checks {

using namespace model;

/// As it is written, where that is short enough to read.
static std::string callText(const Program &Program,
                            const clang::CallExpr *Call) {
  std::string Text = Program.text(Call);
  if (!Text.empty() && Text.size() <= 60)
    return "'" + Text + "'";
  if (llvm::isa<clang::CXXOperatorCallExpr>(Call))
    return "the operation";
  return "'" + calleeText(Program, Call) + "'";
}

static Finding describe(const Program &Program, const DiscardedResult &Found) {
  const clang::CallExpr *Call = Found.Call;
  Finding Result;
  Result.Location = Call->getBeginLoc();
  Result.Range = Call->getSourceRange();
  Result.Cause = "discarded-result";
  const std::string Text = callText(Program, Call);
  if (!Found.Subject) {
    Result.Kind = FindingKind::DiscardedCheck;
    Result.Message = "nobody looks at what " + Text +
                     " returns, so nothing is checked; use the result";
    return Result;
  }
  Result.Kind = Found.Converts ? FindingKind::DiscardedConversion
                               : FindingKind::DiscardedComputation;
  const std::string Name = Program.text(Found.Subject);
  Result.Message =
      Text +
      (Found.Converts ? " returns the converted tensor and leaves '"
                      : " returns its result and leaves '") +
      Name + "' as it is, and the result is dropped; ";
  const std::string Assignment = Name + " = " + Program.text(Call);
  if (Found.CanAssign && Assignment.size() <= 60)
    Result.Message += "write '" + Assignment + "'";
  else if (Found.CanAssign)
    Result.Message += "assign it to '" + Name + "'";
  else
    Result.Message += "keep it in a variable";
  if (Found.CanAssign)
    Result.Fixes.push_back(
        clang::FixItHint::CreateInsertion(Call->getBeginLoc(), Name + " = "));
  if (Found.Helper)
    Result.Notes.push_back(
        {Found.Helper->getLocation(),
         "'" + Found.Helper->getNameAsString() + "' only returns a value",
         NoteRole::Declared});
  return Result;
}

std::vector<Finding> DiscardedResultCheck::analyze(Program &Program) {
  return findingsOf(Program, discardedResults, describe);
}

} // namespace torchtidy::checks

// Finds copies from a device that the host reads before they are there:
// to(torch::kCPU, /*non_blocking=*/true) returns at once.
#include "transfer/UnsynchronizedCopyCheck.h"
#include "ast/Expressions.h"
#include "ast/Locations.h"
#include "report/Report.h"
#include "torch/Options.h"
#include "transfer/UnsynchronizedCopy.h"

namespace torchtidy::checks {

using namespace clang;
using namespace model;

/// The copy waits where its flag is false.
static std::vector<FixItHint> waitThere(const CallExpr *Copies) {
  const Expr *Flag = torch::nonBlockingArgument(Copies);
  const auto *Literal =
      Flag ? dyn_cast<CXXBoolLiteralExpr>(ast::stripCopies(Flag)) : nullptr;
  if (!Literal || !Literal->getValue() || !Literal->getLocation().isFileID())
    return {};
  return {FixItHint::CreateReplacement(Literal->getSourceRange(), "false")};
}

static Finding describe(const Program &Program,
                        const UnsynchronizedCopy &Found) {
  Finding Result;
  Result.Location = Found.Copies->getExprLoc();
  Result.Range = Found.Copies->getSourceRange();
  Result.Message =
      "'" + calleeText(Program, Found.Copies) +
      "' returns before the device has written the copy (non_blocking), and "
      "the host reads it without waiting: what it gets may be old or half "
      "written; leave non_blocking out, or call torch::cuda::synchronize() "
      "before the reading";
  addNote(Result, {Found.Read->Site->getExprLoc(),
                   Found.Read->IsPointer ? "the memory is handed out here"
                                         : "it is read here",
                   NoteRole::Read});
  Result.Fixes = waitThere(Found.Copies);
  Result.IterationSite = ast::beginLoc(Found.Copies);
  return Result;
}

std::vector<Finding> UnsynchronizedCopyCheck::analyze(Program &Program) {
  return findingsOf(Program, unsynchronizedCopies, describe);
}

} // namespace torchtidy::checks

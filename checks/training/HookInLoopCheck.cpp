// Finds hooks that a loop registers on the same tensor in every iteration.
#include "training/HookInLoopCheck.h"
#include "ast/Expressions.h"
#include "report/Report.h"
#include "training/HookInLoop.h"

namespace torchtidy::checks {

using namespace model;

static Finding describe(const Program &Program, const HookInLoop &Found) {
  const HookEvent &Hook = *Found.Hook;
  const auto *Call = llvm::cast<clang::CallExpr>(Hook.Site);
  const std::string Name = plainName(Program.context(), ast::objectOf(Call));
  Finding Result;
  Result.Location = Hook.Site->getBeginLoc();
  Result.Range = Hook.Site->getSourceRange();
  Result.Kind = Found.ChangesGradient ? FindingKind::HookChangesGradient
                                      : FindingKind::HookPilesUp;
  Result.Message =
      (Name.empty() ? "the same tensor" : "'" + Name + "'") +
      " gets one more hook in every iteration, and keeps those from before: " +
      (Found.ChangesGradient
           ? "in the k-th iteration backward() changes its gradient k times, "
             "which trains with wrong gradients; "
           : "in the k-th iteration backward() calls k of them; ") +
      "register it once before the loop, or take it away by 'remove_hook'";
  addLoop(Result, *Found.Entry, Hook.In, Found.Around);
  addCallers(Result, Hook.In);
  Result.IterationSite = Hook.Site->getBeginLoc();
  return Result;
}

std::vector<Finding> HookInLoopCheck::analyze(Program &Program) {
  return findingsOf(Program, hooksInLoop, describe);
}

} // namespace torchtidy::checks

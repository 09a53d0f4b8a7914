// Finds tensors that repeat() copies along dimensions which the operations
// behind it would stretch without a copy.
#include "memory/RepeatForBroadcastCheck.h"
#include "ast/Expressions.h"
#include "ast/Locations.h"
#include "memory/RepeatForBroadcast.h"
#include "report/Report.h"

namespace torchtidy::checks {

using namespace model;
using clang::FixItHint;

/// "n, -1"
static std::string arguments(const Program &Program,
                             const RepeatForBroadcast &Found) {
  std::string Result;
  for (const clang::Expr *Each : Found.Expanded)
    Result += (Result.empty() ? "" : ", ") +
              (Each ? Program.text(Each) : std::string("-1"));
  return "{" + Result + "}";
}

/// repeat({n, 1}) becomes expand({n, -1}).
static std::vector<FixItHint> expand(const Program &Program,
                                     const RepeatForBroadcast &Found) {
  const auto *Callee = llvm::dyn_cast<clang::MemberExpr>(
      Found.Call->getCallee()->IgnoreParens());
  const clang::SourceLocation From =
      Callee ? Callee->getMemberLoc() : clang::SourceLocation();
  const clang::SourceRange Range(From, Found.Call->getRParenLoc());
  if (Found.Expanded.empty() || From.isInvalid() || From.isMacroID() ||
      Range.getEnd().isMacroID())
    return {};
  return {FixItHint::CreateReplacement(
      Range, "expand(" + arguments(Program, Found) + ")")};
}

static Finding describe(const Program &Program,
                        const RepeatForBroadcast &Found) {
  const clang::ASTContext &Context = Program.context();
  Finding Result;
  Result.Location = Found.Call->getExprLoc();
  Result.Range = Found.Call->getSourceRange();
  const std::string Name = plainName(Context, ast::objectOf(Found.Call));
  const std::string Call = calleeText(Program, Found.Call);
  Result.Message =
      "'" + Call + "' copies " +
      (Name.empty() ? "a tensor" : "'" + Name + "'") +
      " along dimensions of size one, and only operations that broadcast "
      "use the copy; 'expand' does the same without memory";
  if (!Found.Expanded.empty())
    Result.Message += ": 'expand(" + arguments(Program, Found) + ")'";
  addNote(Result, {Found.User->getExprLoc(), "the copy is broadcast here",
                   NoteRole::Read});
  Result.Fixes = expand(Program, Found);
  Result.IterationSite = ast::beginLoc(Found.Call);
  return Result;
}

std::vector<Finding> RepeatForBroadcastCheck::analyze(Program &Program) {
  return findingsOf(Program, repeatsForBroadcast, describe);
}

} // namespace torchtidy::checks

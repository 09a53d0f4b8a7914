// Finds calls that only return a tensor, as x.to(device) does, and whose result
// is dropped although x is used afterwards as if it had been changed.
#include "results/DiscardedResultCheck.h"
#include "ast/Expressions.h"
#include "ast/Locations.h"
#include "report/Report.h"
#include "results/DiscardedResult.h"
#include "torch/Api.h"
#include "clang/AST/ExprCXX.h"
#include "clang/Lex/Lexer.h"

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

/// x.index_put_({mask}, 0).
static void addPut(const Program &Program, const DiscardedResult &Found,
                   Finding &Result) {
  const auto *Member = llvm::dyn_cast<clang::MemberExpr>(
      Found.Copy->getCallee()->IgnoreParens());
  if (!Member || !Found.CanPut)
    return;
  const clang::Expr *Number = ast::argumentsOf(Found.Call).front();
  const clang::SourceManager &SM = Program.sourceManager();
  const clang::SourceLocation Behind = clang::Lexer::getLocForEndOfToken(
      Number->getEndLoc(), 0, SM, Program.context().getLangOpts());
  Result.Fixes.push_back(clang::FixItHint::CreateReplacement(
      Member->getMemberLoc(), "index_put_"));
  Result.Fixes.push_back(clang::FixItHint::CreateReplacement(
      clang::CharSourceRange::getCharRange(Found.Copy->getRParenLoc(),
                                           Number->getBeginLoc()),
      ", "));
  Result.Fixes.push_back(clang::FixItHint::CreateInsertion(Behind, ")"));
}

/// What a write into a copy is meant to be.
static llvm::StringRef writesInto(const clang::CallExpr *Copy) {
  const torch::Operation *Op = torch::classify(Copy).Op;
  return Op ? torch::writingInstead(*Op) : "";
}

static Finding describeWrite(const Program &Program,
                             const DiscardedResult &Found) {
  Finding Result;
  Result.Location = ast::beginLoc(Found.Call);
  Result.Range = Found.Call->getSourceRange();
  Result.Cause = "discarded-result";
  Result.Kind = FindingKind::DiscardedWrite;
  const std::string Name = "'" + Program.text(Found.Subject) + "'";
  Result.Message =
      callText(Program, Found.Copy) +
      " makes a copy, and what is written into that is dropped: " + Name +
      " stays as it is; ";
  if (const llvm::StringRef Instead = writesInto(Found.Copy); !Instead.empty())
    Result.Message += "'" + Instead.str() + "' writes into " + Name;
  else
    Result.Message += "write into " + Name + " itself";
  addPut(Program, Found, Result);
  return Result;
}

static Finding describe(const Program &Program, const DiscardedResult &Found) {
  if (Found.Copy)
    return describeWrite(Program, Found);
  const clang::CallExpr *Call = Found.Call;
  Finding Result;
  Result.Location = ast::beginLoc(Call);
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
  if (Found.ReadOnHost)
    Result.Message += "drop the line: what follows reads the memory of '" +
                      Name + "' on the CPU";
  else if (Found.CanAssign && Assignment.size() <= 60)
    Result.Message += "write '" + Assignment + "'";
  else if (Found.CanAssign)
    Result.Message += "assign it to '" + Name + "'";
  else
    Result.Message += "keep it in a variable";
  if (Found.Reshapes)
    Result.Message +=
        ", or drop the line if what follows needs the shape of '" + Name + "'";
  if (Found.CanAssign && !Found.Reshapes && !Found.ReadOnHost)
    Result.Fixes.push_back(
        clang::FixItHint::CreateInsertion(ast::beginLoc(Call), Name + " = "));
  if (Found.ReadOnHost)
    Result.Notes.push_back({ast::beginLoc(Found.ReadOnHost),
                            "its memory is read here, where a tensor on a "
                            "device has none for the CPU",
                            NoteRole::Read});
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

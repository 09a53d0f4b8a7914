// Finds backward() calls in a loop that keep the graph of each iteration,
// though nothing goes through it again.
#include "memory/RetainGraphInLoopCheck.h"
#include "ast/Expressions.h"
#include "memory/RetainGraphInLoop.h"
#include "report/Edit.h"
#include "report/Report.h"

namespace torchtidy::checks {

using namespace model;

static Finding describe(const Program &Program,
                        const RetainGraphInLoop &Found) {
  const clang::ASTContext &Context = Program.context();
  const BackwardEvent &Backward = *Found.Backward;
  const auto *Call = llvm::dyn_cast<clang::CallExpr>(Backward.Site);
  const clang::Expr *Object = Call ? ast::objectOf(Call) : nullptr;
  const std::string Name = Object ? plainName(Context, Object) : "";
  Finding Result;
  Result.Location = Backward.Site->getBeginLoc();
  Result.Range = Backward.Site->getSourceRange();
  Result.Message =
      "backward() " + (Name.empty() ? "" : "of '" + Name + "' ") +
      "keeps the graph of every iteration, though nothing goes through it "
      "again: what it has saved stays in memory for longer than it is needed; "
      "leave out 'retain_graph'";
  addLoop(Result, *Found.Entry, Backward.In, Found.Around);
  if (Call)
    Result.Fixes = dropArgument(Context, Call, Backward.Retain, "false");
  Result.IterationSite = Backward.Site->getBeginLoc();
  return Result;
}

std::vector<Finding> RetainGraphInLoopCheck::analyze(Program &Program) {
  return findingsOf(Program, retainsGraphInLoop, describe);
}

} // namespace torchtidy::checks

// Finds optimizers that a training loop constructs anew for every step, so that
// they forget the moments and averages which they adapt their steps by.
#include "training/OptimizerInLoopCheck.h"
#include "report/Edit.h"
#include "report/Report.h"
#include "training/OptimizerInLoop.h"

namespace torchtidy::checks {

using namespace model;

static Finding describe(const Program &Program, const OptimizerInLoop &Found) {
  const CreateEvent &Create = *Found.Create;
  const std::string Class =
      Found.Class->getAsCXXRecordDecl()->getNameAsString();
  const std::string Name = Found.Variable
                               ? "'" + Found.Variable->getNameAsString() + "'"
                               : "the optimizer";
  const auto *Local = llvm::dyn_cast_or_null<clang::VarDecl>(Found.Variable);
  Finding Result;
  const bool IsDeclared =
      Local && Found.Entry->places().variable(Create.Objects.front()) == Local;
  Result.Location =
      IsDeclared ? Local->getLocation() : Create.Site->getBeginLoc();
  Result.Range = Create.Site->getSourceRange();
  Result.Kind = FindingKind::OptimizerInLoop;
  Result.Message =
      Name + " is constructed anew in every iteration: this " + Class +
      (Found.IsForEpoch ? " forgets its state after every epoch"
                        : " forgets its state before every step()") +
      "; construct it once before the loop";
  Result.Notes.push_back({Found.Step->Site->getBeginLoc(),
                          Found.IsForEpoch ? "it makes its steps here"
                                           : "the only step() that it makes",
                          NoteRole::Optimizer});
  addLoop(Result, *Found.Entry, Create.In, Found.Around);
  if (Found.CanMove)
    Result.Fixes =
        moveBeforeLoop(Program.context(), *Create.In->Flow, Local,
                       Found.Entry->loopStatement(*Found.Before), "");
  Result.IterationSite = Found.Step->Site->getBeginLoc();
  return Result;
}

std::vector<Finding> OptimizerInLoopCheck::analyze(Program &Program) {
  return findingsOf(Program, optimizersInLoop, describe);
}

} // namespace torchtidy::checks

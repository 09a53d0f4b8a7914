// FIXME(new-check): say in one sentence what is flagged; docs/checks/torch-redundant-transfer.md
// opens with the same sentence.
#include "transfer/RedundantTransferCheck.h"
#include "transfer/RedundantTransfer.h"
#include "report/Edit.h"
#include "report/Report.h"

namespace torchtidy::checks {

using namespace model;

// FIXME(new-check): the words: what happens, what it costs, what to do. Notes,
// the fix and, for the harness, an operation that runs in every iteration.
static Finding describe(const Program &Program, const RedundantTransfer &Found) {
  const AllocateEvent &Allocate = *Found.Allocate;
  Finding Result;
  Result.Location = Allocate.Site->getBeginLoc();
  Result.Range = Allocate.Site->getSourceRange();
  Result.Kind = FindingKind::RedundantTransfer;
  Result.Message = "'" + Found.Variable->getNameAsString() +
                   "' is made in every iteration";
  addLoop(Result, *Found.Entry, Allocate.In, Found.Around);
  if (Found.CanMove)
    Result.Fixes = moveBeforeLoop(Program.context(), *Allocate.In->Flow,
                                  Found.Variable,
                                  Found.Entry->loopStatement(*Found.Around), "");
  Result.IterationSite = Allocate.Site->getBeginLoc();
  return Result;
}

std::vector<Finding> RedundantTransferCheck::analyze(Program &Program) {
  return findingsOf(Program, findRedundantTransfer, describe);
}

} // namespace torchtidy::checks

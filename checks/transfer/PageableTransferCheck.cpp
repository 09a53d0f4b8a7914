// Finds copies to a GPU with non_blocking from memory that is not pinned: the
// host waits for them all the same.
#include "transfer/PageableTransferCheck.h"
#include "report/Report.h"
#include "transfer/PageableTransfer.h"

namespace torchtidy::checks {

using namespace clang;
using namespace model;

static Finding describe(const Program & /*Program*/,
                        const PageableTransfer &Found) {
  Finding Result;
  const Expr *Site = Found.Transfer->Site;
  Result.Location = Site->getExprLoc();
  Result.Range = Site->getSourceRange();
  Result.Message =
      "this copy is asked not to block, and comes from memory that is not "
      "pinned: the host waits for it all the same; pin the memory where the "
      "batch is put together, or fill one pinned buffer again and again, but "
      "do not pin it here, which costs another copy";
  for (const TransferEvent *Other : Found.Others)
    addNote(Result,
            {Other->Site->getExprLoc(), "so does this one", NoteRole::AsWell});
  if (Found.Around)
    addLoop(Result, *Found.Entry, Found.Transfer->In, Found.Around);
  Result.IterationSite = Site->getBeginLoc();
  return Result;
}

std::vector<Finding> PageableTransferCheck::analyze(Program &Program) {
  return findingsOf(Program, pageableTransfers, describe);
}

} // namespace torchtidy::checks

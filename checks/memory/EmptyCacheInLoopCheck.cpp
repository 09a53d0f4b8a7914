// Finds loops that give the cached memory of a device back to the driver in
// every iteration.
#include "memory/EmptyCacheInLoopCheck.h"
#include "ast/Locations.h"
#include "memory/EmptyCacheInLoop.h"
#include "report/Edit.h"
#include "report/Report.h"

namespace torchtidy::checks {

using namespace model;

static Finding describe(const Program &Program, const EmptiedCache &Found) {
  Finding Result;
  Result.Location = ast::beginLoc(Found.Call);
  Result.Range = Found.Call->getSourceRange();
  Result.Message = "'" + calleeText(Program, Found.Call) +
                   "' gives the cached memory back to the driver in every "
                   "iteration: it waits for the device, and the next "
                   "iteration has to allocate all of it again; leave it out";
  addLoop(Result, *Found.Entry, Found.In, Found.Around);
  if (Found.Call != Found.Empties)
    addNote(Result, {ast::beginLoc(Found.Empties), "the cache is emptied here",
                     NoteRole::MemoryEnds});
  // A function that is called elsewhere as well empties the cache for others.
  if (!Found.Entry->beginsIn(Found.In, *Found.Around))
    Result.Fixes =
        removeStatement(Program.context(), *Found.In->Flow, Found.Call);
  Result.IterationSite = ast::beginLoc(Found.Call);
  return Result;
}

std::vector<Finding> EmptyCacheInLoopCheck::analyze(Program &Program) {
  return findingsOf(Program, emptiedCaches, describe);
}

} // namespace torchtidy::checks

// Finds tensors on a device that are larger in every iteration of a loop.
#include "memory/VaryingShapesCheck.h"
#include "ast/Locations.h"
#include "memory/VaryingShapes.h"
#include "report/Report.h"

namespace torchtidy::checks {

using namespace model;

static Finding describe(const Program &Program, const GrowingTensor &Found) {
  Finding Result;
  Result.Location = ast::beginLoc(Found.Makes);
  Result.Range = Found.Makes->getSourceRange();
  Result.Message =
      "'" + calleeText(Program, Found.Makes) +
      "' makes a larger tensor in every iteration: no memory that the device's "
      "allocator has kept is large enough, so each one is asked of the driver, "
      "and the pieces stay; " +
      (Found.IsPrefix
           ? "use the view itself, or copy into a part of one tensor that is "
             "made once"
           : "make the largest once before the loop and take 'narrow()' of "
             "it, or round the size up to a few steps");
  addLoop(Result, *Found.Entry, Found.In, Found.Around);
  Result.IterationSite = ast::beginLoc(Found.Makes);
  return Result;
}

std::vector<Finding> VaryingShapesCheck::analyze(Program &Program) {
  return findingsOf(Program, growingTensors, describe);
}

} // namespace torchtidy::checks

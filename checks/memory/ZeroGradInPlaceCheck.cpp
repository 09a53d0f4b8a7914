// Finds training loops that fill the gradients with zeros instead of letting
// them go.
#include "memory/ZeroGradInPlaceCheck.h"
#include "memory/ZeroGradInPlace.h"
#include "report/Report.h"

namespace torchtidy::checks {

using namespace model;

static Finding describe(const Program &Program, const ZeroGradInPlace &Found) {
  const ZeroGradEvent &Clears = *Found.Clears;
  const std::string Name = objectName(Program.context(), Clears.Site);
  Finding Result;
  Result.Location = Clears.Site->getBeginLoc();
  Result.Range = Clears.Site->getSourceRange();
  Result.Message =
      (Found.IsByHand
           ? std::string("this ")
           : "zero_grad(false) " + (Name.empty() ? "" : "of '" + Name + "' ")) +
      "fills the gradients with zeros in every iteration, where they could be "
      "let go: they take memory through the forward pass, when the graph needs "
      "most of it; " +
      (Found.IsByHand ? "call 'mutable_grad().reset()', or 'zero_grad()'"
                      : "leave out the argument") +
      ", unless a parameter that gets no gradient in an iteration is to be "
      "updated all the same";
  addLoop(Result, *Found.Entry, Clears.In, Found.Around);
  Result.IterationSite = Clears.Site->getBeginLoc();
  return Result;
}

std::vector<Finding> ZeroGradInPlaceCheck::analyze(Program &Program) {
  return findingsOf(Program, zeroGradsInPlace, describe);
}

} // namespace torchtidy::checks

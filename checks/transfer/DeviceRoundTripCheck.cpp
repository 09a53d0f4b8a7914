// Finds tensors that are copied to the host, computed with there and copied to
// a device again, though the device could compute the same.
#include "transfer/DeviceRoundTripCheck.h"
#include "report/Report.h"
#include "transfer/DeviceRoundTrip.h"

namespace torchtidy::checks {

using namespace clang;
using namespace model;

static Finding describe(const Program & /*Program*/, const RoundTrip &Found) {
  Finding Result;
  Result.Location = Found.Down->Site->getExprLoc();
  Result.Range = Found.Down->Site->getSourceRange();
  Result.Message =
      "this tensor is copied to the host, and what is computed from it there "
      "goes to a device again; compute it on the device, and leave out both "
      "copies";
  for (const TransferEvent *Down : Found.DownAsWell)
    addNote(Result, {Down->Site->getExprLoc(), "and here", NoteRole::AsWell});
  for (const TransferEvent *Up : Found.Up)
    addNote(Result, {Up->Site->getExprLoc(), "copied to a device here",
                     NoteRole::AsWell});
  const auto Around = Found.Entry->loopsAround(Found.Down->Point);
  if (!Around.empty())
    addLoop(Result, *Found.Entry, Found.Down->In, Around.back());
  Result.IterationSite = Found.Down->Site->getBeginLoc();
  return Result;
}

std::vector<Finding> DeviceRoundTripCheck::analyze(Program &Program) {
  return findingsOf(Program, roundTrips, describe);
}

} // namespace torchtidy::checks

// Finds transfers of tensors that are where they go already, and copies beside
// a transfer that nobody needs: x.cpu().to(device), x.to(torch::kCUDA).clone().
#include "transfer/RedundantTransferCheck.h"
#include "ast/Locations.h"
#include "queries/loops/Loops.h"
#include "report/Report.h"
#include "transfer/RedundantTransfer.h"

namespace torchtidy::checks {

using namespace clang;
using namespace model;

static std::string messageOf(const Program &Program,
                             const RedundantTransfer &Found) {
  const std::string Beside =
      "'" + calleeText(Program, cast<Expr>(Found.Transfer->Site)) + "'";
  switch (Found.How) {
  case RedundantTransfer::CloneBefore:
    return "this tensor is copied twice: by 'clone', and by " + Beside +
           ", which returns a copy here anyway; leave 'clone' out";
  case RedundantTransfer::UnwrittenClone:
    return "this tensor is copied twice: by 'clone', and by " + Beside +
           " to the device; where that is the CPU, nobody writes either of the "
           "two, and a copy is not needed; leave 'clone' out";
  case RedundantTransfer::FreshClone:
    return "'clone' copies what nobody else has, and " + Beside +
           " is called on that copy; leave 'clone' out";
  case RedundantTransfer::FreshAlone:
    return "'clone' copies what an operation has just made and nobody else "
           "has; leave 'clone' out";
  case RedundantTransfer::UnwrittenAfter:
    return "this tensor is copied twice: by " + Beside +
           " from the device, and by 'clone'; where it is on the CPU, nobody "
           "writes either of the two, and a copy is not needed; leave 'clone' "
           "out";
  case RedundantTransfer::CloneAfter:
    return "'clone' copies the tensor once more: what " + Beside +
           " returns here is nobody else's; leave 'clone' out";
  case RedundantTransfer::WayBack:
    return "this tensor is copied to the host and at once to a device again; "
           "leave this copy out (to() goes from device to device), or use "
           "'clone' where a copy is wanted";
  case RedundantTransfer::IsThere:
    return "the tensor is on that device already, and " + Beside +
           " returns it as it is; leave the call out";
  case RedundantTransfer::HasType:
    return "the tensor has that type already, and " + Beside +
           " returns it as it is; leave the call out";
  }
  llvm_unreachable("not a kind of redundant transfer");
}

static FindingKind kindOf(RedundantTransfer::Kind How) {
  switch (How) {
  case RedundantTransfer::CloneBefore:
  case RedundantTransfer::UnwrittenClone:
  case RedundantTransfer::FreshClone:
  case RedundantTransfer::FreshAlone:
  case RedundantTransfer::UnwrittenAfter:
  case RedundantTransfer::CloneAfter:
    return FindingKind::RedundantClone;
  case RedundantTransfer::WayBack:
    return FindingKind::RedundantWay;
  case RedundantTransfer::IsThere:
    return FindingKind::RedundantTransfer;
  case RedundantTransfer::HasType:
    return FindingKind::RedundantConversion;
  }
  llvm_unreachable("not a kind of redundant transfer");
}

static Finding describe(const Program &Program,
                        const RedundantTransfer &Found) {
  Finding Result;
  Result.Location = Found.Call->getExprLoc();
  Result.Range = Found.Call->getSourceRange();
  Result.Kind = kindOf(Found.How);
  Result.Message = messageOf(Program, Found);
  const auto Around = Found.Entry->loopsAround(Found.Transfer->Point);
  // "In every iteration": not of what a condition in the loop decides about.
  if (!Around.empty() && isUnconditional(*Found.Entry, Found.Call,
                                         Found.Transfer->In, *Around.back()))
    addLoop(Result, *Found.Entry, Found.Transfer->In, Around.back());
  Result.IterationSite = ast::beginLoc(Found.Call);
  return Result;
}

std::vector<Finding> RedundantTransferCheck::analyze(Program &Program) {
  return findingsOf(Program, redundantTransfers, describe);
}

} // namespace torchtidy::checks

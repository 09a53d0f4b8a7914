// Finds hooks, callbacks and parts that keep alive what holds them, so that
// neither is ever freed.
#include "memory/ReferenceCycleCheck.h"
#include "ast/Locations.h"
#include "memory/ReferenceCycle.h"
#include "report/Report.h"

namespace torchtidy::checks {

using namespace model;

static FindingKind kind(ReferenceCycle::Kind Of) {
  switch (Of) {
  case ReferenceCycle::Hook:
    return FindingKind::CycleThroughHook;
  case ReferenceCycle::Callback:
    return FindingKind::CycleThroughCallback;
  case ReferenceCycle::Part:
    break;
  }
  return FindingKind::CycleThroughPart;
}

static std::string message(const ReferenceCycle &Found) {
  const std::string Owner = Found.Owner
                                ? "'" + Found.Owner->getNameAsString() + "'"
                                : "'shared_from_this()'";
  const std::string Member =
      Found.Member ? "'" + Found.Member->getNameAsString() + "'" : "";
  switch (Found.Of) {
  case ReferenceCycle::Hook:
    if (Found.IsTensor)
      return "the hook of " + Owner + " has captured " + Owner +
             " itself, so the tensor keeps itself alive and is never freed; "
             "capture '" +
             (Found.Owner ? Found.Owner->getNameAsString() : "") + ".detach()'";
    return "the hook of a tensor of " + Owner + " has captured " + Owner +
           ", so the module keeps itself alive and is never freed; capture a "
           "'std::weak_ptr', or what the hook needs of it";
  case ReferenceCycle::Callback:
    return "the function that " + Member + " holds has captured " + Owner +
           ", which has " + Member +
           ", so the object keeps itself alive and is never freed; capture a "
           "'std::weak_ptr'";
  case ReferenceCycle::Part:
    break;
  }
  return "member " + Member + " keeps " + Owner +
         " alive, which keeps alive what it is a member of, so neither is ever "
         "freed; make the member a 'std::weak_ptr'";
}

static Finding describe(const Program & /*Program*/,
                        const ReferenceCycle &Found) {
  Finding Result;
  Result.Location = ast::beginLoc(Found.Site);
  Result.Range = Found.Site->getSourceRange();
  Result.Kind = kind(Found.Of);
  Result.Message = message(Found);
  if (Found.Of != ReferenceCycle::Part)
    Result.Notes.push_back(
        {Found.Captured, "it is captured here", NoteRole::Store});
  if (Found.Member)
    Result.Notes.push_back(
        {Found.Member->getLocation(), "the member", NoteRole::Declared});
  if (Found.Maker)
    Result.IterationSite = Found.Maker->getBeginLoc();
  return Result;
}

std::vector<Finding> ReferenceCycleCheck::analyze(Program &Program) {
  return findingsOf(Program, findReferenceCycles, describe);
}

} // namespace torchtidy::checks

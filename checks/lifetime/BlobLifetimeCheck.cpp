// Finds tensors over memory (from_blob) that dies before them.
#include "lifetime/BlobLifetimeCheck.h"
#include "model/Edit.h"
#include "model/Lifetime.h"
#include "model/Report.h"

namespace torchtidy::checks {

using namespace clang;
using namespace model;

/// "'values'", or what an owner without a name is.
static std::string ownerName(const Outlived &Found) {
  const std::string Name = Found.Way->places().name(Found.Loan->Place);
  if (!Name.empty())
    return "'" + Name + "'";
  return Found.End->Ends == EndKind::FullExpression ? "a temporary object"
                                                    : "an object on the heap";
}

/// The variable that is, or has in it, the owner; null where there is none.
static const VarDecl *ownerVariable(const Outlived &Found) {
  const PlaceTable &Places = Found.Way->places();
  const PlaceId RootPlace = Places.rootOf(Found.Loan->Place);
  const Root Kind = Places.rootKind(RootPlace);
  return Kind == Root::Local || Kind == Root::Global
             ? static_cast<const VarDecl *>(Places.key(RootPlace))
             : nullptr;
}

static bool isReturned(const Outlived &Found) {
  const PlaceTable &Places = Found.Way->places();
  const PlaceId RootPlace = Places.rootOf(*Found.Holder);
  return Places.rootKind(RootPlace) == Root::Object &&
         Places.key(RootPlace) == Found.Way->root().Function;
}

static std::string ending(const Outlived &Found) {
  switch (Found.End->Ends) {
  case EndKind::Scope:
    return " ends with its scope";
  case EndKind::FullExpression:
    return " ends with the statement";
  case EndKind::Delete:
    return " is freed";
  case EndKind::Reallocation:
    return " is given other elements";
  }
  return "";
}

static std::string message(const Outlived &Found) {
  const std::string Owner = ownerName(Found);
  const bool HasName = Owner.front() == '\'';
  std::string Result = "tensor uses the memory of " + Owner +
                       " without owning it: " + (HasName ? Owner : "that") +
                       ending(Found);
  if (Found.Touch)
    Result += ", and the tensor is read afterwards";
  else if (isReturned(Found))
    Result += ", and the tensor is returned";
  else
    Result += ", and the tensor is kept";
  const std::string Holder = Found.Holder && !isReturned(Found)
                                 ? Found.Way->places().name(*Found.Holder)
                                 : "";
  if (!Holder.empty())
    Result += " in '" + Holder + "'";
  return Result + "; copy it with '.clone()'";
}

static Finding describe(const Program &Program, const Outlived &Found) {
  const Expr *Call = Found.Loan->Site;
  Finding Result;
  Result.Location = Call->getBeginLoc();
  Result.Range = Call->getSourceRange();
  Result.Message = message(Found);
  if (Found.End->Site)
    Result.Notes.push_back(
        {Found.End->Site->getBeginLoc(), "the memory ends here"});
  else if (const VarDecl *Owner = ownerVariable(Found))
    Result.Notes.push_back({Owner->getLocation(), "it is declared here"});
  if (Found.Touch)
    Result.Notes.push_back(
        {Found.Touch->Site->getBeginLoc(), "the tensor is read here"});
  Result.Fixes = appendCall(Program.context(), Call, ".clone()");
  Result.IterationSite = Call->getBeginLoc();
  return Result;
}

std::vector<Finding> BlobLifetimeCheck::analyze(Program &Program) {
  std::vector<Finding> Findings;
  for (const Outlived &Found : outlivedBlobs(Program))
    addUnlessKnown(Findings, describe(Program, Found));
  return Findings;
}

} // namespace torchtidy::checks

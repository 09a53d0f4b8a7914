// Finds tensors over memory (from_blob) that dies before them.
#include "lifetime/BlobLifetimeCheck.h"
#include "lifetime/BlobLifetime.h"
#include "report/Edit.h"
#include "report/Report.h"

namespace torchtidy::checks {

using namespace clang;
using namespace model;

/// "'values'", or what an owner without a name is.
static std::string ownerName(const OutlivedLoan &Found) {
  const std::string Name = Found.Entry->places().name(Found.Taken->Owner);
  if (!Name.empty())
    return "'" + Name + "'";
  return Found.End->How == EndKind::FullExpression ? "a temporary object"
                                                   : "an object on the heap";
}

static std::string ending(const OutlivedLoan &Found) {
  switch (Found.End->How) {
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

static std::string message(const OutlivedLoan &Found) {
  std::string Result = "tensor still points into " + ownerName(Found) +
                       ", which" + ending(Found);
  if (Found.Touch)
    Result += ", and the tensor is read afterwards";
  else if (isReturned(Found))
    Result += ", and the tensor is returned";
  else
    Result += ", and the tensor is kept";
  const std::string Holder =
      Found.Hold && !isReturned(Found)
          ? Found.Entry->places().name(Found.Hold->Holder)
          : "";
  if (!Holder.empty())
    Result += " in '" + Holder + "'";
  return Result + " (use after free); append '.clone()'";
}

static FindingKind kind(const OutlivedLoan &Found) {
  switch (Found.End->How) {
  case EndKind::Scope:
    return FindingKind::BlobOwnerLeavesScope;
  case EndKind::FullExpression:
    return FindingKind::BlobOwnerIsTemporary;
  case EndKind::Delete:
    return FindingKind::BlobOwnerIsDeleted;
  case EndKind::Reallocation:
    break;
  }
  return FindingKind::BlobOwnerReallocates;
}

/// The calls by which the function that has the memory comes to where the
/// tensor is laid over it: another caller may keep its memory.
static void addCalls(Finding &Result, const OutlivedLoan &Found) {
  const PlaceTable &Places = Found.Entry->places();
  const PlaceId Owner = Places.rootOf(Found.Taken->Owner);
  if (Places.rootKind(Owner) != Root::Local)
    return;
  llvm::SmallVector<const Stmt *, 2> Calls;
  for (const Frame *F = Found.Taken->In; F && F->Id != Places.frame(Owner);
       F = F->Caller) {
    // Not of what lies deeper, or in no activation that leads there.
    if (!F->Caller || !F->Site)
      return;
    Calls.push_back(F->Site);
  }
  for (const Stmt *Call : Calls)
    Result.Notes.push_back(
        {Call->getBeginLoc(), "called from here", NoteRole::Caller});
}

static Finding describe(const Program &Program, const OutlivedLoan &Found) {
  const Expr *Call = Found.Taken->Site;
  Finding Result;
  Result.Location = Call->getBeginLoc();
  Result.Range = Call->getSourceRange();
  Result.Kind = kind(Found);
  Result.Message = message(Found);
  addCalls(Result, Found);
  addEndOfMemory(Result, Found.End->Site, ownerVariable(Found));
  if (Found.Touch)
    Result.Notes.push_back({Found.Touch->Site->getBeginLoc(),
                            "the tensor is read here", NoteRole::Read});
  Result.Fixes = appendCall(Program.context(), Call, ".clone()");
  Result.IterationSite = Call->getBeginLoc();
  return Result;
}

std::vector<Finding> BlobLifetimeCheck::analyze(Program &Program) {
  return findingsOf(Program, outlivedBlobs, describe);
}

} // namespace torchtidy::checks

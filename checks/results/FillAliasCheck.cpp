// Finds containers whose elements are all handles to one tensor or one module,
// although each is used as if it were its own.
#include "results/FillAliasCheck.h"
#include "model/Report.h"
#include "model/SharedFills.h"
#include "clang/AST/ExprCXX.h"

namespace torchtidy::checks {

using namespace model;

/// The container as its class or function knows it.
static std::string containerName(const SharedFill &Found) {
  const PlaceTable &Places = Found.Way->places();
  for (PlaceId P : Found.Fill->Places) {
    while (!Places.isRoot(P) && Places.step(P).Of != Step::Field)
      P = Places.parent(P);
    const std::string Name =
        Places.isRoot(P) ? Places.name(P)
                         : Places.step(P).Member->getNameAsString();
    if (!Name.empty())
      return "'" + Name + "'";
  }
  return "the container";
}

static Finding describe(const SharedFill &Found) {
  Finding Result;
  const clang::Expr *Site = Found.Fill->Site;
  Result.Location = Found.Fill->Operand->getExprLoc();
  Result.Range = Site->getSourceRange();
  Result.Cause = "shared-fill";
  const std::string Name = containerName(Found);
  const bool IsModule = !Found.Write;
  const std::string One = IsModule ? "module" : "tensor";
  Result.Message = "all elements of " + Name + " are handles to one " + One +
                   (IsModule ? ", so they share its parameters; make a module "
                             : ", so a write into one changes all; make a "
                               "tensor ") +
                   "for each element";
  if (Found.Write)
    Result.Notes.push_back({Found.Write->Site->getBeginLoc(), "written here"});
  if (Found.Around)
    addLoop(Result, *Found.Way, Found.Fill->In, Found.Around);
  return Result;
}

std::vector<Finding> FillAliasCheck::analyze(Program &Program) {
  std::vector<Finding> Findings;
  for (const SharedFill &Found : sharedFills(Program))
    addUnlessKnown(Findings, describe(Found));
  return Findings;
}

} // namespace torchtidy::checks

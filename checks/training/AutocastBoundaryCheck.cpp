// Finds results of operations under autocast, which are in half precision, that
// meet what is in float where autocast is off, and throw.
#include "training/AutocastBoundaryCheck.h"
#include "ast/Expressions.h"
#include "queries/modes/AutocastRegions.h"
#include "report/Edit.h"
#include "report/Report.h"
#include "training/AutocastBoundary.h"

namespace torchtidy::checks {

using namespace model;

static FindingKind kindOf(HalfUse How) {
  switch (How) {
  case HalfUse::Loss:
  case HalfUse::LossOfBackward:
    return FindingKind::HalfLoss;
  case HalfUse::Product:
  case HalfUse::Layer:
    return FindingKind::HalfOperand;
  case HalfUse::Elements:
    return FindingKind::HalfElements;
  }
  llvm_unreachable("not a use");
}

static std::string effectOf(const HalfUseEvent &Use) {
  switch (Use.How) {
  case HalfUse::Loss:
    return "this loss, outside of it, takes no target in float beside it and "
           "throws";
  case HalfUse::LossOfBackward:
    return "backward() of this loss, outside of it, finds a target in float "
           "beside it and throws";
  case HalfUse::Product:
    return "this operation, outside of it, takes no tensor in float beside it "
           "and throws";
  case HalfUse::Layer:
    return "this layer, outside of it, has its weights in float and throws";
  case HalfUse::Elements:
    return "reading its elements as another type throws";
  }
  llvm_unreachable("not a use");
}

static Finding describe(const Program &Program, const AutocastBoundary &Found) {
  const HalfUseEvent &Use = *Found.Use;
  const clang::ASTContext &Context = Program.context();
  const std::string Name = plainName(Context, Use.Half);
  Finding Result;
  Result.Location = Use.Site->getBeginLoc();
  Result.Range = Use.Site->getSourceRange();
  Result.Kind = kindOf(Use.How);
  const bool IsRead = Use.How == HalfUse::Elements;
  Result.Message =
      (Name.empty() ? "what is given here" : "'" + Name + "'") +
      " was computed under autocast and is in half precision; " +
      effectOf(Use) + "; " +
      (IsRead ? "convert it first, and keep what 'to(torch::kFloat)' returns"
              : "convert it by 'to(torch::kFloat)'");
  if (Found.Backward)
    addNote(Result, {Found.Backward->Site->getBeginLoc(), "it throws here",
                     NoteRole::Backward});
  if (Found.ByFlag)
    addNote(Result, {writtenSwitch(*Found.ByFlag)->getBeginLoc(),
                     "autocast is switched on here, if the flag says so",
                     NoteRole::Sign});
  addCallers(Result, Use.In);
  // The elements of a temporary would be gone.
  if (!IsRead)
    Result.Fixes = appendCall(Context, Use.Half, ".to(torch::kFloat)");
  Result.IterationSite = Use.Site->getBeginLoc();
  return Result;
}

std::vector<Finding> AutocastBoundaryCheck::analyze(Program &Program) {
  return findingsOf(Program, autocastBoundaries, describe);
}

} // namespace torchtidy::checks

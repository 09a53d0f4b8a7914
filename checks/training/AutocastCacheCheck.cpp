// Finds training under autocast whose cache nobody empties: the passes compute
// with copies of the weights as they were before the first step.
#include "training/AutocastCacheCheck.h"
#include "queries/modes/AutocastRegions.h"
#include "report/Edit.h"
#include "report/Report.h"
#include "torch/Modules.h"
#include "torch/Types.h"
#include "training/AutocastCache.h"

namespace torchtidy::checks {

using namespace model;

/// "the weights of 'net.conv' (Conv2d)", as far as they have names.
static std::string weightsOf(const AutocastCache &Found) {
  const PlaceTable &Places = Found.Entry->places();
  const PlaceId Weights = Found.Stale->Weights;
  const std::string Name = Places.name(Weights);
  const clang::QualType Type = Places.knownType(Weights);
  if (torch::isTensor(Type))
    return Name.empty() ? "a weight" : "'" + Name + "'";
  const std::string Layer = torch::layerName(torch::moduleClass(Type)).str();
  return "the weights of " +
         (Name.empty() ? "a " + Layer : "'" + Name + "' (" + Layer + ")");
}

static Finding describe(const Program &Program, const AutocastCache &Found) {
  const clang::ASTContext &Context = Program.context();
  const StepEvent &Step = *Found.Step;
  Finding Result;
  Result.Location = Step.Site->getBeginLoc();
  Result.Range = Step.Site->getSourceRange();
  Result.Message =
      "autocast keeps a copy of " + weightsOf(Found) +
      ", and nothing empties its cache between this " +
      (Step.Gradient ? "update" : "step()") +
      " and the next pass, which computes with the values of before; call "
      "'at::autocast::clear_cache()' behind it";
  addNote(Result, {Found.Stale->Site->getBeginLoc(),
                   "this computes with the copy", NoteRole::Trained});
  addNote(Result, {writtenSwitch(*Found.On)->getBeginLoc(),
                   Found.On->How == AutocastChange::OnIf
                       ? "autocast is switched on here, if the flag says so"
                       : "autocast is switched on here",
                   NoteRole::Sign});
  addCallers(Result, Step.In);
  if (Step.In->Flow && !Step.Gradient)
    Result.Fixes = insertAfter(Context, *Step.In->Flow, Step.Site,
                               "at::autocast::clear_cache();");
  Result.IterationSite = Step.Site->getBeginLoc();
  return Result;
}

std::vector<Finding> AutocastCacheCheck::analyze(Program &Program) {
  return findingsOf(Program, autocastCaches, describe);
}

} // namespace torchtidy::checks

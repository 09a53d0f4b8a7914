// Finds networks that are trained on what another network has made, with its
// graph: backward() goes through both, and no step() uses the gradients of the
// other.
#include "autograd/UndetachedGeneratorOutputCheck.h"
#include "autograd/UndetachedGeneratorOutput.h"
#include "report/Edit.h"
#include "report/Report.h"

namespace torchtidy::checks {

using namespace model;

/// The name of what a method is called on; Otherwise where it has none.
static std::string nameOf(const clang::ASTContext &Context, const Event &E,
                          llvm::StringRef Otherwise) {
  const std::string Name = objectName(Context, E.Site);
  const bool IsName =
      !Name.empty() && Name.find_first_of("(){}\"") == std::string::npos;
  return IsName ? "'" + Name + "'" : Otherwise.str();
}

static std::string advice(const Program &Program,
                          const UndetachedGeneratorOutput &Found) {
  const std::string Name =
      Found.Operand ? plainName(Program.context(), Found.Operand) : "";
  return (Name.empty() ? "detach what it is given"
                       : "give it '" + Name + ".detach()'") +
         (Found.IsForThisOnly ? ", or make that under a 'torch::NoGradGuard'"
                              : "");
}

static Finding describe(const Program &Program,
                        const UndetachedGeneratorOutput &Found) {
  const clang::ASTContext &Context = Program.context();
  const std::string Source = nameOf(Context, *Found.Source, "that network");
  const std::string Loss =
      "backward() of " + nameOf(Context, *Found.Backward, "the loss");
  Finding Result;
  Result.Location = Found.Site->getBeginLoc();
  Result.Range = Found.Site->getSourceRange();
  Result.Kind = Found.Spoiled ? FindingKind::GeneratorIsSpoiled
                              : FindingKind::GeneratorInVain;
  Result.Message =
      nameOf(Context, *Found.Pass, "a network") + " is trained on what " +
      nameOf(Context, *Found.Source, "another network") +
      " has made, with its graph: " + Loss +
      (Found.Spoiled
           ? " leaves gradients in " + Source + " that nothing clears before " +
                 nameOf(Context, *Found.Spoiled, "its optimizer") +
                 " applies them, so its updates are wrong; "
           : " goes on through " + Source +
                 " for gradients that no step() uses (time, memory); ") +
      advice(Program, Found);
  addNote(Result, {Found.Source->Site->getBeginLoc(), "it is made here",
                   NoteRole::GraphBuilt});
  addNote(Result, {Found.Pass->Site->getBeginLoc(), "and goes in here",
                   NoteRole::Trained});
  addNote(Result, {Found.Backward->Site->getBeginLoc(),
                   "this backward() goes through both", NoteRole::Backward});
  if (Found.Spoiled)
    addNote(Result, {Found.Spoiled->Site->getBeginLoc(),
                     "the gradients are applied here", NoteRole::Step});
  if (Found.Operand)
    Result.Fixes = appendCall(Context, Found.Operand, ".detach()");
  Result.IterationSite = Found.Source->Site->getBeginLoc();
  return Result;
}

std::vector<Finding> UndetachedGeneratorOutputCheck::analyze(Program &Program) {
  return findingsOf(Program, undetachedGeneratorOutputs, describe);
}

} // namespace torchtidy::checks

// Finds in-place operations on a leaf that needs a gradient, or on a view of
// one, while grad mode is on.
#include "autograd/LeafInplaceCheck.h"
#include "autograd/LeafInplace.h"
#include "report/Edit.h"
#include "report/Report.h"

namespace torchtidy::checks {

using namespace model;

/// What LibTorch throws, in its words: what is looked up is what was read.
static std::string exception(const LeafWrite &Found) {
  if (Found.IsResize)
    return "cannot resize variables that require grad";
  return std::string(Found.IsThroughView ? "a view of " : "") +
         "a leaf Variable that requires grad is being used in an in-place "
         "operation";
}

/// What shares its storage with the leaf, as the places know it.
static std::string baseName(const LeafWrite &Found) {
  const PlaceSet &Bases = Found.Write->Before.ViewOf;
  return Bases.size() == 1 ? Found.Entry->places().name(Bases.front()) : "";
}

static Finding describe(const Program &Program, const LeafWrite &Found) {
  const clang::ASTContext &Context = Program.context();
  const WriteEvent &Write = *Found.Write;
  Finding Result;
  Result.Location = Write.Site->getBeginLoc();
  Result.Range = Write.Site->getSourceRange();
  Result.Kind = Found.IsResize        ? FindingKind::LeafIsResized
                : Found.IsThroughView ? FindingKind::LeafIsWrittenThroughView
                                      : FindingKind::LeafIsWritten;
  const std::string Name =
      Found.IsThroughView ? baseName(Found) : plainName(Context, Found.Target);
  Result.Message =
      std::string("in-place operation on ") +
      (Found.IsThroughView ? "a view of " : "") +
      (Name.empty() ? "a trainable tensor"
                    : "'" + Name + "', a trainable tensor") +
      ", throws \"" + exception(Found) + "\"" +
      (Found.IsResize ? ", under a NoGradGuard too; resize what 'data()' "
                        "returns"
                      : " while autograd records it; put it into a block "
                        "that begins with 'torch::NoGradGuard no_grad;'");
  if (Found.Backward)
    Result.Notes.push_back({Found.Backward->Site->getBeginLoc(),
                            "grad mode is on: this backward() needs the graph "
                            "that it records",
                            NoteRole::Backward});
  addCallers(Result, Write.In);
  if (!Found.IsResize)
    Result.Fixes = putIntoBlock(Context, *Write.In->Flow, Write.Site,
                                "torch::NoGradGuard no_grad;");
  Result.IterationSite = Write.Site->getBeginLoc();
  return Result;
}

std::vector<Finding> LeafInplaceCheck::analyze(Program &Program) {
  return findingsOf(Program, leafWrites, describe);
}

} // namespace torchtidy::checks

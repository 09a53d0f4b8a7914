// Finds in-place operations on a leaf that needs a gradient, or on a view of
// one, while grad mode is on.
#include "autograd/LeafInplaceCheck.h"
#include "model/Edit.h"
#include "model/LeafWrites.h"
#include "model/Program.h"
#include "model/Report.h"

namespace torchtidy::checks {

using namespace model;

/// What shares its storage with the leaf, as the places know it.
static std::string baseName(const Execution &Way, const Event &Write) {
  if (Write.Result.ViewOf.size() != 1)
    return "";
  return Way.places().name(Write.Result.ViewOf.front());
}

static Finding describe(const Program &Program, const Execution &Way,
                        const LeafWrite &Found) {
  const clang::ASTContext &Context = Program.context();
  const Event &Write = *Found.Write;
  Finding Result;
  Result.Location = Write.Site->getBeginLoc();
  Result.Range = Write.Site->getSourceRange();
  const std::string Name = Found.IsThroughView
                               ? baseName(Way, Write)
                               : plainName(Context, Found.Target);
  Result.Message = std::string("in-place operation on ") +
                   (Found.IsThroughView ? "a view of " : "") +
                   (Name.empty() ? "a leaf" : "'" + Name + "', a leaf") +
                   " that requires a gradient, throws" +
                   (Found.IsResize ? "; resize what 'data()' returns"
                                   : " while grad mode is on; put it behind "
                                     "'torch::NoGradGuard no_grad;'");
  if (Found.Backward)
    Result.Notes.push_back({Found.Backward->Site->getBeginLoc(),
                            "grad mode is on: this backward() needs the graph "
                            "that it records"});
  addCallers(Result, Write.In);
  if (!Found.IsResize)
    Result.Fixes = putIntoBlock(Context, *Write.In->Flow, Write.Site,
                                "torch::NoGradGuard no_grad;");
  Result.IterationSite = Write.Site->getBeginLoc();
  return Result;
}

std::vector<Finding> LeafInplaceCheck::analyze(Program &Program) {
  std::vector<Finding> Findings;
  for (const auto &Way : Program.executions())
    for (const LeafWrite &Found : leafWrites(*Way))
      addUnlessKnown(Findings, describe(Program, *Way, Found));
  return Findings;
}

} // namespace torchtidy::checks

#include "autograd/MissingNoGradCheck.h"
#include "model/Edit.h"
#include "model/Evaluation.h"
#include "model/Program.h"
#include "model/Report.h"
#include <set>

namespace torchtidy::checks {

using namespace model;

MissingNoGradCheck::MissingNoGradCheck(llvm::StringRef Name,
                                       clang::tidy::ClangTidyContext *Context)
    : TorchCheck(Name, Context), Strict(boolOption("Strict", false)) {}

void MissingNoGradCheck::storeOptions(
    clang::tidy::ClangTidyOptions::OptionMap &Map) {
  storeBoolOption(Map, "Strict", Strict);
}

static std::string evidence(const Event &Sign) {
  switch (Sign.Kind) {
  case EventKind::ModeChange:
    return "eval mode is set here";
  case EventKind::Load:
    return "the model is loaded here";
  case EventKind::Forward:
    return "it is run on what was chosen from its own results: a sequence is "
           "generated";
  case EventKind::Backward:
    return "grad mode is on: training runs here";
  default:
    return "the model is built here";
  }
}

static Finding describe(const Program &Program, const UnusedGraph &Unused,
                        std::set<const clang::Stmt *> &GuardedScopes) {
  const clang::ASTContext &Context = Program.context();
  Finding Result;
  Result.Location = Unused.Site->getBeginLoc();
  Result.Range = Unused.Site->getSourceRange();
  const std::string Name = objectName(Context, Unused.Forward->Site);
  Result.Message =
      std::string("forward pass ") +
      (Name.empty() ? "" : "of '" + Name + "' ") +
      (Unused.IsBackwarded
           ? "records an autograd graph for gradients that no optimizer uses; "
             "put 'torch::NoGradGuard no_grad;' around it"
           : "records an autograd graph that nothing uses; put "
             "'torch::NoGradGuard no_grad;' before it");
  if (const Event *Sign = Unused.Evidence; Sign && Sign->Site)
    Result.Notes.push_back({Sign->Site->getBeginLoc(), evidence(*Sign)});
  if (!Unused.In->Function->isMain())
    addCallers(Result, Unused.In);
  // One guard serves all forward passes of a scope.
  if (Unused.GuardScope && GuardedScopes.insert(Unused.GuardScope).second)
    Result.Fixes =
        insertFirst(Context, Unused.GuardScope, "torch::NoGradGuard no_grad;");
  // It is the missing guard that lets recurrent state grow.
  Result.Cause = "graph of inference";
  Result.IterationSite = Unused.Forward->Site->getBeginLoc();
  return Result;
}

std::vector<Finding> MissingNoGradCheck::analyze(Program &Program) {
  std::vector<Finding> Findings;
  std::set<const clang::Stmt *> GuardedScopes;
  for (const Execution *Way : Program.executionsBesideTests())
    for (const UnusedGraph &Unused : unusedGraphs(*Way))
      if (Strict || !Unused.IsStrictOnly)
        addUnlessKnown(Findings, describe(Program, Unused, GuardedScopes));
  return Findings;
}

} // namespace torchtidy::checks

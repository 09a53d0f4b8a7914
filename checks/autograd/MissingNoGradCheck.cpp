// Finds evaluation and inference that run a forward pass with grad mode on
// though nothing of it is ever backwarded.
#include "autograd/MissingNoGradCheck.h"
#include "autograd/MissingNoGrad.h"
#include "report/Edit.h"
#include "report/Report.h"
#include <map>

namespace torchtidy::checks {

using namespace model;

static std::string evidence(const Event &Sign) {
  switch (Sign.Is) {
  case Event::ModeChange:
    return "eval mode is set here";
  case Event::Load:
    return "the model is loaded here";
  case Event::Forward:
    return "it is run on what was chosen from its own results: a sequence is "
           "generated";
  case Event::Backward:
    return "grad mode is on: training runs here";
  default:
    return "the model is built here";
  }
}

static Finding describe(const Program &Program, const UnusedGraph &Unused) {
  const clang::ASTContext &Context = Program.context();
  Finding Result;
  Result.Location = Unused.Site->getBeginLoc();
  Result.Range = Unused.Site->getSourceRange();
  const std::string Name = objectName(Context, Unused.Forward->Site);
  Result.Message =
      std::string("forward pass ") +
      (Name.empty() ? "" : "of '" + Name + "' ") +
      "keeps all intermediate results for a backward() that never comes "
      "(memory, time); " +
      (Unused.GuardScope ? "put 'torch::NoGradGuard no_grad;' before it"
                         : "put it into a scope of its own that begins with "
                           "'torch::NoGradGuard no_grad;'");
  if (const Event *Sign = Unused.Evidence; Sign && Sign->Site)
    Result.Notes.push_back(
        {Sign->Site->getBeginLoc(), evidence(*Sign), NoteRole::Sign});
  // In a method of a network, which this line calls.
  if (Unused.Site != Unused.Forward->Site)
    addNote(Result, {Unused.Forward->Site->getBeginLoc(),
                     "the graph is built here", NoteRole::GraphBuilt});
  if (!Unused.In->Function->isMain())
    addCallers(Result, Unused.In);
  if (Unused.GuardScope && !Unused.IsUnseen)
    Result.Fixes =
        insertFirst(Context, Unused.GuardScope, "torch::NoGradGuard no_grad;");
  // It is the missing guard that lets recurrent state grow.
  Result.Cause = "graph of inference";
  Result.IterationSite = Unused.Forward->Site->getBeginLoc();
  return Result;
}

std::vector<Finding> MissingNoGradCheck::analyze(Program &Program) {
  std::vector<Finding> Findings;
  // One guard serves all forward passes of a scope: they are one finding.
  std::map<const clang::Stmt *, size_t> ByScope;
  for (const UnusedGraph &Unused : unusedGraphs(Program)) {
    if (!Strict && Unused.IsStrictOnly)
      continue;
    const clang::Stmt *Scope =
        Unused.GuardScope ? Unused.GuardScope : Unused.Stretch;
    if (Scope) {
      const auto [Known, IsNew] = ByScope.try_emplace(Scope, Findings.size());
      if (!IsNew) {
        addNote(Findings[Known->second],
                {Unused.Site->getBeginLoc(),
                 "this forward pass does so as well", NoteRole::AsWell});
        // The guard would be around a module whose code nobody has seen.
        if (Unused.IsUnseen)
          Findings[Known->second].Fixes.clear();
        continue;
      }
    }
    Findings.push_back(describe(Program, Unused));
  }
  return Findings;
}

} // namespace torchtidy::checks

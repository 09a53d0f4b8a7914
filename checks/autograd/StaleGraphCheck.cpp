// Finds backward() through a graph whose weights were changed since it was
// recorded.
#include "autograd/StaleGraphCheck.h"
#include "autograd/StaleGraph.h"
#include "report/Report.h"

namespace torchtidy::checks {

using namespace clang;
using namespace model;

static FindingKind kindOf(StaleUse::Kind Outcome) {
  switch (Outcome) {
  case StaleUse::Throws:
    return FindingKind::StaleThrows;
  case StaleUse::Silent:
    return FindingKind::StaleSilent;
  case StaleUse::Either:
    return FindingKind::StaleUnknown;
  }
  llvm_unreachable("not an outcome");
}

static std::string outcomeText(StaleUse::Kind Outcome) {
  switch (Outcome) {
  case StaleUse::Throws:
    return "throws";
  case StaleUse::Silent:
    return "computes wrong gradients with the new ones, and nothing throws";
  case StaleUse::Either:
    return "throws, or with SGD computes wrong gradients without an error";
  }
  llvm_unreachable("not an outcome");
}

static Finding describe(const Program & /*Program*/, const StaleUse &Found) {
  const Expr *Site = Found.Use->Site;
  Finding Result;
  Result.Location = Site->getBeginLoc();
  Result.Range = Site->getSourceRange();
  Result.Kind = kindOf(Found.Outcome);
  Result.Message =
      std::string("this ") +
      (Found.Use->Is == Event::Grad ? "grad()" : "backward()") +
      " needs the weights that the forward pass had, and they have changed "
      "since: it " +
      outcomeText(Found.Outcome) +
      "; call it before the weights change, or run the forward pass again";
  Result.Notes.push_back({Found.Saved->Site->getExprLoc(),
                          "recorded here, with the weights of before",
                          NoteRole::GraphBuilt});
  addNote(Result, {Found.Change->Site->getExprLoc(), "they are changed here",
                   NoteRole::Write});
  addCallers(Result, Found.Use->In);
  Result.IterationSite = Site->getBeginLoc();
  return Result;
}

std::vector<Finding> StaleGraphCheck::analyze(Program &Program) {
  return findingsOf(Program, staleUses, describe);
}

} // namespace torchtidy::checks

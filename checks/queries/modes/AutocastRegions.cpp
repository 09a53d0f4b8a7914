#include "queries/modes/AutocastRegions.h"
#include "ast/Expressions.h"
#include "queries/modes/UnseenCalls.h"
#include "queries/paths/Calls.h"
#include "torch/Modules.h"
#include "torch/Options.h"
#include "torch/Types.h"

using namespace clang;

namespace torchtidy::model {

/// Each thread has a switch of its own.
static const Frame *threadOf(const Frame *F) {
  while (!F->IsThread && F->Caller)
    F = F->Caller;
  return F;
}

AutocastRegions::AutocastRegions(const Execution &Entry) : Entry(Entry) {
  for (const AutocastEvent &Change : Entry.events<AutocastEvent>()) {
    if (Change.How == AutocastChange::On || Change.How == AutocastChange::OnIf)
      Switches.push_back(&Change);
    if (Change.How != AutocastChange::EmptyCache)
      Changes.insert(Change.Point);
  }
  if (Switches.empty())
    return;
  for (const OpaqueEvent &Call : Entry.events<OpaqueEvent>())
    if (maySwitchMode(Entry, Call) || mayBeModeGuard(Call))
      Changes.insert(Call.Point);
}

const AutocastEvent *AutocastRegions::switchOf(const Event &E) const {
  for (const AutocastEvent *On : Switches)
    if (threadOf(On->In) == threadOf(E.In) &&
        reaches(Entry, On->Point, E.Point, Changes))
      return On;
  return nullptr;
}

const Stmt *writtenSwitch(const AutocastEvent &On) {
  const Stmt *Result = On.Site;
  for (const Frame *F = On.In;
       F && F->Site && isa<CXXConstructorDecl>(F->Function); F = F->Caller)
    Result = F->Site;
  return Result;
}

/// The object of a method is made for want of callers that are seen: what its
/// constructor is given is not known there. Others in the file show it.
static bool isMadeElsewhere(Program &Program, const AutocastEvent &Change) {
  return isInOwnConstructor(Change.In) &&
         llvm::any_of(Program.executions(), [&](const auto &Entry) {
           return llvm::any_of(Entry->graph().frames(), [&](const auto &F) {
             return F->Function == Change.In->Function && F->Caller &&
                    !isInOwnConstructor(F.get());
           });
         });
}

bool hasOtherAutocast(Program &Program) {
  return llvm::any_of(Program.executions(), [&](const auto &Entry) {
    return llvm::any_of(Entry->template events<AutocastEvent>(),
                        [&](const AutocastEvent &Change) {
                          return Change.How == AutocastChange::Other &&
                                 !isMadeElsewhere(Program, Change);
                        });
  });
}

bool convertsModules(const Execution &Entry) {
  return llvm::any_of(callsOf(Entry), [](const CallAt &Each) {
    const Expr *Object = ast::objectOf(Each.Call);
    return Object && torch::isModule(Object->getType()) &&
           torch::movesParameters(Each.Call->getDirectCallee()) &&
           llvm::any_of(Each.Call->arguments(), [](const Expr *Argument) {
             return torch::isScalarType(Argument->getType());
           });
  });
}

} // namespace torchtidy::model

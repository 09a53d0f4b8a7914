// Finds forward passes that are recorded in a thread though the thread that
// starts it has a guard: grad mode is thread-local.
#include "autograd/ThreadLocalGuardCheck.h"
#include "autograd/ThreadLocalGuard.h"
#include "report/Edit.h"
#include "report/Report.h"
#include <map>

namespace torchtidy::checks {

using namespace model;

static std::string whereTheGuardIs(const UnguardedThread &Found) {
  switch (Found.Is) {
  case UnguardedThread::Started:
    return "the guard of the thread that starts this one does not hold in it";
  case UnguardedThread::Task:
    return "the guard where the task is handed out does not hold in the thread "
           "that runs it";
  case UnguardedThread::Spread:
    return "the guard of the calling thread does not hold in the others that "
           "share its work";
  case UnguardedThread::Static:
    break;
  }
  return "a static guard holds only in the first of the threads that run this";
}

static std::string messageOf(const std::string &Name,
                             const UnguardedThread &Found) {
  const bool IsInference = Found.Guard->Mode & mode::Inference;
  return std::string("forward pass ") +
         (Name.empty() ? "" : "of '" + Name + "' ") +
         "records a graph that no backward() runs (memory, time" +
         (IsInference ? "), and throws for a tensor made in inference mode: "
                      : "): ") +
         "grad mode is thread-local, and " + whereTheGuardIs(Found) + "; " +
         (Found.Is == UnguardedThread::Static
              ? "make the guard a local variable"
              : "put 'torch::NoGradGuard no_grad;' before it, in this thread");
}

static Finding describe(const Program &Program, const UnguardedThread &Found) {
  const clang::ASTContext &Context = Program.context();
  const bool IsBelow = Found.Site != Found.Forward->Site;
  Finding Result;
  Result.Location = Found.Site->getBeginLoc();
  Result.Range = Found.Site->getSourceRange();
  Result.Kind = Found.Is == UnguardedThread::Static
                    ? FindingKind::ThreadStaticGuard
                    : FindingKind::ThreadUnguarded;
  Result.Message = messageOf(objectName(Context, Found.Forward->Site), Found);
  if (IsBelow)
    addNote(Result, {Found.Forward->Site->getBeginLoc(), "it is this one",
                     NoteRole::Made});
  addNote(Result, {Found.Guard->Site->getBeginLoc(),
                   Found.Is == UnguardedThread::Static
                       ? "it is made here, once"
                       : "grad mode is off here, for this thread",
                   NoteRole::Sign});
  addNote(Result,
          {Found.Start->getBeginLoc(),
           Found.Is == UnguardedThread::Task ? "the task is handed out here"
                                             : "the thread starts here",
           NoteRole::Caller});
  if (Found.GuardScope)
    Result.Fixes =
        insertFirst(Context, Found.GuardScope, "torch::NoGradGuard no_grad;");
  // It is the same guard that is missing.
  Result.Cause = "graph of inference";
  Result.IterationSite = Found.Forward->Site->getBeginLoc();
  return Result;
}

std::vector<Finding> ThreadLocalGuardCheck::analyze(Program &Program) {
  std::vector<Finding> Findings;
  // One guard serves all that a function of a thread runs.
  std::map<const clang::FunctionDecl *, size_t> ByFunction;
  std::vector<UnguardedThread> All = threadLocalGuards(Program);
  llvm::stable_sort(All, [&](const auto &A, const auto &B) {
    return Program.sourceManager().isBeforeInTranslationUnit(
        A.Site->getBeginLoc(), B.Site->getBeginLoc());
  });
  for (const UnguardedThread &Found : All) {
    const auto [Known, IsNew] =
        ByFunction.try_emplace(Found.In->Function, Findings.size());
    if (IsNew)
      Findings.push_back(describe(Program, Found));
    else
      addNote(Findings[Known->second],
              {Found.Site->getBeginLoc(), "this forward pass does so as well",
               NoteRole::AsWell});
  }
  return Findings;
}

} // namespace torchtidy::checks

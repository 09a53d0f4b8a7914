#include "transfer/TimingWithoutSync.h"
#include "clang/AST/StmtCXX.h"
#include "queries/Loops.h"

using namespace clang;

namespace torchtidy::model {

/// The variable of a declaration that an event's site stands in; null for
/// others.
static const VarDecl *declaredWith(const Event &E) {
  const Stmt *Statement = E.In->Flow ? E.In->Flow->statement(E.Site) : nullptr;
  const auto *Declaration = dyn_cast_or_null<DeclStmt>(Statement);
  return Declaration && Declaration->isSingleDecl()
             ? dyn_cast<VarDecl>(Declaration->getSingleDecl())
             : nullptr;
}

// FIXME(new-check): the query. This one works, and shows how: it goes over the
// events of one kind (model/state/Event.h has all of them), asks where they
// happen (model/execution/Execution.h, queries/Loops.h), and makes a fact of
// each that is left.
std::vector<TimingWithoutSync> findTimingWithoutSync(Program &Program) {
  std::vector<TimingWithoutSync> Result;
  for (const auto &Entry : Program.executions())
    for (const AllocateEvent &Allocate : Entry->events<AllocateEvent>()) {
      const auto Around = Entry->loopsAround(Allocate.Point);
      const VarDecl *Variable = declaredWith(Allocate);
      if (Around.empty() || !Variable)
        continue;
      const flow::Loop &L = *Around.back();
      if (!isUnconditional(*Entry, Allocate.Site, Allocate.In, L))
        continue;
      TimingWithoutSync Found;
      Found.Entry = Entry.get();
      Found.Allocate = &Allocate;
      Found.Around = &L;
      Found.Variable = Variable;
      Found.CanMove = canMoveBefore(Variable->getInit(), Entry->loopStatement(L),
                                    Allocate.In);
      Result.push_back(Found);
    }
  return Result;
}

} // namespace torchtidy::model

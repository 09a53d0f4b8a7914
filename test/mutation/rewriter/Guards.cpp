#include "Operators.h"

using namespace clang;

namespace torchtidy::mutation {

namespace {

bool isGuard(const DeclStmt *S) {
  if (!S->isSingleDecl())
    return false;
  const auto *Variable = dyn_cast<VarDecl>(S->getSingleDecl());
  return Variable && (derivesFrom(Variable->getType(), "c10::NoGradGuard") ||
                      derivesFrom(Variable->getType(), "c10::InferenceMode") ||
                      derivesFrom(Variable->getType(), "c10::AutoGradMode"));
}

/// Whether a module is run between the guard and the end of its scope.
bool runs(const Program &Whole, const CompoundStmt *Scope, const Stmt *Guard) {
  bool Behind = false, Found = false;
  auto Look = [&](const Stmt *S) { Found |= isForward(S); };
  for (const Stmt *Each : Scope->body()) {
    Behind |= Each == Guard;
    if (!Behind)
      continue;
    forEach(Each, Look);
    for (const Function *Called : Whole.callees(Each))
      forEach(Called->body(), Look);
  }
  return Found;
}

} // namespace

void removeGuards(const Program &Whole, std::vector<Mutation> &Out) {
  for (const Function &In : Whole.functions())
    forEach(In.body(), [&](const Stmt *S) {
      const auto *Declaration = dyn_cast<DeclStmt>(S);
      if (!Declaration || !isGuard(Declaration))
        return;
      const auto *Scope =
          dyn_cast_or_null<CompoundStmt>(In.parent(Declaration));
      // Where nothing is run under it, the guard is there to write into
      // parameters.
      if (!Scope || !runs(Whole, Scope, Declaration))
        return;
      auto Removed = Whole.removal(In, Declaration);
      auto Point = Whole.piece(Declaration->getSourceRange());
      if (!Removed || !Point)
        return;
      Out.push_back({"guard",
                     {"torch-missing-no-grad", "torch-undetached-hidden-state",
                      "torch-retained-graph"},
                     *Point,
                     "a graph is recorded in evaluation",
                     {*Removed},
                     Whole.reach(In, Scope)});
    });
}

} // namespace torchtidy::mutation

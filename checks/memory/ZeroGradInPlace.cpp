#include "memory/ZeroGradInPlace.h"
#include "ast/Walk.h"
#include "model/icfg/Bodies.h"
#include "torch/Gradients.h"
#include "torch/Types.h"
#include "clang/AST/ExprCXX.h"

using namespace clang;

namespace torchtidy::model {

using flow::Loop;

/// Needs gradients that are there, and at one address.
static bool needsGradientsKept(const Stmt *S) {
  const auto *E = dyn_cast<Expr>(S);
  if (!E)
    return false;
  if (const auto *Call = dyn_cast<CallExpr>(E))
    if (const FunctionDecl *Callee = Call->getDirectCallee();
        Callee &&
        (torch::givesGradientAway(Callee) ||
         torch::asksForSparseGradient(Callee) || torch::isCollective(Callee)))
      return true;
  return torch::keepsAddresses(torch::recordOf(E->getType()));
}

static bool needsGradientsKept(Program &Program) {
  bool Found = false;
  const auto Look = [&](const Stmt *S) {
    Found =
        Found ||
        (S && ast::anyStmt(
                  S, [](const Stmt *Part) { return needsGradientsKept(Part); },
                  ast::Lambdas::Enter));
  };
  forEachBody(Program.code().functions(), Look,
              [&](const CXXCtorInitializer &Init) { Look(Init.getInit()); });
  return Found;
}

/// The iterations of L go back themselves; those of an inner loop do not count.
static bool trains(const Execution &Entry, const Loop &L) {
  return llvm::any_of(Entry.events<BackwardEvent>(),
                      [&](const BackwardEvent &Backward) {
                        return L.contains(Backward.Point) &&
                               Entry.loopsAround(Backward.Point).back() == &L;
                      });
}

/// A tensor without a gradient is no tensor to compute with: of a parameter
/// that the iteration did not use there is none after a backward() either.
static bool readsGradients(const Execution &Entry, const Loop &L) {
  return llvm::any_of(
      Entry.events<ReadGradientEvent>(),
      [&](const ReadGradientEvent &Read) { return L.contains(Read.Point); });
}

static const FunctionDecl *calleeOf(const ZeroGradEvent &Clears) {
  const auto *Call = dyn_cast<CallExpr>(Clears.Site);
  return Call ? Call->getDirectCallee() : nullptr;
}

std::vector<ZeroGradInPlace> zeroGradsInPlace(Program &Program) {
  std::vector<ZeroGradInPlace> Result;
  std::optional<bool> AreKept;
  for (const Execution *Entry : Program.executionsThatCost())
    for (const ZeroGradEvent &Clears : Entry->events<ZeroGradEvent>()) {
      const auto Around = Entry->loopsAround(Clears.Point);
      if (!Clears.InPlace || Around.empty() ||
          !torch::setsToNone(calleeOf(Clears)) ||
          !trains(*Entry, *Around.back()) ||
          readsGradients(*Entry, *Around.back()))
        continue;
      if (!AreKept)
        AreKept = needsGradientsKept(Program);
      if (!*AreKept)
        Result.push_back({Entry, &Clears, Around.back()});
    }
  return Result;
}

} // namespace torchtidy::model

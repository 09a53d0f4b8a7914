#include "memory/ZeroGradInPlace.h"
#include "ast/Expressions.h"
#include "ast/Walk.h"
#include "model/icfg/Bodies.h"
#include "model/syntax/FreshModules.h"
#include "torch/Api.h"
#include "torch/Gradients.h"
#include "torch/Members.h"
#include "torch/Types.h"
#include "clang/AST/ExprCXX.h"

using namespace clang;

namespace torchtidy::model {

using flow::Loop;

/// mutable_grad() = torch::Tensor(): there is none from then on.
static bool isLetGo(const CallExpr *Gradient, const Stmt *Outer) {
  const auto *Assign = dyn_cast<CXXOperatorCallExpr>(Outer);
  return Assign && Assign->getOperator() == OO_Equal &&
         ast::strip(Assign->getArg(0)) == Gradient &&
         isEmptyHandle(Assign->getArg(1));
}

/// mutable_grad() that is only asked, let go or filled with zeros where it
/// stands.
static bool isOnlyCleared(const CallExpr *Gradient,
                          llvm::ArrayRef<const Stmt *> Around) {
  for (const Stmt *Outer : llvm::reverse(Around)) {
    if (isa<ParenExpr, ImplicitCastExpr, MaterializeTemporaryExpr, MemberExpr>(
            Outer))
      continue;
    if (isLetGo(Gradient, Outer))
      return true;
    const auto *Call = dyn_cast<CXXMemberCallExpr>(Outer);
    return Call && ast::strip(Call->getImplicitObjectArgument()) == Gradient &&
           (torch::clearsTensor(Call->getMethodDecl()) ||
            torch::asksWhetherThere(Call->getMethodDecl()));
  }
  return false;
}

/// Needs gradients that are there, and at one address.
static bool needsGradientsKept(const Stmt *S,
                               llvm::ArrayRef<const Stmt *> Around) {
  const auto *E = dyn_cast<Expr>(S);
  if (!E)
    return false;
  const auto *Call = dyn_cast<CallExpr>(E);
  const FunctionDecl *Callee = Call ? Call->getDirectCallee() : nullptr;
  if (Callee &&
      ((torch::givesGradientAway(Callee) && !isOnlyCleared(Call, Around)) ||
       torch::asksForSparseGradient(Callee) || torch::isCollective(Callee)))
    return true;
  return torch::keepsAddresses(torch::recordOf(E->getType()));
}

static bool needsGradientsKept(Program &Program) {
  bool Found = false;
  const auto Look = [&](const Stmt *Root) {
    if (Root && !Found)
      ast::walk(
          Root,
          [&](const Stmt *S, llvm::ArrayRef<const Stmt *> Around) {
            Found |= needsGradientsKept(S, Around);
            return Found ? ast::Next::Stop : ast::Next::Children;
          },
          ast::Lambdas::Enter);
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

/// zero_grad(false), where zero_grad() would let the gradients go.
static bool isAskedFor(const ZeroGradEvent &Clears) {
  const auto *Call = dyn_cast<CallExpr>(Clears.Site);
  return Clears.InPlace && Call && torch::setsToNone(Call->getDirectCallee());
}

/// p.grad().zero_(), of the parameters of a module or an optimizer, one after
/// the other: not of a tensor that is trained on its own.
static bool isByHand(const Execution &Entry, const ZeroGradEvent &Clears) {
  const auto *Call = dyn_cast<CallExpr>(Clears.Site);
  const torch::Operation *Op = Call ? torch::classify(Call).Op : nullptr;
  const PlaceTable &Places = Entry.places();
  return Op && torch::isZeroing(*Op) && !Clears.Cleared.empty() &&
         llvm::all_of(Clears.Cleared, [&](PlaceId P) {
           return Places.hasStep(P, Step::Gradient) &&
                  Places.hasStep(P, Step::Parameters);
         });
}

/// The innermost loop around Clears; where it is done by hand, without the
/// loops that only go through the parameters. Null where there is none.
static const Loop *iterationsOf(const Execution &Entry,
                                const ZeroGradEvent &Clears, bool IsByHand) {
  for (const Loop *Each : llvm::reverse(Entry.loopsAround(Clears.Point)))
    if (!IsByHand || llvm::any_of(Entry.events<BackwardEvent>(),
                                  [&](const BackwardEvent &Backward) {
                                    return Each->contains(Backward.Point);
                                  }))
      return Each;
  return nullptr;
}

std::vector<ZeroGradInPlace> zeroGradsInPlace(Program &Program) {
  std::vector<ZeroGradInPlace> Result;
  std::optional<bool> AreKept;
  for (const Execution *Entry : Program.executionsThatCost())
    for (const ZeroGradEvent &Clears : Entry->events<ZeroGradEvent>()) {
      const bool IsByHand = isByHand(*Entry, Clears);
      if (!IsByHand && !isAskedFor(Clears))
        continue;
      const Loop *Around = iterationsOf(*Entry, Clears, IsByHand);
      if (!Around || !trains(*Entry, *Around) ||
          readsGradients(*Entry, *Around))
        continue;
      if (!AreKept)
        AreKept = needsGradientsKept(Program);
      if (!*AreKept)
        Result.push_back({Entry, &Clears, Around, IsByHand});
    }
  return Result;
}

} // namespace torchtidy::model

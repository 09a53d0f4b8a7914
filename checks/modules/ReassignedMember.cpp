#include "modules/ReassignedMember.h"
#include "ast/Expressions.h"
#include "ast/Walk.h"
#include "model/syntax/FreshModules.h"
#include "queries/modules/RegistryUse.h"
#include "queries/paths/Calls.h"
#include "queries/paths/Paths.h"
#include "torch/Modules.h"
#include "torch/Types.h"
#include "clang/AST/ExprCXX.h"

using namespace clang;

namespace torchtidy::model {

static bool leads(const Execution &Entry, const Event &From, const Event &To) {
  return reaches(Entry, From.Point, To.Point, /*Avoid=*/{});
}

/// By the constructor of an object that begins after the replacement: where a
/// loop makes the module anew, its place is that of the one before.
static bool isOfNewObject(const RegisterEvent &Next,
                          const ReplaceEvent &Replace) {
  for (const Frame *F = Next.In; F; F = F->Caller) {
    const auto *Constructor = dyn_cast<CXXConstructorDecl>(F->Function);
    if (Constructor && !Replace.In->isWithin(F) &&
        torch::kindOf(Constructor->getParent()) == torch::TypeKind::Module)
      return true;
  }
  return false;
}

/// A module is not what a tensor was replaced by, nor the other way round.
static bool isOfAnotherKind(const RegisterEvent &Next,
                            const ReplaceEvent &Replace) {
  return Next.Operand && torch::isTensor(Next.Operand->getType()) !=
                             torch::isTensor(Replace.Operand->getType());
}

/// The module that has the member registers something afterwards, which may be
/// the new one: nothing else has a handle to a module that is made there.
static bool isMended(const Execution &Entry, const ReplaceEvent &Replace) {
  const PlaceTable &Places = Entry.places();
  const PlaceId Module = Places.parent(Replace.Member.front());
  return llvm::any_of(
      Entry.events<RegisterEvent>(), [&](const RegisterEvent &Next) {
        const bool IsSame =
            Next.Modules.empty() || llvm::any_of(Next.Modules, [&](PlaceId P) {
              return Places.overlap(P, Module);
            });
        const bool IsAnother = isOfAnotherKind(Next, Replace) ||
                               (Next.Operand && isFreshModule(Next.Operand));
        return IsSame && !IsAnother && !isOfNewObject(Next, Replace) &&
               leads(Entry, Replace, Next);
      });
}

/// Each forward pass computes it, or something gives the member a value after
/// the move.
static bool isComputedAnew(const Execution &Entry, const ReplaceEvent &Left) {
  return Entry.isInForward(Left.In) ||
         llvm::any_of(Entry.events<UpdateEvent>(), [&](const UpdateEvent &E) {
           return llvm::is_contained(E.Places, Left.Member.front()) &&
                  leads(Entry, Left, E);
         });
}

/// A buffer has no gradient, but for what an iteration before has put there. Of
/// a layer of LibTorch's its class says what it is.
static bool mayBeParameter(const Value &Before, const Expr *Operand) {
  const auto *Field = dyn_cast_or_null<FieldDecl>(named(Operand));
  if (Field && torch::isLibTorch(Field))
    return !torch::isStatistic(Field);
  const bool WasBuffer =
      (Before.History & history::None) && !(Before.History & history::Leaf);
  return Before.needsGrad() && !WasBuffer;
}

/// running = 0.9 * running + 0.1 * x
static bool isUpdate(const ReplaceEvent &Replace) {
  const auto *Assign = dyn_cast<CXXOperatorCallExpr>(Replace.Site);
  const auto *Member = dyn_cast<MemberExpr>(ast::stripCopies(Replace.Operand));
  if (!Assign || Assign->getNumArgs() != 2 || !Member)
    return false;
  const auto Names = [&](const Stmt *S) {
    const auto *Other = dyn_cast<MemberExpr>(S);
    return Other && Other->getMemberDecl() == Member->getMemberDecl();
  };
  return ast::anyStmt(Assign->getArg(1), Names, ast::Lambdas::Enter);
}

std::vector<ReassignedMember> reassignedMembers(Program &Program) {
  std::vector<ReassignedMember> Result;
  // The registered one is out of use as well: nobody asks for it.
  if (!mayUseRegistered(Program))
    return Result;
  for (const auto &Entry : Program.executions())
    for (const ReplaceEvent &Replace : Entry->events<ReplaceEvent>()) {
      // What a move leaves behind was replaced before.
      const bool IsLeftBehind = Replace.Before.Registered & registered::No;
      if (isMended(*Entry, Replace) ||
          (IsLeftBehind && isComputedAnew(*Entry, Replace)))
        continue;
      ReassignedMember Found;
      Found.IsLeftBehind = IsLeftBehind;
      Found.Entry = Entry.get();
      Found.Replace = &Replace;
      Found.What = !torch::isTensor(Replace.Operand->getType())
                       ? ReassignedMember::Module
                   : mayBeParameter(Replace.Before, Replace.Operand)
                       ? ReassignedMember::Tensor
                       : ReassignedMember::Buffer;
      Found.MayCarryGradient =
          Found.What == ReassignedMember::Buffer && !IsLeftBehind &&
          Replace.After.mayHaveHistory() && !isUpdate(Replace);
      Result.push_back(Found);
    }
  return Result;
}

} // namespace torchtidy::model

#include "model/semantics/Assignment.h"
#include "ast/Expressions.h"
#include "ast/Walk.h"
#include "model/domains/history/Transfer.h"
#include "model/domains/loans/Transfer.h"
#include "model/domains/saved/Transfer.h"
#include "model/semantics/Autograd.h"
#include "model/semantics/Containers.h"
#include "model/semantics/Detaching.h"
#include "model/semantics/Operations.h"
#include "model/semantics/Optimizers.h"
#include "model/semantics/Registration.h"
#include "model/semantics/Tuples.h"
#include "torch/Types.h"

using namespace clang;
using torchtidy::torch::Api;
using torchtidy::torch::TypeKind;

namespace torchtidy::model {

/// E adds something to what lies at Targets: t + x, 0.9 * t + x, cat({t, x}).
static bool isAdditionTo(Machine &M, const Expr *E, const PlaceSet &Targets,
                         bool IsSummand = false) {
  E = ast::stripCopies(E);
  // t.defined() ? cat({t, x}) : x
  if (const auto *Choice = dyn_cast<ConditionalOperator>(E))
    return isAdditionTo(M, Choice->getTrueExpr(), Targets, IsSummand) ||
           isAdditionTo(M, Choice->getFalseExpr(), Targets, IsSummand);
  const auto *Call = dyn_cast<CallExpr>(E);
  if (!Call)
    return false;
  torch::Call Kind = torch::classify(Call);
  if (Kind.Kind != Api::Operation || !Kind.Op)
    return false;
  const bool Scales = torch::isScaling(*Kind.Op);
  const bool Joins = torch::isConcatenation(*Kind.Op);
  if (!Joins && !torch::isSum(*Kind.Op) && !(Scales && IsSummand))
    return false;
  llvm::SmallVector<const Expr *, 4> Operands = ast::argumentsOf(Call);
  if (const Expr *Object = ast::objectOf(Call))
    Operands.push_back(Object);
  // A gate, z * h + (1 - z) * n, is no average: it has a gradient.
  if (Scales && llvm::any_of(Operands, [&](const Expr *Operand) {
        const Denotation D = M.denote(Operand);
        return !llvm::any_of(
                   D.Objects,
                   [&](PlaceId P) { return llvm::is_contained(Targets, P); }) &&
               torch::isTensor(Operand->getType()) &&
               M.deepValue(Operand).needsGrad();
      }))
    return false;
  auto Mentions = [&](const Expr *Operand) {
    Denotation D = M.denote(Operand);
    for (PlaceId P : D.Objects)
      if (llvm::is_contained(Targets, P))
        return true;
    return false;
  };
  for (const Expr *Operand : Operands) {
    if (Mentions(Operand))
      return true;
    // (total + a) + b; cat({total, x}).
    if (isa<CallExpr>(ast::strip(Operand)) &&
        isAdditionTo(M, Operand, Targets, true))
      return true;
    if (!Joins)
      continue;
    bool Found = false;
    auto Look = [&](const Stmt *S, llvm::ArrayRef<const Stmt *>) {
      Found |= isa<DeclRefExpr, MemberExpr>(S) && Mentions(cast<Expr>(S));
      return Found              ? ast::Next::Stop
             : isa<CallExpr>(S) ? ast::Next::Past
                                : ast::Next::Children;
    };
    ast::walk(ast::strip(Operand), Look, ast::Lambdas::Enter);
    if (Found)
      return true;
  }
  return false;
}

/// An element at an index that differs between iterations, so that the store
/// makes the container hold more.
static bool isVaryingElement(const Expr *To) {
  To = ast::strip(To);
  const Expr *Index = nullptr;
  if (const auto *Subscript = dyn_cast<ArraySubscriptExpr>(To))
    Index = Subscript->getIdx();
  else if (const auto *Call = dyn_cast<CallExpr>(To)) {
    if (!ast::objectOf(Call) || ast::argumentsOf(Call).empty() ||
        torch::isTensor(ast::objectOf(Call)->getType()))
      return false;
    Index = ast::argumentsOf(Call).front();
  }
  if (!Index)
    return false;
  Index = ast::stripCopies(Index);
  // ring[i % 8] comes back to the elements it has.
  if (const auto *Binary = dyn_cast<BinaryOperator>(Index))
    if (Binary->getOpcode() == BO_Rem)
      return false;
  return !isa<IntegerLiteral, StringLiteral>(Index);
}

/// A pointer or a handle is turned to another object: no value is stored.
static bool isHandle(QualType Type) {
  if (torch::isTensor(Type))
    return false;
  return Type->isPointerType() || torch::isModule(Type) ||
         (torch::kindOf(Type) == TypeKind::Pointer && !torch::isOptional(Type));
}

/// What grows when an element at a varying index is stored.
static PlaceSet containersOf(Machine &M, const PlaceSet &Elements) {
  PlaceSet Result;
  for (PlaceId P : Elements)
    insert(Result, M.places().isRoot(P) ? P : M.places().parent(P));
  return Result;
}

/// model = torch::jit::load(...)
static void emitLoaded(Machine &M, const Expr *From, const PlaceSet &Targets) {
  const auto *Call = dyn_cast<CallExpr>(ast::strip(From));
  if (Call && torch::classify(Call).Kind == Api::Load)
    M.emit<LoadEvent>(Call, [&](LoadEvent &E) { E.Loaded = Targets; });
}

/// x[i] = y writes through a view.
static void assignThroughView(Machine &M, const Expr *Site, const Expr *To,
                              const Expr *From, const PlaceSet &Bases,
                              Value Written) {
  Written.History = recorded(M, {M.load(Bases).History, Written.History});
  M.emitWrite(Site, To, Written);
  saved::overwrite(M, Site, To);
  if (!(Written.History & history::Graph))
    optimizers::stepByHand(M, Site, To, {From});
  operations::writeInPlace(M, Site, To, Written, false, From);
}

void assign(Machine &M, const Expr *Site, const Expr *To, const Expr *From) {
  const Denotation Target = M.denote(To);
  Denotation Source = M.denote(From);
  if (const CallExpr *Tie = torch::asTie(To))
    return tuples::scatter(M, Site, Tie, From, Source);
  Value V = M.deepValue(From);
  if (isa<CallExpr>(ast::strip(From)) && ast::strip(From)->isGLValue())
    Source.Own.forgetLoans();
  // A number that is read through a pointer is none.
  const bool IsNumber = To->getType()->isArithmeticType();
  loans::replaceOwned(M, Site, To, From, Target.Objects);
  if (M.isGradient(Target.Objects))
    return autograd::emitCleared(M, Site, Target.Objects);
  if (Target.Objects.empty()) {
    if (!Target.Own.ViewOf.empty())
      assignThroughView(M, Site, To, From, Target.Own.ViewOf, V);
    else if (Target.Own.InStorage.get() == Storage::Owns)
      M.emitWrite(Site, To, V); // Into a copy: x.index({mask}) = y.
    return;
  }
  const StoreKind How = isAdditionTo(M, From, Target.Objects)
                            ? StoreKind::Accumulate
                        : isVaryingElement(To) ? StoreKind::Append
                                               : StoreKind::Rebind;
  const bool Replaces =
      registration::emitReplacement(M, Site, To, Target.Objects, From, V);
  if (How == StoreKind::Append) {
    const PlaceSet Containers = containersOf(M, Target.Objects);
    M.emitStore(Site, Containers, V, How, From);
    containers::emitFill(M, Site, Containers, From, /*IsAppended=*/true);
  } else if (!isHandle(To->getType()))
    M.emitStore(Site, Target.Objects, V, How, From);
  emitLoaded(M, From, Target.Objects);

  const bool CopiesObjects =
      !Source.Objects.empty() && How == StoreKind::Rebind;
  for (PlaceId P : Target.Objects) {
    const bool IsWhole = Target.Objects.size() == 1 && !M.places().isSummary(P);
    if (IsWhole) {
      if (!M.places().isRoot(P))
        M.split(M.places().parent(P));
      M.erase(P);
    }
    if (CopiesObjects) {
      for (PlaceId Object : Source.Objects)
        M.copy(Object, P);
      M.joinChosen(P, Source.Own);
      // The value as stored, and each part of it, carries where it was stored.
      M.forEachWithin(P, [&](Value &Part) {
        if (IsNumber)
          Part.forgetLoans();
        if (Part.mayHaveHistory())
          for (OriginId Id : V.Origins)
            Part.addOrigin(Id);
      });
      continue;
    }
    Value Stored = Source.Objects.empty() ? Source.Own : V;
    for (OriginId Id : V.Origins)
      Stored.addOrigin(Id);
    if (IsNumber)
      Stored.forgetLoans();
    if (IsWhole)
      M.state().Places[P] = std::move(Stored);
    else
      M.storeWeak(P, Stored);
  }
  registration::keepContents(M, From, Target.Objects);
  detachThroughReference(M, To, From, Target.Objects);
  // The next one replaces a registered member, too: an iteration later.
  if (Replaces)
    M.state().Places[Target.Objects.front()].Registered = registered::Yes;
}

} // namespace torchtidy::model

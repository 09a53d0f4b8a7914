// When memory ends that one object owns and another may use.
#include "ast/Expressions.h"
#include "model/domains/loans/Transfer.h"
#include "model/machine/Machine.h"
#include "torch/Ownership.h"
#include "torch/Std.h"
#include "torch/Types.h"
#include "clang/AST/ExprCXX.h"

using namespace clang;

namespace torchtidy::model::loans {

/// Without loans there is nothing to end: most programs have none.
static bool anyLoans(Machine &M) { return !M.names().Loans.empty(); }

static bool isGivenUp(Machine &M, PlaceId Owner) {
  return llvm::any_of(M.state().GivenUp, [&](PlaceId Whole) {
    return M.places().isWithin(Owner, Whole);
  });
}

/// What was called by the active frame, and has returned the object at a root;
/// null where that is something else.
static const Frame *returnedBy(Machine &M, PlaceId RootPlace) {
  const PlaceTable &Places = M.places();
  if (Places.rootKind(RootPlace) != Root::Object)
    return nullptr;
  const Frame *Maker = M.graph().frames()[Places.frame(RootPlace)].get();
  return Maker->Caller == M.frame() && RootPlace == M.returned(Maker) ? Maker
                                                                      : nullptr;
}

/// Where a variable ends, the expression that took what a call has returned is
/// over, and nobody has it any more: not where choose ? a : f(x) has run f() in
/// an iteration before.
static bool isPastResult(Machine &M, PlaceId P) {
  return returnedBy(M, M.places().rootOf(P)) != nullptr;
}

/// Those of the loans that are taken for which Ends is true.
static LoanSet endLoans(Machine &M, PlaceId Dead, EndKind How, const Expr *Site,
                        llvm::function_ref<bool(LoanId)> Ends) {
  LoanSet Ended;
  M.names().Work += M.state().Places.size() / 8;
  for (auto &[P, V] : M.state().Places)
    for (LoanId Id : V.Loans)
      if (Ends(Id) && !(How == EndKind::Scope && isPastResult(M, P))) {
        insert(V.Dangling, Id);
        insert(Ended, Id);
      }
  if (!Ended.empty())
    M.emit<EndEvent>(Site, [&](EndEvent &E) {
      E.Owner = Dead;
      E.How = How;
      E.Loans = Ended;
    });
  return Ended;
}

void endMemory(Machine &M, PlaceId Dead, EndKind How, const Expr *Site) {
  // An object in a vector moves with it, and keeps what it owns.
  endLoans(M, Dead, How, Site, [&](LoanId Id) {
    const PlaceId Owner = M.names().at(Id).Owner;
    const bool IsOver = How == EndKind::Reallocation
                            ? Owner == Dead
                            : M.places().isWithin(Owner, Dead);
    return IsOver && !isGivenUp(M, Owner);
  });
}

/// What a unique_ptr holds ends with it.
void endHeld(Machine &M, PlaceId Pointer, EndKind How, const Expr *Site) {
  if (!torch::isUnique(M.places().typeOf(Pointer)))
    return;
  if (const Value *Held = M.state().find(Pointer))
    for (PlaceId P : PlaceSet(Held->Refs))
      if (M.places().isRoot(P) && M.places().rootKind(P) == Root::Object)
        endMemory(M, P, How, Site);
}

void endScope(Machine &M, const VarDecl *V) {
  if (!anyLoans(M) || V->hasGlobalStorage())
    return;
  const PlaceId P = M.placeOf(V);
  if (V->getType()->isReferenceType()) {
    // A temporary that a reference has kept alive.
    const Expr *Init = V->getInit() ? ast::strip(V->getInit()) : nullptr;
    if (Init && Init->isPRValue())
      endMemory(M, M.madeBy(Init), EndKind::Scope, nullptr);
    return;
  }
  endHeld(M, P, EndKind::Scope, nullptr);
  endMemory(M, P, EndKind::Scope, nullptr);
}

/// The expression of the active frame that has made the temporary at P, or the
/// call that has returned it; null where P is none.
static const Expr *makerOf(Machine &M, PlaceId RootPlace) {
  const PlaceTable &Places = M.places();
  if (Places.rootKind(RootPlace) != Root::Object)
    return nullptr;
  const Frame *Maker = M.graph().frames()[Places.frame(RootPlace)].get();
  if (Maker == M.frame())
    return llvm::is_contained(M.state().Temporaries, RootPlace)
               ? llvm::dyn_cast_if_present<const Expr *>(Places.key(RootPlace))
               : nullptr;
  Maker = returnedBy(M, RootPlace);
  return Maker ? dyn_cast_or_null<Expr>(Maker->Site) : nullptr;
}

/// A reference that is declared keeps the temporary alive.
static bool isExtended(const Stmt *Whole, const Expr *Made) {
  const auto *Declaration = dyn_cast<DeclStmt>(Whole);
  return Declaration && llvm::any_of(Declaration->decls(), [&](const Decl *D) {
           const auto *V = dyn_cast<VarDecl>(D);
           return V && V->getInit() && V->getType()->isReferenceType() &&
                  ast::strip(V->getInit()) == Made;
         });
}

void endFullExpression(Machine &M, const Stmt *Whole) {
  const flow::ControlFlow *Flow = M.frame()->Flow;
  if (!anyLoans(M) || !Flow)
    return;
  PlaceSet Owners;
  for (const Loan &Lent : M.names().Loans)
    insert(Owners, M.places().rootOf(Lent.Owner));
  bool IsKnownWhole = false;
  for (PlaceId RootPlace : Owners) {
    const Expr *Made = makerOf(M, RootPlace);
    if (!Made || !Flow->isInside(Made, Whole))
      continue;
    if (!IsKnownWhole && !Flow->isFullExpression(Whole))
      return;
    IsKnownWhole = true;
    if (!isExtended(Whole, Made))
      endMemory(M, RootPlace, EndKind::FullExpression, Made);
  }
}

/// Ended, or an activation that began in it, has made what lies there.
static bool isMadeIn(const PlaceTable &Places, PlaceId P, const Frame *Ended) {
  const Root Kind = Places.rootKind(P);
  const unsigned Maker = Places.frame(P);
  return (Kind == Root::Local || Kind == Root::Receiver ||
          Kind == Root::Object) &&
         Ended->Id <= Maker && Maker <= Ended->LastId;
}

/// What the caller has given to a unique_ptr that is a parameter ends with that
/// one, unless it is handed on; there it is given up. Only what the activation
/// itself has lent of it: of the caller's object nobody knows which one it was.
static LoanSet endGiven(Machine &M, const Frame *Ended, PlaceId Parameter) {
  const Value *Held = M.state().find(Parameter);
  if (!Held || Held->Refs.size() != 1 || isGivenUp(M, Parameter))
    return {};
  const PlaceId Object = Held->Refs.front();
  return endLoans(M, Object, EndKind::Scope, nullptr, [&](LoanId Id) {
    const Loan &Lent = M.names().at(Id);
    return Lent.In->isWithin(Ended) && M.places().isWithin(Lent.Owner, Object);
  });
}

/// Who lives on when an activation is over: what it returns, and what it was
/// given or reaches.
class Survivors {
public:
  Survivors(Machine &M, const Frame *Ended, const LoanSet &Given)
      : M(M), Places(M.places()), Ended(Ended), Result(M.returned(Ended)),
        Given(Given) {}

  bool contains(PlaceId P) const {
    const PlaceId RootPlace = Places.rootOf(P);
    if (RootPlace == Result)
      return true;
    return isEntry() ? outlivesEntry(P, RootPlace) : outlivesCall(RootPlace);
  }

  /// The memory that the activation is to blame for: in a callee its own, and
  /// what it was given to own, for no caller can do anything about that.
  LoanSet blamed(const LoanSet &Dangling) const {
    LoanSet Own;
    for (LoanId Id : Dangling)
      if (isEntry() || isMadeIn(Places, M.names().at(Id).Owner, Ended) ||
          llvm::is_contained(Given, Id))
        insert(Own, Id);
    return Own;
  }

private:
  bool isEntry() const { return !Ended->Caller; }

  bool outlivesEntry(PlaceId P, PlaceId RootPlace) const {
    const bool IsInBackground = RootPlace == M.background();
    if (Ended->Function->isMain() && !IsInBackground)
      return false;
    const QualType Type = Places.typeOf(RootPlace);
    const bool IsByValue = Places.rootKind(RootPlace) == Root::Local &&
                           !Type->isReferenceType() && !Type->isPointerType();
    return (M.isFromOutside(P) && !IsByValue) || IsInBackground;
  }

  /// What a lambda captures belongs to the function around it: a block of its
  /// own there would do the same. Tasks are looked at when the entry ends.
  bool outlivesCall(PlaceId RootPlace) const {
    const auto *Method = dyn_cast<CXXMethodDecl>(Ended->Function);
    const bool IsLambda = Method && Method->getParent()->isLambda();
    return !IsLambda && RootPlace != M.background() &&
           !isMadeIn(Places, RootPlace, Ended);
  }

  Machine &M;
  const PlaceTable &Places;
  const Frame *Ended;
  const PlaceId Result;
  const LoanSet &Given;
};

/// Of T[4] and std::array<T, 4>, whatever its length; null for others.
static QualType arrayElement(QualType Type) {
  if (Type.isNull())
    return Type;
  if (const ArrayType *Array =
          Type.getNonReferenceType()->getAsArrayTypeUnsafe())
    return Array->getElementType();
  const auto *Class =
      dyn_cast_or_null<ClassTemplateSpecializationDecl>(torch::recordOf(Type));
  return Class && torch::isArray(Class) && Class->getTemplateArgs().size() &&
                 Class->getTemplateArgs()[0].getKind() == TemplateArgument::Type
             ? Class->getTemplateArgs()[0].getAsType()
             : QualType();
}

/// Null where it is not known.
static QualType typeHeld(const PlaceTable &Places, PlaceId P) {
  const QualType Type = Places.knownType(P);
  const bool IsElement =
      !Places.isRoot(P) &&
      (Places.step(P).Of == Step::Element || Places.step(P).Of == Step::Index);
  return Type.isNull() && IsElement
             ? arrayElement(Places.knownType(Places.parent(P)))
             : Type;
}

/// An activation is over: who uses memory that is gone, and lives on?
static void emitHolds(Machine &M, const Frame *Ended, const LoanSet &Given) {
  const Survivors LivingOn(M, Ended, Given);
  for (const auto &[P, V] : M.state().Places) {
    const LoanSet Gone = LivingOn.blamed(V.Dangling);
    if (Gone.empty() || !LivingOn.contains(P))
      continue;
    const bool IsReturned = M.places().rootOf(P) == M.returned(Ended);
    const QualType Held =
        IsReturned ? Ended->Function->getReturnType() : typeHeld(M.places(), P);
    if (torch::mayBorrow(Held))
      M.emit<HoldEvent>(nullptr, [&, Holder = P](HoldEvent &E) {
        E.Holder = Holder;
        E.Dangling = Gone;
      });
  }
}

void endFrame(Machine &M, const Frame *Ended) {
  if (!anyLoans(M))
    return;
  const PlaceTable &Places = M.places();
  PlaceSet Dead;
  for (const Loan &Lent : M.names().Loans) {
    const PlaceId RootPlace = Places.rootOf(Lent.Owner);
    if (Places.rootKind(RootPlace) == Root::Local &&
        Places.frame(RootPlace) == Ended->Id)
      insert(Dead, RootPlace);
  }
  // A unique_ptr that was a parameter.
  LoanSet Given;
  for (const ParmVarDecl *Parameter : Ended->Function->parameters())
    if (torch::isUnique(Parameter->getType()) &&
        !Parameter->getType()->isReferenceType()) {
      const PlaceId P = M.places().root(Root::Local, Ended->Id, Parameter);
      endHeld(M, P, EndKind::Scope, nullptr);
      insert(Given, endGiven(M, Ended, P));
    }
  for (PlaceId P : Dead)
    if (!Places.typeOf(P)->isReferenceType())
      endMemory(M, P, EndKind::Scope, nullptr);
  const bool IsConstructorBefore = !Ended->Caller && Ended != &M.graph().root();
  if (M.isRecording() && !IsConstructorBefore)
    emitHolds(M, Ended, Given);
}

void reallocate(Machine &M, const CallExpr *Call, const PlaceSet &Containers) {
  const FunctionDecl *Callee = Call->getDirectCallee();
  const torch::StdMeaning Means = torch::meaning(Callee);
  const bool Moves = torch::reallocates(Callee);
  State &Now = M.state();
  for (PlaceId P : Containers) {
    if (Means == torch::StdMeaning::Reserve) {
      insert(Now.Reserved, P);
      continue;
    }
    if (!anyLoans(M) || M.places().isSummary(P))
      continue;
    if (Moves && torch::isContiguous(M.places().typeOf(P)) &&
        !llvm::is_contained(Now.Reserved, P))
      endMemory(M, P, EndKind::Reallocation, Call);
    if (Means == torch::StdMeaning::Reset)
      endHeld(M, P, EndKind::Delete, Call);
  }
}

} // namespace torchtidy::model::loans

// When memory ends that one object owns and another may use.
#include "model/Interpreter.h"
#include "model/LoanTypes.h"
#include "torch/Types.h"
#include "clang/AST/ExprCXX.h"
#include "llvm/ADT/StringSwitch.h"

using namespace clang;

namespace torchtidy::model {

void Interpreter::endMemory(PlaceId Dead, EndKind How, const Expr *Site) {
  OriginSet Ended;
  for (OriginId Id : LoanList) {
    const PlaceId Owner = Origins[Id].Place;
    // An object in a vector moves with it, and keeps what it owns.
    const bool Ends = How == EndKind::Reallocation
                          ? Owner == Dead
                          : Places.isWithin(Owner, Dead);
    if (Ends)
      insert(Ended, Id);
  }
  if (Ended.empty())
    return;
  bool IsUsed = false;
  for (auto &[P, V] : S->Places)
    for (OriginId Id : Ended)
      if (llvm::is_contained(V.Loans, Id)) {
        insert(V.Dangling, Id);
        IsUsed = true;
      }
  if (!IsUsed)
    return;
  Event E;
  E.Kind = EventKind::End;
  E.Site = Site;
  E.Places = {Dead};
  E.Ends = How;
  E.Result.Loans = std::move(Ended);
  emit(std::move(E));
}

/// What a unique_ptr holds ends with it.
void Interpreter::endHeld(PlaceId Pointer, EndKind How, const Expr *Site) {
  if (!isUnique(Places.typeOf(Pointer)))
    return;
  if (const Value *Held = S->find(Pointer))
    for (PlaceId P : PlaceSet(Held->Refs))
      if (Places.isRoot(P) && Places.rootKind(P) == Root::Object)
        endMemory(P, How, Site);
}

void Interpreter::endScope(const VarDecl *V) {
  if (!hasLoans() || V->hasGlobalStorage())
    return;
  const PlaceId P = placeOf(V);
  if (V->getType()->isReferenceType()) {
    // A temporary that a reference has kept alive.
    const Expr *Init = V->getInit() ? strip(V->getInit()) : nullptr;
    if (Init && Init->isPRValue())
      endMemory(Places.root(Root::Object, F->Id, Init), EndKind::Scope,
                nullptr);
    return;
  }
  endHeld(P, EndKind::Scope, nullptr);
  endMemory(P, EndKind::Scope, nullptr);
}

/// Whether S is evaluated as a whole: what it has made on the way ends with it.
static bool isWhole(const Stmt *S, const flow::ControlFlow &Flow) {
  if (isa<DeclStmt, ReturnStmt>(S))
    return true;
  if (!isa<Expr>(S))
    return false;
  const Stmt *Parent = Flow.parent(S);
  while (isa_and_nonnull<FullExpr, ParenExpr, MaterializeTemporaryExpr,
                         CXXBindTemporaryExpr>(Parent))
    Parent = Flow.parent(Parent);
  return !Parent || !isa<Expr, DeclStmt, ReturnStmt>(Parent);
}

void Interpreter::endFullExpression(const Stmt *Whole) {
  if (!hasLoans() || !F->Flow)
    return;
  bool IsKnownWhole = false;
  // The list may grow in the meantime only by other calls.
  for (unsigned I = 0; I < LoanList.size(); ++I) {
    const PlaceId RootPlace = Places.rootOf(Origins[LoanList[I]].Place);
    if (Places.rootKind(RootPlace) != Root::Object || RootPlace == background())
      continue;
    const Frame *Maker = Graph.frames()[Places.frame(RootPlace)].get();
    const Stmt *Made = nullptr;
    if (Maker == F) {
      const auto *Key = static_cast<const Stmt *>(Places.key(RootPlace));
      if (Temporaries.count(RootPlace))
        Made = Key;
    } else if (Maker->Caller == F && Maker->Site &&
               RootPlace == returned(Maker)) {
      Made = Maker->Site;
    }
    if (!Made || !F->Flow->isInside(Made, Whole))
      continue;
    if (!IsKnownWhole && !isWhole(Whole, *F->Flow))
      return;
    IsKnownWhole = true;
    const auto *Declaration = dyn_cast<DeclStmt>(Whole);
    const bool IsExtended =
        Declaration && llvm::any_of(Declaration->decls(), [&](const Decl *D) {
          const auto *V = dyn_cast<VarDecl>(D);
          return V && V->getInit() && V->getType()->isReferenceType() &&
                 strip(V->getInit()) == Made;
        });
    if (!IsExtended)
      endMemory(RootPlace, EndKind::FullExpression, cast<Expr>(Made));
  }
}

void Interpreter::endFrame(const Frame *Ended) {
  if (!hasLoans())
    return;
  std::set<PlaceId> Dead;
  for (OriginId Id : LoanList) {
    const PlaceId RootPlace = Places.rootOf(Origins[Id].Place);
    if (Places.rootKind(RootPlace) == Root::Local &&
        Places.frame(RootPlace) == Ended->Id)
      Dead.insert(RootPlace);
  }
  // A unique_ptr that was a parameter.
  for (const ParmVarDecl *Parameter : Ended->Function->parameters())
    if (isUnique(Parameter->getType()) &&
        !Parameter->getType()->isReferenceType())
      endHeld(Places.root(Root::Local, Ended->Id, Parameter), EndKind::Scope,
              nullptr);
  for (PlaceId P : Dead)
    if (!Places.typeOf(P)->isReferenceType())
      endMemory(P, EndKind::Scope, nullptr);
  if (Ended->Caller || Ended != &Graph.root() || !Record)
    return;
  // The way is over: who uses memory that is gone, and lives on?
  for (const auto &[P, V] : S->Places) {
    if (V.Dangling.empty())
      continue;
    const PlaceId RootPlace = Places.rootOf(P);
    const QualType Type = Places.typeOf(RootPlace);
    const bool IsByValue = Places.rootKind(RootPlace) == Root::Local &&
                           !Type->isReferenceType() && !Type->isPointerType();
    const bool LivesOn = (isFromOutside(P) && !IsByValue) ||
                         RootPlace == returned(Ended) ||
                         RootPlace == background();
    const QualType Held = RootPlace == returned(Ended)
                              ? Ended->Function->getReturnType()
                              : Places.typeOf(P);
    if (!torch::mayBorrow(Held))
      continue;
    if (!LivesOn || (Ended->Function->isMain() && RootPlace != background()))
      continue;
    Event E;
    E.Kind = EventKind::Hold;
    E.Places = {P};
    E.Result = V;
    emit(std::move(E));
  }
}

/// A member of a container that moves or ends its elements.
void Interpreter::reallocate(const CallExpr *Call, const PlaceSet &Containers,
                             StringRef Name) {
  for (PlaceId P : Containers) {
    if (Name == "reserve") {
      insert(Reserved, P);
      continue;
    }
    if (!hasLoans() || Places.isSummary(P))
      continue;
    const QualType Type = Places.typeOf(P);
    const bool Moves = llvm::StringSwitch<bool>(Name)
                           .Cases("clear", "resize", "assign", true)
                           .Cases("push_back", "emplace_back", "insert", true)
                           .Cases("emplace", "append", "shrink_to_fit", true)
                           .Default(false);
    if (isContiguous(Type) && Moves && !llvm::is_contained(Reserved, P))
      endMemory(P, EndKind::Reallocation, Call);
    if (Name == "reset")
      endHeld(P, EndKind::Delete, Call);
  }
}

} // namespace torchtidy::model

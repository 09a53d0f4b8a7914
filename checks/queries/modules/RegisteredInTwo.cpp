#include "queries/modules/RegisteredInTwo.h"
#include "ast/Expressions.h"
#include "queries/paths/Calls.h"
#include "queries/paths/Paths.h"
#include "torch/Modules.h"
#include "torch/Types.h"
#include "clang/AST/ExprCXX.h"

using namespace clang;

namespace torchtidy::model {

namespace {

/// Several that come to be twice by one registration, in whichever entry, are
/// one: the first in the text speaks.
void collect(RegisteredInTwo Found, std::vector<RegisteredInTwo> &Result) {
  const RegisterEvent *Again = Found.Again;
  const auto Known = llvm::find_if(Result, [&](const RegisteredInTwo &Other) {
    return Found.Joins && Other.Joins && Other.Joins->Site == Found.Joins->Site;
  });
  if (Known == Result.end())
    return Result.push_back(std::move(Found));
  const auto IsAgain = [&](const RegisterEvent *Other) {
    return Other->Site == Again->Site;
  };
  if (IsAgain(Known->Again) || llvm::any_of(Known->AsWell, IsAgain))
    return;
  if (Again->Site->getBeginLoc() < Known->Again->Site->getBeginLoc()) {
    Known->AsWell.push_back(Known->Again);
    Known->First = Found.First;
    Known->Again = Again;
    return;
  }
  Known->AsWell.push_back(Again);
}

class SharedModuleQuery {
public:
  explicit SharedModuleQuery(const Execution &Entry) : Entry(Entry) {
    for (const RegisterEvent &Each : Entry.events<RegisterEvent>()) {
      if (Each.Operand && Each.Modules.size() == 1 && !Each.Objects.empty()) {
        All.push_back(&Each);
        // What a Sequential is made from is not what it becomes.
        Becomes.push_back(isa<CallExpr>(Each.Site) ? assignedTo(Each)
                                                   : nullptr);
      }
      const auto *Call = dyn_cast_or_null<CallExpr>(Each.Site);
      LetsGo |= Call && torch::unregisters(Call->getDirectCallee());
    }
  }

  void run(std::vector<RegisteredInTwo> &Result) const {
    if (LetsGo)
      return;
    for (size_t I = 0; I < All.size(); ++I)
      for (size_t J = 0; J < I; ++J)
        if (isSame(J, I) && add(*All[J], *All[I], Result))
          break;
  }

private:
  bool add(const RegisterEvent &First, const RegisterEvent &Again,
           std::vector<RegisteredInTwo> &Result) const {
    RegisteredInTwo Found;
    Found.Entry = &Entry;
    Found.First = &First;
    Found.Again = &Again;
    if (First.Modules != Again.Modules) {
      Found.Joins = joins(First.Modules.front(), Again.Modules.front());
      if (!Found.Joins)
        return false;
    }
    collect(std::move(Found), Result);
    return true;
  }

  /// One object, which both have on one path. A value that is put into a
  /// container is copied there; handles and pointers are shared.
  bool isSame(size_t FirstAt, size_t AgainAt) const {
    const RegisterEvent &First = *All[FirstAt], &Again = *All[AgainAt];
    return isHandle(First) && isHandle(Again) && hasParameters(Again) &&
           isSameObject(FirstAt, Again) &&
           reaches(Entry, First.Point, Again.Point, {});
  }

  bool isSameObject(size_t FirstAt, const RegisterEvent &Again) const {
    const RegisterEvent &First = *All[FirstAt];
    // list->push_back(register_module(..)) gets the very pointer.
    if (isa<CallExpr>(First.Site) && First.In == Again.In &&
        ast::strip(Again.Operand) == First.Site)
      return true;
    if (Again.Objects.size() != 1)
      return false;
    const PlaceId P = Again.Objects.front();
    return registers(FirstAt, P) &&
           (!Entry.places().isSummary(P) || isOneVariable(First, Again));
  }

  /// What lies at P is registered there: conv, of conv = register_module(..),
  /// as well. A member is that of the module that registers it: each object of
  /// a class has its own.
  bool registers(size_t At, PlaceId P) const {
    if (llvm::is_contained(All[At]->Objects, P))
      return All[At]->Objects.size() == 1;
    const PlaceTable &Places = Entry.places();
    if (!Becomes[At] || Places.declaration(P) != Becomes[At])
      return false;
    return !isa<FieldDecl>(Becomes[At]) ||
           (!Places.isRoot(P) && Places.parent(P) == All[At]->Modules.front());
  }

  /// The variable or the member that gets what the registration returns, or
  /// null.
  static const ValueDecl *assignedTo(const RegisterEvent &E) {
    const flow::ControlFlow *Flow = E.In->Flow;
    const Stmt *S = E.Site;
    for (const Stmt *Up = Flow->parent(S); Up; S = Up, Up = Flow->parent(Up)) {
      if (const auto *Assign = dyn_cast<CXXOperatorCallExpr>(Up))
        return Assign->getOperator() == OO_Equal && Assign->getArg(1) == S
                   ? namedHere(Assign->getArg(0))
                   : nullptr;
      if (const auto *Declaration = dyn_cast<DeclStmt>(Up))
        return Declaration->isSingleDecl()
                   ? dyn_cast<ValueDecl>(Declaration->getSingleDecl())
                   : nullptr;
      if (!isa<Expr>(Up) || isa<CallExpr>(Up))
        return nullptr;
    }
    if (const auto *Constructor = dyn_cast<CXXConstructorDecl>(E.In->Function))
      for (const CXXCtorInitializer *Init : Constructor->inits())
        if (Init->getInit() && Init->isMemberInitializer() &&
            (Init->getInit() == S || Flow->isInside(E.Site, Init->getInit())))
          return Init->getMember();
    return nullptr;
  }

  static bool isHandle(const RegisterEvent &E) {
    const torch::TypeKind Kind = torch::kindOf(E.Operand->getType());
    return Kind == torch::TypeKind::ModuleHolder ||
           Kind == torch::TypeKind::Pointer;
  }

  static bool hasParameters(const RegisterEvent &E) {
    const CXXRecordDecl *Class = torch::moduleClass(E.Operand->getType());
    return Class && torch::parametersOf(Class) != torch::Parameters::None;
  }

  /// Of each iteration the same object: a variable of the loop's body.
  static bool isOneVariable(const RegisterEvent &First,
                            const RegisterEvent &Again) {
    const auto *One = dyn_cast<DeclRefExpr>(ast::stripCopies(First.Operand));
    const auto *Other = dyn_cast<DeclRefExpr>(ast::stripCopies(Again.Operand));
    return First.In == Again.In && One && Other &&
           One->getDecl() == Other->getDecl();
  }

  /// What registers Inner, directly or by way of others, in Outer: the
  /// outermost of these registrations; null where nothing does.
  const RegisterEvent *wayInto(PlaceId Outer, PlaceId Inner) const {
    llvm::SmallVector<PlaceId, 8> Work = {Inner};
    for (size_t I = 0; I < Work.size(); ++I)
      for (size_t At = 0; At < All.size(); ++At) {
        if (!registers(At, Work[I]))
          continue;
        const PlaceId Around = All[At]->Modules.front();
        if (Around == Outer)
          return All[At];
        if (!llvm::is_contained(Work, Around))
          Work.push_back(Around);
      }
    return nullptr;
  }

  const RegisterEvent *joins(PlaceId A, PlaceId B) const {
    if (const RegisterEvent *Found = wayInto(A, B))
      return Found;
    if (const RegisterEvent *Found = wayInto(B, A))
      return Found;
    for (const RegisterEvent *Each : All) {
      const PlaceId Outer = Each->Modules.front();
      const RegisterEvent *Found = wayInto(Outer, B);
      if (Found && wayInto(Outer, A))
        return Found;
    }
    return nullptr;
  }

  const Execution &Entry;
  std::vector<const RegisterEvent *> All;
  /// Of each, the variable or the member that gets what it returns, or null.
  std::vector<const ValueDecl *> Becomes;
  bool LetsGo = false;
};

} // namespace

std::vector<RegisteredInTwo> registeredInTwo(Program &Program) {
  std::vector<RegisteredInTwo> Result;
  for (const auto &Entry : Program.executions())
    SharedModuleQuery(*Entry).run(Result);
  return Result;
}

} // namespace torchtidy::model

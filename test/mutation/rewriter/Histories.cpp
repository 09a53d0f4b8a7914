#include "Operators.h"
#include "Stores.h"

using namespace clang;

namespace torchtidy::mutation {

namespace {

bool isDetach(const CXXMemberCallExpr *Call) {
  if (!Call || !isTensor(Call->getObjectType()))
    return false;
  llvm::StringRef Name = methodName(Call);
  return Name == "detach" || Name == "detach_" ||
         (Name == "data" && isTensor(Call->getType()));
}

bool detaches(const Program &Whole, const FunctionDecl *Called) {
  const FunctionDecl *Definition = nullptr;
  if (!Called || !Called->hasBody(Definition) ||
      !Whole.isUserCode(Definition->getLocation()))
    return false;
  bool Found = false;
  forEach(Definition->getBody(), [&](const Stmt *S) {
    Found |= isDetach(dyn_cast<CXXMemberCallExpr>(S));
  });
  return Found;
}

struct Argument {
  const ValueDecl *Place;
  const Function *Caller;
};

/// What the calls of a function hand over.
std::vector<Argument> argumentsOf(const Program &Whole, const Function &Of) {
  std::vector<Argument> Result;
  for (const Function &Caller : Whole.functions())
    forEach(Caller.body(), [&](const Stmt *S) {
      const auto *Call = dyn_cast<CallExpr>(S);
      if (&Caller != &Of && Call && Whole.find(Call->getDirectCallee()) == &Of)
        for (const Expr *Each : Call->arguments())
          Result.push_back({placeOf(Each), &Caller});
    });
  return Result;
}

/// Whether a module, or a function of the user's that runs one, is given the
/// place: what makes a place the state of a recurrence.
bool isState(const Program &Whole, const Function &In, const ValueDecl *Place) {
  // A reference stands for what the callers hand over.
  const auto *Variable = dyn_cast<VarDecl>(Place);
  if (Variable && Variable->getType()->isReferenceType())
    for (const Argument &Each : argumentsOf(Whole, In))
      if (Each.Place && Each.Place != Place &&
          isState(Whole, *Each.Caller, Each.Place))
        return true;
  for (const Use &Each : Whole.uses(Place))
    for (const Stmt *Up = Each.In->parent(Each.Node); Up;
         Up = Each.In->parent(Up)) {
      if (isa<CompoundStmt, LambdaExpr>(Up))
        break;
      const auto *Call = dyn_cast<CallExpr>(Up);
      if (!Call)
        continue;
      bool Given = false;
      unsigned First = isa<CXXOperatorCallExpr>(Call) ? 1 : 0;
      for (unsigned I = First; I < Call->getNumArgs(); ++I)
        Given |= Each.In->contains(Call->getArg(I), Each.Node);
      if (!Given)
        continue;
      if (isForward(Call))
        return true;
      if (const Function *Called = Whole.find(Call->getDirectCallee())) {
        bool Runs = false;
        forEach(Called->body(), [&](const Stmt *S) { Runs |= isForward(S); });
        if (Runs)
          return true;
      }
    }
  return false;
}

/// Where a check may speak: of a state in the functions that use it and in what
/// they call; of another place at the statement and at others that store into
/// the place.
std::vector<Piece> regions(const Program &Whole, const Function &In,
                           const ValueDecl *Place, const Stmt *At, bool State) {
  std::vector<Piece> Result;
  auto Add = [&](const Stmt *S) {
    if (auto Where = Whole.piece(S->getSourceRange()))
      Result.push_back(*Where);
  };
  if (!State) {
    Add(At);
    for (const Use &Each : Whole.uses(Place)) {
      const Stmt *Up = Each.Node;
      while (Up &&
             !isa_and_nonnull<CompoundStmt, ForStmt, CXXForRangeStmt, IfStmt>(
                 Each.In->parent(Up)))
        Up = Each.In->parent(Up);
      if (Up && isa<Expr>(Up))
        Add(Up);
    }
    return Result;
  }
  Result = Whole.reach(In, In.body());
  for (const Use &Each : Whole.uses(Place))
    Add(Each.In->body());
  for (const Argument &Each : argumentsOf(Whole, In))
    for (const Piece &Where : Whole.reach(*Each.Caller, Each.Caller->body()))
      Result.push_back(Where);
  return Result;
}

void add(const Program &Whole, const Function &In, const ValueDecl *Place,
         const Stmt *At, Edit Change, std::vector<Mutation> &Out) {
  auto Point = Whole.piece(At->getSourceRange());
  if (!Point)
    return;
  bool State = isState(Whole, In, Place);
  Mutation Found{State ? "state-detach" : "detach",
                 {"torch-retained-graph", "torch-undetached-hidden-state"},
                 *Point,
                 "the history of what is stored is kept",
                 {std::move(Change)},
                 regions(Whole, In, Place, At, State)};
  if (State)
    std::swap(Found.Checks[0], Found.Checks[1]);
  Out.push_back(std::move(Found));
}

const Stmt *fullStatement(const Function &In, const Stmt *S) {
  while (isa_and_nonnull<ExprWithCleanups, ImplicitCastExpr>(In.parent(S)))
    S = In.parent(S);
  return S;
}

bool isStatement(const Function &In, const Stmt *S) {
  const Stmt *Up = In.parent(S);
  return isa_and_nonnull<CompoundStmt, IfStmt, ForStmt, WhileStmt,
                         CXXForRangeStmt>(Up);
}

/// `x.detach_();`, and `x = x.detach();`: the statement goes.
bool removeStatement(const Program &Whole, const Function &In,
                     const CXXMemberCallExpr *Call,
                     std::vector<Mutation> &Out) {
  const Expr *Object = Call->getImplicitObjectArgument();
  const Stmt *Full = fullStatement(In, Call);
  const Expr *Target = Object;
  if (!isStatement(In, Full)) {
    auto Stored = storeOf(Whole, In, Call, false);
    if (!Stored || Stored->How != Store::Assign || !Stored->Target ||
        Whole.text(Stored->Target->getSourceRange()) !=
            Whole.text(Object->getSourceRange()))
      return false;
    Full = fullStatement(In, Stored->By);
    Target = Stored->Target;
    if (!isStatement(In, Full))
      return false;
  }
  const ValueDecl *Place = placeOf(Target);
  if (!outlivesIteration(In, Target, Place, Full))
    return true;
  if (auto Removed = Whole.removal(In, Full))
    add(Whole, In, Place, Full, *Removed, Out);
  return true;
}

/// `state = detached(state);` and `detachAll(state);` with functions of the
/// user's.
void removeHelperCall(const Program &Whole, const Function &In,
                      const CallExpr *Call, std::vector<Mutation> &Out) {
  if (!detaches(Whole, Call->getDirectCallee()))
    return;
  unsigned First = isa<CXXOperatorCallExpr>(Call) &&
                           isa<CXXMethodDecl>(Call->getDirectCallee())
                       ? 1
                       : 0;
  if (Call->getNumArgs() != First + 1)
    return;
  const Expr *Given = Call->getArg(First);
  const Stmt *Full = fullStatement(In, Call);
  if (!isStatement(In, Full)) {
    auto Stored = storeOf(Whole, In, Call, false);
    if (!Stored || Stored->How != Store::Assign || !placeOf(Given) ||
        Stored->Place != placeOf(Given))
      return;
    Full = fullStatement(In, Stored->By);
  }
  const ValueDecl *Place = placeOf(Given);
  if (!isStatement(In, Full) || !outlivesIteration(In, Given, Place, Full))
    return;
  if (auto Removed = Whole.removal(In, Full))
    add(Whole, In, Place, Full, *Removed, Out);
}

} // namespace

void removeDetach(const Program &Whole, std::vector<Mutation> &Out) {
  for (const Function &In : Whole.functions())
    forEach(In.body(), [&](const Stmt *S) {
      if (const auto *Call = dyn_cast<CallExpr>(S))
        removeHelperCall(Whole, In, Call, Out);
      const auto *Call = dyn_cast<CXXMemberCallExpr>(S);
      if (!isDetach(Call) || removeStatement(Whole, In, Call, Out))
        return;
      auto Stored = storeOf(Whole, In, Call);
      auto Object =
          Whole.piece(Call->getImplicitObjectArgument()->getSourceRange());
      auto All = Whole.piece(Call->getSourceRange());
      if (!Stored || !Object || !All)
        return;
      Edit Change{{All->File, Object->end(), All->end() - Object->end()}, ""};
      if (Stored->How != Store::Return) {
        if (outlivesIteration(In, Stored->Target, Stored->Place, Stored->By))
          add(Whole, In, Stored->Place, Stored->By, Change, Out);
        return;
      }
      // A helper whose result the caller stores: `state = detached(state)`.
      for (const Function &Caller : Whole.functions())
        forEach(Caller.body(), [&](const Stmt *Node) {
          const auto *From = dyn_cast<CallExpr>(Node);
          if (!From || Whole.find(From->getDirectCallee()) != &In)
            return;
          auto Kept = storeOf(Whole, Caller, From);
          if (Kept && Kept->Place &&
              outlivesIteration(Caller, Kept->Target, Kept->Place, Kept->By))
            add(Whole, Caller, Kept->Place, Kept->By, Change, Out);
        });
    });
}

} // namespace torchtidy::mutation

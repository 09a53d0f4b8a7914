// Detaching that a path-insensitive reading of stores would miss: loops over the
// elements of a container, which are one place to the interpreter, and conditions
// that ask whether there is anything to detach.
#include "model/Interpreter.h"
#include "torch/Types.h"
#include "clang/AST/StmtCXX.h"

using namespace clang;

namespace torchtidy::model {

static bool mentions(const Stmt *S, const VarDecl *V) {
  if (!S)
    return false;
  if (const auto *Ref = dyn_cast<DeclRefExpr>(S))
    return Ref->getDecl() == V;
  for (const Stmt *Child : S->children())
    if (mentions(Child, V))
      return true;
  return false;
}

/// x.detach(), or a tuple of such.
static bool isDetach(const Expr *E) {
  E = strip(E);
  auto AllAre = [](auto Parts) {
    return Parts.begin() != Parts.end() &&
           llvm::all_of(Parts, [](const Stmt *Part) {
             return isDetach(cast<Expr>(Part));
           });
  };
  if (isa<InitListExpr, CXXConstructExpr>(E))
    return AllAre(E->children());
  const auto *Call = dyn_cast<CallExpr>(E);
  if (const FunctionDecl *Callee = Call ? Call->getDirectCallee() : nullptr;
      Callee && Callee->getIdentifier() && torch::isStd(Callee) &&
      (Callee->getName() == "make_tuple" || Callee->getName() == "make_pair"))
    return AllAre(Call->arguments());
  const torch::Call Kind = Call ? torch::classify(Call) : torch::Call();
  return Kind.Kind == torch::Api::Operation &&
         (Kind.Op->Name == "detach" || Kind.Op->Name == "detach_");
}

/// What the statement detaches in place, or assigns its own detached value to.
static const Expr *detached(const Stmt *S) {
  const auto *E = dyn_cast<Expr>(S);
  if (!E)
    return nullptr;
  E = strip(E);
  if (const auto *Assign = dyn_cast<CXXOperatorCallExpr>(E))
    return Assign->getOperator() == OO_Equal && Assign->getNumArgs() == 2 &&
                   isDetach(Assign->getArg(1))
               ? Assign->getArg(0)
               : nullptr;
  if (const auto *Call = dyn_cast<CXXMemberCallExpr>(E))
    if (isDetach(Call) && Call->getMethodDecl()->getName() == "detach_")
      return Call->getImplicitObjectArgument();
  return nullptr;
}

/// The elements that the loop detaches, each as the statement names it.
static llvm::SmallVector<const Expr *, 2> detachedIn(const Stmt *Body,
                                                     const VarDecl *Variable) {
  llvm::SmallVector<const Expr *, 2> Result;
  auto Add = [&](const Stmt *S) {
    if (const Expr *Element = detached(S); Element && mentions(Element, Variable))
      Result.push_back(Element);
  };
  if (const auto *Block = dyn_cast_or_null<CompoundStmt>(Body))
    for (const Stmt *S : Block->body())
      Add(S);
  else if (Body)
    Add(Body);
  return Result;
}

void Interpreter::visitLoopStart(const DeclStmt *Start, const Stmt *Loop) {
  PlaceSet Elements;
  if (const auto *Each = dyn_cast_or_null<CXXForRangeStmt>(Loop)) {
    const VarDecl *Variable = Each->getLoopVariable();
    if (Start != Each->getRangeStmt() || !Variable ||
        !Variable->getType()->isReferenceType() ||
        detachedIn(Each->getBody(), Variable).empty())
      return;
    for (PlaceId P : receiver(Each->getRangeInit()))
      insert(Elements, Places.element(P));
  } else if (const auto *Counted = dyn_cast_or_null<ForStmt>(Loop)) {
    if (Start != Counted->getInit())
      return;
    const auto *Variable = Start->isSingleDecl()
                               ? dyn_cast<VarDecl>(Start->getSingleDecl())
                               : nullptr;
    if (!Variable)
      return;
    for (const Expr *Element : detachedIn(Counted->getBody(), Variable))
      if (const auto *Call = dyn_cast<CXXOperatorCallExpr>(strip(Element));
          Call && Call->getOperator() == OO_Subscript &&
          !torch::isTensor(Call->getArg(0)->getType()))
        for (PlaceId P : receiver(Call->getArg(0)))
          insert(Elements, Places.element(P));
  }
  for (PlaceId P : Elements) {
    // What is known of the container as a whole goes for its elements.
    discardHistory(Places.parent(P), false);
    discardHistory(P, true);
    if (!S->find(P))
      S->Places[P] = Value::withHistory(history::None);
  }
}

void Interpreter::discardHistory(PlaceId P, bool Deep) {
  auto It = S->Places.find(P);
  if (It != S->Places.end() && It->second.History) {
    Value &V = It->second;
    V.History = history::None;
    V.Origins.clear();
    V.ManyOrigins = false;
    V.Saved.clear();
  }
  if (Deep)
    for (PlaceId Child : Places.children(P))
      discardHistory(Child, true);
}

/// The objects that E names, before it was evaluated.
PlaceSet Interpreter::named(const Expr *E) {
  E = strip(E);
  if (isa<DeclRefExpr, MemberExpr>(E))
    return denote(E).Objects;
  PlaceSet Result;
  const auto *Call = dyn_cast<CallExpr>(E);
  const FunctionDecl *Callee = Call ? Call->getDirectCallee() : nullptr;
  if (!Callee || !torch::isStd(Callee))
    return Result;
  const OverloadedOperatorKind Operator = Callee->getOverloadedOperator();
  if (Operator == OO_Star || Operator == OO_Arrow)
    return named(Call->getArg(0));
  if (const std::optional<unsigned> Index = tupleIndex(Callee))
    for (PlaceId P : named(Call->getArg(0)))
      insert(Result, Places.index(P, *Index));
  return Result;
}

static bool countsModulo(const Stmt *Condition) {
  if (const auto *Binary = dyn_cast<BinaryOperator>(Condition))
    if (Binary->getOpcode() == BO_Rem)
      return true;
  for (const Stmt *Child : Condition->children())
    if (Child && countsModulo(Child))
      return true;
  return false;
}

/// if (h.defined()) h = h.detach(); if (t > 0) h.detach_(): where the condition
/// does not hold there is nothing to detach. Not so for every k-th step.
void Interpreter::visitCondition(const IfStmt *If) {
  if (countsModulo(If->getCond()))
    return;
  llvm::SmallVector<const Stmt *, 4> Statements = {If->getThen()};
  if (const auto *Block = dyn_cast<CompoundStmt>(If->getThen()))
    Statements.assign(Block->body_begin(), Block->body_end());
  for (const Stmt *Statement : Statements) {
    const Expr *Element = detached(Statement);
    if (!Element)
      continue;
    const PlaceSet Objects = named(Element);
    if (Objects.size() != 1 || Places.isSummary(Objects.front()))
      continue;
    const PlaceId P = Objects.front();
    if (!Places.isRoot(P))
      split(Places.parent(P));
    if (!S->find(P) && isFromOutside(P))
      S->Places[P] = Value::withHistory(history::None);
    discardHistory(P, true);
  }
}

} // namespace torchtidy::model

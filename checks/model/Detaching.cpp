// Detaching that a path-insensitive reading of stores would miss: loops over
// the elements of a container, which are one place to the interpreter, and
// conditions that ask whether there is anything to detach.
#include "model/Interpreter.h"
#include "torch/Types.h"
#include "clang/AST/StmtCXX.h"

using namespace clang;

namespace torchtidy::model {

/// S names one of the variables, or a structured binding of one.
static bool mentions(const Stmt *S, const VarDecl *V) {
  if (!S)
    return false;
  if (const auto *Ref = dyn_cast<DeclRefExpr>(S)) {
    const auto *Binding = dyn_cast<BindingDecl>(Ref->getDecl());
    return Ref->getDecl() == V ||
           (Binding && Binding->getDecomposedDecl() == V);
  }
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
  const StringRef Maker =
      Call ? torch::stdName(Call->getDirectCallee()) : StringRef();
  if (Maker == "make_tuple" || Maker == "make_pair")
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
    if (const Expr *Element = detached(S);
        Element && mentions(Element, Variable))
      Result.push_back(Element);
  };
  if (const auto *Block = dyn_cast_or_null<CompoundStmt>(Body))
    for (const Stmt *S : Block->body())
      Add(S);
  else if (Body)
    Add(Body);
  return Result;
}

/// Each element of the containers is detached, and so all of it is.
void Interpreter::detachElements(const Expr *Site, const PlaceSet &Containers) {
  Event Out;
  Out.Kind = EventKind::Release;
  Out.Site = Site;
  Out.How = StoreKind::InPlace;
  Out.Places = Containers;
  emit(std::move(Out));
  for (PlaceId Container : Containers) {
    const PlaceId P = Places.element(Container);
    // What is known of the container as a whole goes for its elements.
    discardHistory(Container, false);
    discardHistory(P, true);
    if (!S->find(P))
      S->Places[P] = Value::withHistory(history::None);
  }
}

/// The container in states.begin().
static const Expr *beginOf(const Expr *E) {
  const auto *Call = dyn_cast<CXXMemberCallExpr>(stripCopies(E));
  const CXXMethodDecl *Method = Call ? Call->getMethodDecl() : nullptr;
  return Method && Method->getIdentifier() && Method->getName() == "begin"
             ? Call->getImplicitObjectArgument()
             : nullptr;
}

void Interpreter::visitLoopStart(const DeclStmt *Start, const Stmt *Loop) {
  if (const auto *Each = dyn_cast_or_null<CXXForRangeStmt>(Loop)) {
    const VarDecl *Variable = Each->getLoopVariable();
    if (Start == Each->getRangeStmt() && Variable &&
        Variable->getType()->isReferenceType() &&
        !detachedIn(Each->getBody(), Variable).empty())
      detachElements(Each->getRangeInit(), receiver(Each->getRangeInit()));
    return;
  }
  const auto *Counted = dyn_cast_or_null<ForStmt>(Loop);
  const auto *Variable =
      Counted && Start == Counted->getInit() && Start->isSingleDecl()
          ? dyn_cast<VarDecl>(Start->getSingleDecl())
          : nullptr;
  if (!Variable)
    return;
  const auto Detached = detachedIn(Counted->getBody(), Variable);
  const Expr *Container =
      Variable->getInit() ? beginOf(Variable->getInit()) : nullptr;
  if (Container && !Detached.empty())
    return detachElements(Container, receiver(Container));
  for (const Expr *Element : Detached) {
    // states[i], std::get<0>(states[i])
    const Expr *Inner = strip(Element);
    if (const auto *Get = dyn_cast<CallExpr>(Inner);
        Get && Get->getDirectCallee() && tupleIndex(Get->getDirectCallee()) &&
        Get->getNumArgs() == 1)
      Inner = strip(Get->getArg(0));
    if (const auto *Call = dyn_cast<CXXOperatorCallExpr>(Inner);
        Call && Call->getOperator() == OO_Subscript &&
        !torch::isTensor(Call->getArg(0)->getType()))
      detachElements(Element, receiver(Call->getArg(0)));
  }
}

/// std::for_each(hs.begin(), hs.end(), [](Tensor &h) { h.detach_(); });
/// std::transform(hs.begin(), hs.end(), hs.begin(), [](auto &h) { return
/// h.detach(); });
void Interpreter::visitAlgorithm(const CallExpr *Call, StringRef Name) {
  const unsigned Into = Name == "transform" ? 2 : 0;
  if ((Name != "transform" && Name != "for_each") ||
      Call->getNumArgs() < Into + 2)
    return;
  const Expr *Callable = stripCopies(Call->getArg(Call->getNumArgs() - 1));
  const auto *Lambda = dyn_cast<LambdaExpr>(Callable);
  const Expr *Container = beginOf(Call->getArg(Into));
  if (!Lambda || !Container || Lambda->getCallOperator()->param_empty())
    return;
  const auto *Body = dyn_cast<CompoundStmt>(Lambda->getBody());
  const ParmVarDecl *Element = Lambda->getCallOperator()->getParamDecl(0);
  bool Detaches = !detachedIn(Body, Element).empty() && Into == 0;
  if (Into == 2 && Body && !Body->body_empty())
    if (const auto *Return = dyn_cast<ReturnStmt>(Body->body_back()))
      Detaches = Return->getRetValue() && isDetach(Return->getRetValue());
  if (Detaches)
    detachElements(Call, receiver(Container));
}

void Interpreter::discardHistory(PlaceId P, bool Deep) {
  auto It = S->Places.find(P);
  if (It != S->Places.end() && It->second.History)
    It->second.detach();
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

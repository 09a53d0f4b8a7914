#include "model/semantics/Detaching.h"
#include "ast/Expressions.h"
#include "ast/Walk.h"
#include "model/semantics/Autograd.h"
#include "torch/Api.h"
#include "torch/Std.h"
#include "torch/Types.h"
#include "clang/AST/StmtCXX.h"

using namespace clang;

namespace torchtidy::model {

/// S names the variable, or a structured binding of it.
static bool mentions(const Stmt *S, const VarDecl *V) {
  auto Names = [&](const Stmt *Part) {
    const auto *Ref = dyn_cast<DeclRefExpr>(Part);
    const auto *Binding = Ref ? dyn_cast<BindingDecl>(Ref->getDecl()) : nullptr;
    return Ref && (Ref->getDecl() == V ||
                   (Binding && Binding->getDecomposedDecl() == V));
  };
  return ast::anyStmt(S, Names, ast::Lambdas::Enter);
}

/// x.detach(), or a tuple of such calls.
static bool isDetach(const Expr *E) {
  E = ast::strip(E);
  auto AllAre = [](auto Parts) {
    return Parts.begin() != Parts.end() &&
           llvm::all_of(Parts, [](const Stmt *Part) {
             return isDetach(cast<Expr>(Part));
           });
  };
  if (isa<InitListExpr, CXXConstructExpr>(E))
    return AllAre(E->children());
  const auto *Call = dyn_cast<CallExpr>(E);
  const FunctionDecl *Callee = Call ? Call->getDirectCallee() : nullptr;
  if (Callee && torch::isStd(Callee) &&
      torch::meaning(Callee) == torch::StdMeaning::Tuple)
    return AllAre(Call->arguments());
  const torch::Call Kind = Call ? torch::classify(Call) : torch::Call();
  return Kind.Kind == torch::Api::Operation && torch::isDetach(*Kind.Op);
}

/// What the statement detaches in place, or assigns its own detached value to.
static const Expr *detached(const Stmt *S) {
  const auto *E = dyn_cast<Expr>(S);
  if (!E)
    return nullptr;
  E = ast::strip(E);
  if (const auto *Assign = dyn_cast<CXXOperatorCallExpr>(E))
    return Assign->getOperator() == OO_Equal && Assign->getNumArgs() == 2 &&
                   isDetach(Assign->getArg(1))
               ? Assign->getArg(0)
               : nullptr;
  if (const auto *Call = dyn_cast<CXXMemberCallExpr>(E))
    if (isDetach(Call) && torch::isDetachInPlace(*torch::classify(Call).Op))
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
static void detachElements(Machine &M, const Expr *Site,
                           const PlaceSet &Containers) {
  M.emitRelease(Site, Containers, StoreKind::InPlace);
  for (PlaceId Container : Containers) {
    // The list that parameters() returns: the network's own.
    autograd::detachLeaves(M, M.load(Container).Refs);
    const PlaceId P = M.places().element(Container);
    // What is known of the container as a whole goes for its elements.
    M.discardHistory(Container, false);
    M.discardHistory(P, true);
    if (!M.state().find(P))
      M.state().Places[P] = Value::withHistory(history::None);
    for (PlaceId Part : M.places().children(Container))
      if (M.places().step(Part).Of == Step::Index)
        M.discardHistory(Part, true);
  }
}

/// The container in states.begin().
static const Expr *beginOf(const Expr *E) {
  const auto *Call = dyn_cast<CXXMemberCallExpr>(ast::stripCopies(E));
  const CXXMethodDecl *Method = Call ? Call->getMethodDecl() : nullptr;
  return Method && torch::isBegin(Method) ? Call->getImplicitObjectArgument()
                                          : nullptr;
}

void visitLoopStart(Machine &M, const DeclStmt *Start, const Stmt *Loop) {
  if (const auto *Each = dyn_cast_or_null<CXXForRangeStmt>(Loop)) {
    const VarDecl *Variable = Each->getLoopVariable();
    if (Start == Each->getRangeStmt() && Variable &&
        Variable->getType()->isReferenceType() &&
        !detachedIn(Each->getBody(), Variable).empty())
      detachElements(M, Each->getRangeInit(), M.receiver(Each->getRangeInit()));
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
    return detachElements(M, Container, M.receiver(Container));
  for (const Expr *Element : Detached) {
    // states[i], std::get<0>(states[i])
    const Expr *Inner = ast::strip(Element);
    if (const auto *Get = dyn_cast<CallExpr>(Inner);
        Get && Get->getDirectCallee() &&
        ast::tupleIndex(Get->getDirectCallee()) && Get->getNumArgs() == 1)
      Inner = ast::strip(Get->getArg(0));
    if (const auto *Call = dyn_cast<CXXOperatorCallExpr>(Inner);
        Call && Call->getOperator() == OO_Subscript &&
        !torch::isTensor(Call->getArg(0)->getType()))
      detachElements(M, Element, M.receiver(Call->getArg(0)));
  }
}

/// std::for_each(hs.begin(), hs.end(), [](Tensor &h) { h.detach_(); });
/// std::transform(hs.begin(), hs.end(), hs.begin(), [](auto &h) { return
/// h.detach(); });
void visitAlgorithm(Machine &M, const CallExpr *Call) {
  const torch::StdMeaning Means = torch::meaning(Call->getDirectCallee());
  const bool Transforms = Means == torch::StdMeaning::Transform;
  const unsigned Into = Transforms ? 2 : 0;
  if ((!Transforms && Means != torch::StdMeaning::ForEach) ||
      Call->getNumArgs() < Into + 2)
    return;
  const Expr *Callable = ast::stripCopies(Call->getArg(Call->getNumArgs() - 1));
  const auto *Lambda = dyn_cast<LambdaExpr>(Callable);
  const Expr *Container = beginOf(Call->getArg(Into));
  if (!Lambda || !Container || Lambda->getCallOperator()->param_empty())
    return;
  const auto *Body = dyn_cast<CompoundStmt>(Lambda->getBody());
  const ParmVarDecl *Element = Lambda->getCallOperator()->getParamDecl(0);
  bool Detaches = !Transforms && !detachedIn(Body, Element).empty();
  if (Transforms && Body && !Body->body_empty())
    if (const auto *Return = dyn_cast<ReturnStmt>(Body->body_back()))
      Detaches = Return->getRetValue() && isDetach(Return->getRetValue());
  if (Detaches)
    detachElements(M, Call, M.receiver(Container));
}

void detachThroughReference(Machine &M, const Expr *To, const Expr *From,
                            const PlaceSet &Targets) {
  const auto *Name = dyn_cast<DeclRefExpr>(ast::strip(To));
  const auto *Reference = Name ? dyn_cast<VarDecl>(Name->getDecl()) : nullptr;
  if (Reference && Reference->getType()->isReferenceType() &&
      Targets.size() == 1 && M.places().isSummary(Targets.front()) &&
      (!From || (isDetach(From) && mentions(From, Reference))))
    M.discardHistory(Targets.front(), true);
}

static bool countsModulo(const Stmt *Condition) {
  auto IsModulo = [](const Stmt *Part) {
    const auto *Binary = dyn_cast<BinaryOperator>(Part);
    return Binary && Binary->getOpcode() == BO_Rem;
  };
  return ast::anyStmt(Condition, IsModulo, ast::Lambdas::Enter);
}

/// What an operation has made here and now is there to be detached, whatever
/// the condition says: auto gain = returns - values.
static bool isComputedBeside(Machine &M, const IfStmt *If, const Expr *E) {
  const auto *Ref = dyn_cast<DeclRefExpr>(ast::strip(E));
  const auto *V = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
  const auto *Made = V && V->isLocalVarDecl() && V->getInit()
                         ? dyn_cast<CallExpr>(ast::stripCopies(V->getInit()))
                         : nullptr;
  const flow::ControlFlow *Flow = M.frame()->Flow;
  if (!Made || !Flow)
    return false;
  const torch::Operation *Op = torch::classify(Made).Op;
  if (!Op || Op->View != torch::Tri::No ||
      Op->Writes != torch::operation::NoArgument)
    return false;
  // In the block of the condition: no iteration before has left it.
  const Stmt *Block = Flow->parent(If);
  return isa_and_nonnull<CompoundStmt>(Block) &&
         llvm::any_of(Block->children(), [&](const Stmt *S) {
           const auto *Declared = dyn_cast_or_null<DeclStmt>(S);
           return Declared && llvm::is_contained(Declared->decls(), V);
         });
}

/// if (h.defined()) h = h.detach(); if (t > 0) h.detach_(): where the condition
/// does not hold there is nothing to detach. Not so for every k-th step, and of
/// what was computed just before.
void visitCondition(Machine &M, const IfStmt *If) {
  if (countsModulo(If->getCond()))
    return;
  llvm::SmallVector<const Stmt *, 4> Statements = {If->getThen()};
  if (const auto *Block = dyn_cast<CompoundStmt>(If->getThen()))
    Statements.assign(Block->body_begin(), Block->body_end());
  for (const Stmt *Statement : Statements) {
    const Expr *Element = detached(Statement);
    if (!Element || isComputedBeside(M, If, Element))
      continue;
    const PlaceSet Objects = M.named(Element);
    if (Objects.size() != 1 || M.places().isSummary(Objects.front()))
      continue;
    const PlaceId P = Objects.front();
    if (!M.places().isRoot(P))
      M.split(M.places().parent(P));
    if (!M.state().find(P) && M.isFromOutside(P))
      M.state().Places[P] = Value::withHistory(history::None);
    M.discardHistory(P, true);
  }
}

} // namespace torchtidy::model

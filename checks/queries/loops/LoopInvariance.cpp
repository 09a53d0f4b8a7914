#include "queries/loops/LoopInvariance.h"
#include "ast/Expressions.h"
#include "ast/Walk.h"
#include "model/syntax/Reads.h"
#include "queries/loops/Loops.h"
#include "torch/Api.h"
#include "torch/Members.h"
#include "torch/Std.h"
#include "torch/Types.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/StmtCXX.h"

using namespace clang;
using torchtidy::torch::TypeKind;

namespace torchtidy::model {

using flow::Loop;

bool Invariance::isContentWritten(const ValueDecl *D, const Loop &L) const {
  const PlaceTable &Places = Entry.places();
  auto IsOf = [&](PlaceId P) {
    for (; !Places.isRoot(P); P = Places.parent(P))
      if (Places.step(P).Of == Step::Field && Places.step(P).Member == D)
        return true;
    return Places.variable(P) == D;
  };
  return llvm::any_of(Entry.events<WriteEvent>(), [&](const WriteEvent &Write) {
    return llvm::any_of(Write.Places, IsOf) && mayHappenIn(Entry, Write, L);
  });
}

bool Invariance::hasSameContent(const Expr *E, const Frame *F, const Loop &L) {
  ContentMatters = true;
  const bool Result = isInvariant(E, F, L);
  ContentMatters = false;
  return Result;
}

bool Invariance::isSameElementAgain(const Expr *E, const Frame *F,
                                    const Loop &L) {
  CountersMatter = false;
  const bool Result = hasSameContent(E, F, L);
  CountersMatter = true;
  return Result;
}

bool Invariance::isSameObject(const Expr *E, const Frame *F, const Loop &L) {
  CountersMatter = false;
  ObjectMatters = true;
  const bool Result = isInvariant(E, F, L);
  CountersMatter = true;
  ObjectMatters = false;
  return Result;
}

/// The for statement in Body whose counter V is, or null.
static const ForStmt *countedBy(const VarDecl *V, const Stmt *Body) {
  const ForStmt *Result = nullptr;
  ast::anyStmt(
      Body,
      [&](const Stmt *S) {
        const auto *For = dyn_cast<ForStmt>(S);
        const auto *Init =
            For ? dyn_cast_or_null<DeclStmt>(For->getInit()) : nullptr;
        if (Init && llvm::is_contained(Init->decls(), V))
          Result = For;
        return Result != nullptr;
      },
      ast::Lambdas::Skip);
  return Result;
}

/// V counts an inner loop, from the same number in the same steps in every
/// iteration of L, or goes through the elements of the same range.
bool Invariance::isSameCounter(const VarDecl *V, const Frame *F,
                               const Loop &L) {
  const Frame *Owner = Supergraph::owner(F, V);
  const Stmt *Around = Entry.loopStatement(L);
  const Stmt *Body = Owner ? Owner->Function->getBody() : nullptr;
  if (!Body || !Owner->Flow || !Around)
    return false;
  const auto IsInside = [&](const Stmt *Inner) {
    return Inner != Around &&
           (Entry.beginsIn(Owner, L) || Owner->Flow->isInside(Inner, Around));
  };
  if (const CXXForRangeStmt *Range = Owner->Flow->rangeLoop(V))
    return IsInside(Range) && isInvariant(Range->getRangeInit(), Owner, L);
  const ForStmt *For = countedBy(V, Body);
  return For && IsInside(For) && For->getInc() && V->getInit() &&
         isInvariant(V->getInit(), Owner, L) && onlyReads(V, For->getBody()) &&
         (!For->getCond() || onlyReads(V, For->getCond()));
}

/// What F runs, if it was called as a value, is the same in every iteration.
bool Invariance::isSameCallable(const Frame *F, const Loop &L) {
  for (; F && F->Caller && Entry.beginsIn(F, L); F = F->Caller)
    if (F->Callable && !isInvariant(F->Callable, F->Caller, L))
      return false;
  return true;
}

bool Invariance::isInvariantVariable(const VarDecl *V, const Frame *F,
                                     const Loop &L) {
  if (!CountersMatter && isSameCounter(V, F, L))
    return !(ContentMatters &&
             torch::isTensor(V->getType().getNonReferenceType()) &&
             isContentWritten(V, L));
  if (Changes.isChanged(V, L))
    return false;
  if (ContentMatters && torch::isTensor(V->getType()) && isContentWritten(V, L))
    return false;
  if (V->hasGlobalStorage() || torch::isLibTorch(V))
    return true;
  const Frame *Owner = Supergraph::owner(F, V);
  if (!Owner) // captured from a frame that is not in the loop
    return isSameCallable(F, L);
  if (const auto *Parameter = dyn_cast<ParmVarDecl>(V)) {
    if (!Owner->Caller || !Entry.beginsIn(Owner, L))
      return true;
    // What std::bind has put there is another with each job of a queue.
    if (!isSameCallable(Owner, L))
      return false;
    const Expr *Given = Supergraph::passed(F, Parameter).Argument;
    return !Owner->Range && Given && isInvariant(Given, Owner->Caller, L);
  }
  // Declared in the loop: invariant if its initializer is.
  bool IsInside = Entry.beginsIn(Owner, L);
  if (const Stmt *Statement = Entry.loopStatement(L);
      Statement && V->getBeginLoc().isValid())
    IsInside |= Statement->getSourceRange().fullyContains(V->getSourceRange());
  for (const CreateEvent &Create : Entry.events<CreateEvent>())
    if (!IsInside && L.contains(Create.Point))
      for (PlaceId P : Create.Objects)
        IsInside |= Entry.places().variable(P) == V;
  if (!IsInside)
    return true;
  if (!V->getInit() || V->isExceptionVariable())
    return false;
  // The variable of a range-based for goes through the elements.
  if (const auto *Each =
          dyn_cast_or_null<CXXForRangeStmt>(Entry.loopStatement(L)))
    if (Each->getLoopVariable() == V)
      return false;
  return isInvariant(V->getInit(), Owner, L);
}

static bool isAccessOperator(const CallExpr *Call) {
  const auto *Operator = dyn_cast<CXXOperatorCallExpr>(Call);
  return Operator && (Operator->getOperator() == OO_Subscript ||
                      Operator->getOperator() == OO_Arrow ||
                      Operator->getOperator() == OO_Star);
}

/// A call of LibTorch whose result is the same object where its own object is:
/// the parameters of an optimizer, what a holder or an item leads to, an
/// element of a list. The elements of a tensor are new tensors.
static bool leadsToSame(const CallExpr *Call) {
  const QualType Object = ast::objectOf(Call)->getType();
  return torch::classify(Call).Kind == torch::Api::OptimizerParameters ||
         torch::leadsToContent(Call->getDirectCallee()) ||
         (isAccessOperator(Call) && !torch::isTensor(Object));
}

/// The one return statement, where no branch decides what is returned.
static const ReturnStmt *onlyReturn(const Stmt *Body) {
  const ReturnStmt *Result = nullptr;
  const bool IsInDoubt = ast::anyStmt(
      Body,
      [&](const Stmt *S) {
        if (isa<IfStmt, SwitchStmt, ForStmt, WhileStmt, DoStmt, CXXForRangeStmt,
                CXXTryStmt>(S))
          return true;
        const auto *Return = dyn_cast<ReturnStmt>(S);
        return Return && std::exchange(Result, Return) != nullptr;
      },
      ast::Lambdas::Skip);
  return IsInDoubt ? nullptr : Result;
}

/// A call that collects parameters, or leads to them: it makes no tensor, and
/// asks nobody who may say something else the next time.
static bool onlyCollects(const CallExpr *Call) {
  const FunctionDecl *Callee = Call->getDirectCallee();
  if (!Callee)
    return false;
  const Expr *Object = ast::objectOf(Call);
  // Containers and their iterators, not what draws numbers.
  if (torch::isStd(Callee))
    return torch::meaning(Callee) != torch::StdMeaning::Unknown ||
           torch::onlyComputes(Callee) || torch::pointsIntoContainer(Callee);
  return torch::isLibTorch(Callee) &&
         (torch::classify(Call).Kind == torch::Api::ModuleParameters ||
          torch::leadsToContent(Callee) ||
          (Object && torch::kindOf(Object->getType()) == TypeKind::Container) ||
          (Object && torch::isHandle(Object->getType()) &&
           torch::leadsToPointee(Callee)));
}

/// Body, of a function that returns a list of tensors, puts it together of
/// parameters that stay the same in L.
bool Invariance::isSameList(const Stmt *Body, const Frame *Inside,
                            const Loop &L) {
  return !ast::anyStmt(
      Body,
      [&](const Stmt *S) {
        if (isa<LambdaExpr, CXXNewExpr, CXXThrowExpr, CXXTryStmt>(S))
          return true;
        if (const auto *Declaration = dyn_cast<DeclStmt>(S))
          return llvm::any_of(Declaration->decls(), [](const Decl *D) {
            const auto *V = dyn_cast<VarDecl>(D);
            return !V || !V->hasLocalStorage();
          });
        if (const auto *Call = dyn_cast<CallExpr>(S))
          return !onlyCollects(Call);
        if (const auto *Construct = dyn_cast<CXXConstructExpr>(S))
          return Entry.code().functions().definition(
                     Construct->getConstructor()) != nullptr;
        if (const auto *Member = dyn_cast<MemberExpr>(S))
          return isa<FieldDecl, VarDecl>(Member->getMemberDecl()) &&
                 Changes.isChanged(Member->getMemberDecl(), L);
        const auto *Ref = dyn_cast<DeclRefExpr>(S);
        const auto *V = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
        return V && !V->hasLocalStorage() && !isInvariant(Ref, Inside, L);
      },
      ast::Lambdas::Skip);
}

bool Invariance::isInvariantCall(const CallExpr *Call, const Frame *F,
                                 const Loop &L) {
  const FunctionDecl *Callee = Call->getDirectCallee();
  const Expr *Object = ast::objectOf(Call);
  const llvm::SmallVector<const Expr *, 4> Arguments = ast::argumentsOf(Call);
  auto AllArguments = [&] {
    return llvm::all_of(Arguments, [&](const Expr *Argument) {
      return isInvariant(Argument, F, L);
    });
  };
  if (!Callee)
    return false;
  if (torch::isLibTorch(Callee)) {
    const torch::Call Kind = torch::classify(Call);
    if (Object && torch::isTensor(Object->getType()) &&
        torch::saysProperty(Callee)) {
      // The batches of a loop are on one device and of one type.
      if (torch::saysKind(Callee))
        return true;
      return isInvariant(Object, F, L) && AllArguments();
    }
    if (Kind.Kind == torch::Api::ModuleParameters)
      return !Object || isInvariant(Object, F, L);
    if (ObjectMatters)
      return Object && leadsToSame(Call) && isInvariant(Object, F, L) &&
             AllArguments();
    // What a holder leads to.
    if (Object && torch::isHandle(Object->getType()) &&
        torch::leadsToPointee(Callee))
      return isInvariant(Object, F, L);
    if (Kind.Kind == torch::Api::Operation) {
      // A pure operation on tensors that stay the same. Their content is asked
      // for by isWritten.
      if (Kind.Op->Writes != torch::operation::NoArgument ||
          Kind.Op->has(torch::operation::Random) ||
          Kind.Op->has(torch::operation::Factory) ||
          Kind.Op->has(torch::operation::LikeFactory) ||
          Kind.Op->Returns == torch::operation::Scalar)
        return false;
      return (!Object || isInvariant(Object, F, L)) && AllArguments();
    }
    // TensorOptions and what builds them; elements of LibTorch's own lists.
    const bool IsTensor = torch::mayHoldTensor(Call->getType());
    if (Kind.Kind != torch::Api::Library || IsTensor)
      return false;
    return (!Object || isInvariant(Object, F, L)) && AllArguments();
  }
  if (torch::isStd(Callee)) {
    // rand(), time(): without arguments, the result comes from hidden state.
    if (!Object && Arguments.empty())
      return false;
    if (const auto *Method = dyn_cast<CXXMethodDecl>(Callee);
        Method && !Method->isConst() && !Method->isStatic() &&
        !isAccessOperator(Call) && !torch::accessesElement(Callee))
      return false;
    return (!Object || isInvariant(Object, F, L)) && AllArguments();
  }
  // The user's: through what it returns.
  const FunctionDecl *Definition = Entry.code().functions().definition(Callee);
  const TypeKind Kind = torch::kindOf(Call->getType());
  const CXXRecordDecl *Record = torch::recordOf(Call->getType());
  const bool SaysWhere = Record && torch::isLibTorch(Record) &&
                         Kind == TypeKind::Other &&
                         !torch::mayHoldTensor(Call->getType());
  if ((Object && !isInvariant(Object, F, L)) || !AllArguments())
    return false;
  // Options or a device that another file makes.
  if (!Definition)
    return SaysWhere;
  Frame Inside;
  Inside.Id = ~0u;
  Inside.Function = Definition;
  Inside.Caller = F;
  Inside.Site = Call;
  Inside.Object = Object;
  Inside.Arguments = Arguments;
  const ReturnStmt *Return = onlyReturn(Definition->getBody());
  if (!Return || !Return->getRetValue())
    return SaysWhere || (torch::isTensor(torch::elementType(Call->getType())) &&
                         isSameList(Definition->getBody(), &Inside, L));
  return isInvariant(Return->getRetValue(), &Inside, L);
}

bool Invariance::isInvariant(const Expr *E, const Frame *F, const Loop &L) {
  struct Nesting {
    unsigned &Depth;
    explicit Nesting(unsigned &Level) : Depth(Level) { ++Depth; }
    ~Nesting() { --Depth; }
  } Guard(Depth);
  if (!E || Depth > 64)
    return false;
  E = ast::strip(E);
  if (E->isValueDependent() || E->isTypeDependent())
    return isa<DeclRefExpr>(E) &&
           isa<NonTypeTemplateParmDecl>(cast<DeclRefExpr>(E)->getDecl());
  if (const auto *Ref = dyn_cast<DeclRefExpr>(E)) {
    const ValueDecl *D = Ref->getDecl();
    if (isa<EnumConstantDecl, NonTypeTemplateParmDecl, FunctionDecl>(D))
      return true;
    if (const auto *Binding = dyn_cast<BindingDecl>(D)) {
      if (Changes.isChanged(Binding, L))
        return false;
      const auto *Whole = dyn_cast<VarDecl>(Binding->getDecomposedDecl());
      return Whole && isInvariantVariable(Whole, F, L);
    }
    const auto *V = dyn_cast<VarDecl>(D);
    return V && isInvariantVariable(V, F, L);
  }
  if (const auto *Member = dyn_cast<MemberExpr>(E)) {
    if (isa<VarDecl>(Member->getMemberDecl()))
      return !Changes.isChanged(Member->getMemberDecl(), L);
    if (ContentMatters && torch::isTensor(Member->getType()) &&
        isContentWritten(Member->getMemberDecl(), L))
      return false;
    return isa<FieldDecl>(Member->getMemberDecl()) &&
           !Changes.isChanged(Member->getMemberDecl(), L) &&
           isInvariant(Member->getBase(), F, L);
  }
  if (isa<CXXThisExpr>(E)) {
    // A lambda's this is that of the function around it.
    const Frame *Method = F;
    while (Method->Caller && Entry.code().functions().lambda(Method->Function))
      Method = Method->Caller;
    if (!Method->Caller || (Method->Id != ~0u && !Entry.beginsIn(Method, L)))
      return true;
    return Method->Object && isInvariant(Method->Object, Method->Caller, L);
  }
  if (const auto *Call = dyn_cast<CallExpr>(E)) {
    // -INFINITY, std::numeric_limits<float>::infinity()
    Expr::EvalResult Constant;
    if (E->getType()->isArithmeticType() &&
        E->EvaluateAsRValue(Constant, Entry.code().context()) &&
        !Constant.HasSideEffects)
      return true;
    return isInvariantCall(Call, F, L);
  }
  if (isa<LambdaExpr, CXXNewExpr, StmtExpr, CXXThrowExpr>(E))
    return false;
  if (const auto *Unary = dyn_cast<UnaryOperator>(E);
      Unary && Unary->isIncrementDecrementOp())
    return false;
  if (const auto *Binary = dyn_cast<BinaryOperator>(E);
      Binary && Binary->isAssignmentOp())
    return false;
  if (const auto *List = dyn_cast<CXXStdInitializerListExpr>(E))
    return isInvariant(List->getSubExpr(), F, L);
  // Literals have no children; lists, constructions and arithmetic have.
  for (const Stmt *Child : E->children()) {
    const auto *Part = dyn_cast_or_null<Expr>(Child);
    if (!Part || !isInvariant(Part, F, L))
      return false;
  }
  return true;
}

} // namespace torchtidy::model

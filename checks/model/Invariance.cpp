#include "model/Invariance.h"
#include "flow/Names.h"
#include "torch/Api.h"
#include "torch/Types.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/StmtCXX.h"
#include "llvm/ADT/StringSet.h"

using namespace clang;
using torchtidy::torch::TypeKind;

namespace torchtidy::model {

using flow::Loop;

bool Invariance::isContentWritten(const ValueDecl *D, const Loop &L) const {
  const PlaceTable &Places = Way.places();
  auto IsOf = [&](PlaceId P) {
    for (; !Places.isRoot(P); P = Places.parent(P))
      if (Places.step(P).Of == Step::Field && Places.step(P).Member == D)
        return true;
    return Places.key(P) == D;
  };
  return llvm::any_of(Way.events(), [&](const Event &E) {
    return E.Kind == EventKind::Write && (L.contains(E.Point) || E.IsPointer) &&
           llvm::any_of(E.Places, IsOf);
  });
}

bool Invariance::hasSameContent(const Expr *E, const Frame *F, const Loop &L) {
  ContentMatters = true;
  const bool Result = isInvariant(E, F, L);
  ContentMatters = false;
  return Result;
}

bool Invariance::isOuterLoop(const Loop &L) const {
  return llvm::any_of(Way.events(), [&](const Event &E) {
    const bool Works = E.Kind == EventKind::Forward ||
                       E.Kind == EventKind::Backward ||
                       E.Kind == EventKind::Step;
    return Works && L.contains(E.Point) && !Way.isInForward(E.In) &&
           Way.loopsAround(E.Point).back() != &L;
  });
}

bool Invariance::isInvariantVariable(const VarDecl *V, const Frame *F,
                                     const Loop &L) {
  if (isChanged(V, L))
    return false;
  if (ContentMatters && torch::isTensor(V->getType()) && isContentWritten(V, L))
    return false;
  if (V->hasGlobalStorage() || torch::isLibTorch(V))
    return true;
  const Frame *Owner = Supergraph::owner(F, V);
  if (!Owner)
    return true; // captured from a frame that is not in the loop
  if (const auto *Parameter = dyn_cast<ParmVarDecl>(V)) {
    if (!Owner->Caller || !Way.beginsIn(Owner, L))
      return true;
    const unsigned Index = Parameter->getFunctionScopeIndex();
    return !Owner->Range && Index < Owner->Arguments.size() &&
           Owner->Arguments[Index] &&
           isInvariant(Owner->Arguments[Index], Owner->Caller, L);
  }
  // Declared in the loop: as good as what it is made from.
  bool IsInside = Way.beginsIn(Owner, L);
  if (const Stmt *Statement = Way.loopStatement(L);
      Statement && V->getBeginLoc().isValid())
    IsInside |= Statement->getSourceRange().fullyContains(V->getSourceRange());
  for (const Event &E : Way.events())
    if (!IsInside && E.Kind == EventKind::Create && L.contains(E.Point))
      for (PlaceId P : E.Places)
        IsInside |= Way.places().isRoot(P) && Way.places().key(P) == V;
  if (!IsInside)
    return true;
  if (!V->getInit() || V->isExceptionVariable())
    return false;
  // The variable of a range-based for goes through the elements.
  if (const auto *Each =
          dyn_cast_or_null<CXXForRangeStmt>(Way.loopStatement(L)))
    if (Each->getLoopVariable() == V)
      return false;
  return isInvariant(V->getInit(), Owner, L);
}

/// Reads of a tensor that say nothing about its content.
static bool isPropertyName(StringRef Name) {
  static const llvm::StringSet<> Names = {
      "size",         "sizes",       "sym_sizes",  "dim",    "ndimension",
      "numel",        "stride",      "strides",    "device", "options",
      "dtype",        "scalar_type", "is_cuda",    "is_cpu", "layout",
      "element_size", "nbytes",      "get_device", "type",   "defined"};
  return Names.contains(Name);
}

static bool isAccessOperator(const CallExpr *Call) {
  const auto *Operator = dyn_cast<CXXOperatorCallExpr>(Call);
  return Operator && (Operator->getOperator() == OO_Subscript ||
                      Operator->getOperator() == OO_Arrow ||
                      Operator->getOperator() == OO_Star);
}

/// The one return statement, where no branch decides what is returned.
static const ReturnStmt *onlyReturn(const Stmt *Body) {
  const ReturnStmt *Result = nullptr;
  llvm::SmallVector<const Stmt *, 16> Work = {Body};
  while (!Work.empty()) {
    const Stmt *S = Work.pop_back_val();
    if (!S || isa<LambdaExpr>(S))
      continue;
    if (isa<IfStmt, SwitchStmt, ForStmt, WhileStmt, DoStmt, CXXForRangeStmt,
            CXXTryStmt>(S))
      return nullptr;
    if (const auto *Return = dyn_cast<ReturnStmt>(S)) {
      if (Result)
        return nullptr;
      Result = Return;
    }
    Work.append(S->child_begin(), S->child_end());
  }
  return Result;
}

bool Invariance::isInvariantCall(const CallExpr *Call, const Frame *F,
                                 const Loop &L) {
  const FunctionDecl *Callee = Call->getDirectCallee();
  const Expr *Object = objectOf(Call);
  const llvm::SmallVector<const Expr *, 4> Arguments = argumentsOf(Call);
  auto AllArguments = [&] {
    return llvm::all_of(Arguments, [&](const Expr *Argument) {
      return isInvariant(Argument, F, L);
    });
  };
  if (!Callee)
    return false;
  const StringRef Name = flow::nameOf(Callee);
  if (torch::isLibTorch(Callee)) {
    const torch::Call Kind = torch::classify(Call);
    if (Object && torch::isTensor(Object->getType()) && isPropertyName(Name)) {
      // The batches of a loop are on one device and of one type.
      if (Name == "device" || Name == "options" || Name == "dtype" ||
          Name == "scalar_type" || Name == "type")
        return true;
      return isInvariant(Object, F, L) && AllArguments();
    }
    if (Kind.Kind == torch::Api::ModuleParameters)
      return !Object || isInvariant(Object, F, L);
    // What a holder leads to.
    if (const auto *Operator = dyn_cast<CXXOperatorCallExpr>(Call);
        Object && torch::isHandle(Object->getType()) &&
        ((Operator && (Operator->getOperator() == OO_Arrow ||
                       Operator->getOperator() == OO_Star)) ||
         Name == "ptr" || Name == "get"))
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
    // rand(), time(): nothing goes in, so something else must.
    if (!Object && Arguments.empty())
      return false;
    if (const auto *Method = dyn_cast<CXXMethodDecl>(Callee);
        Method && !Method->isConst() && !Method->isStatic() &&
        !isAccessOperator(Call) && Name != "begin" && Name != "at" &&
        Name != "front" && Name != "back" && Name != "data" && Name != "get" &&
        Name != "value")
      return false;
    return (!Object || isInvariant(Object, F, L)) && AllArguments();
  }
  // The user's: through what it returns.
  const FunctionDecl *Definition = Way.code().functions().definition(Callee);
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
  const ReturnStmt *Return = onlyReturn(Definition->getBody());
  if (!Return || !Return->getRetValue())
    return SaysWhere;
  Frame Inside;
  Inside.Id = ~0u;
  Inside.Function = Definition;
  Inside.Caller = F;
  Inside.Site = Call;
  Inside.Object = Object;
  Inside.Arguments = Arguments;
  return isInvariant(Return->getRetValue(), &Inside, L);
}

bool Invariance::isInvariant(const Expr *E, const Frame *F, const Loop &L) {
  struct Nesting {
    unsigned &Depth;
    explicit Nesting(unsigned &Depth) : Depth(Depth) { ++Depth; }
    ~Nesting() { --Depth; }
  } Guard(Depth);
  if (!E || Depth > 64)
    return false;
  E = strip(E);
  if (E->isValueDependent() || E->isTypeDependent())
    return isa<DeclRefExpr>(E) &&
           isa<NonTypeTemplateParmDecl>(cast<DeclRefExpr>(E)->getDecl());
  if (const auto *Ref = dyn_cast<DeclRefExpr>(E)) {
    const ValueDecl *D = Ref->getDecl();
    if (isa<EnumConstantDecl, NonTypeTemplateParmDecl, FunctionDecl>(D))
      return true;
    if (const auto *Binding = dyn_cast<BindingDecl>(D)) {
      if (isChanged(Binding, L))
        return false;
      const auto *Whole = dyn_cast<VarDecl>(Binding->getDecomposedDecl());
      return Whole && isInvariantVariable(Whole, F, L);
    }
    const auto *V = dyn_cast<VarDecl>(D);
    return V && isInvariantVariable(V, F, L);
  }
  if (const auto *Member = dyn_cast<MemberExpr>(E)) {
    if (isa<VarDecl>(Member->getMemberDecl()))
      return !isChanged(Member->getMemberDecl(), L);
    if (ContentMatters && torch::isTensor(Member->getType()) &&
        isContentWritten(Member->getMemberDecl(), L))
      return false;
    return isa<FieldDecl>(Member->getMemberDecl()) &&
           !isChanged(Member->getMemberDecl(), L) &&
           isInvariant(Member->getBase(), F, L);
  }
  if (isa<CXXThisExpr>(E)) {
    // A lambda's this is that of the function around it.
    const Frame *Method = F;
    while (Method->Caller && Way.code().functions().lambda(Method->Function))
      Method = Method->Caller;
    if (!Method->Caller || (Method->Id != ~0u && !Way.beginsIn(Method, L)))
      return true;
    return Method->Object && isInvariant(Method->Object, Method->Caller, L);
  }
  if (const auto *Call = dyn_cast<CallExpr>(E))
    return isInvariantCall(Call, F, L);
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

bool Invariance::isWritten(const PlaceSet &Places, const Value &V,
                           const Loop &L, std::optional<OriginId> Copy) {
  auto SharesMemory = [&](const Value &Other) {
    return llvm::any_of(V.Memory, [&](OriginId Id) { return Other.uses(Id); });
  };
  auto Concerns = [&](const Event &E) {
    return llvm::any_of(E.Places, [&](PlaceId P) {
      return llvm::any_of(
          Places, [&](PlaceId Q) { return Way.places().overlap(P, Q); });
    });
  };
  for (const Event &E : Way.events()) {
    // A pointer that was taken before is good for writing in the loop.
    if (!L.contains(E.Point) && !E.IsPointer)
      continue;
    if (Copy && E.Kind == EventKind::Write && E.Result.uses(*Copy))
      continue;
    switch (E.Kind) {
    case EventKind::Write:
      if (Way.mayAlias(E.Places, Places) || SharesMemory(E.Result))
        return true;
      break;
    case EventKind::Step:
      if (V.History & history::Leaf)
        return true;
      break;
    case EventKind::Store:
    case EventKind::Release:
      if (Concerns(E))
        return true;
      break;
    case EventKind::Escape:
      if (SharesMemory(E.Result) || Concerns(E))
        return true;
      break;
    default:
      break;
    }
  }
  return false;
}

bool Invariance::isUnconditional(const Stmt *S, const Frame *F, const Loop &L) {
  const Stmt *Statement = Way.loopStatement(L);
  for (; F; S = F->Site, F = F->Caller) {
    if (!F->Flow || !S)
      return false;
    for (const Stmt *Child = S, *Parent = F->Flow->parent(S); Parent;
         Child = Parent, Parent = F->Flow->parent(Parent)) {
      if (Parent == Statement)
        return true;
      if (const auto *If = dyn_cast<IfStmt>(Parent))
        if (Child != If->getCond() && Child != If->getInit())
          return false;
      if (const auto *Choice = dyn_cast<AbstractConditionalOperator>(Parent))
        if (Child != Choice->getCond())
          return false;
      if (const auto *Logical = dyn_cast<BinaryOperator>(Parent))
        if (Logical->isLogicalOp() && Child == Logical->getRHS())
          return false;
      if (isa<SwitchStmt, CXXCatchStmt>(Parent))
        return false;
      if (const auto *Declaration = dyn_cast<DeclStmt>(Parent))
        for (const Decl *D : Declaration->decls())
          if (const auto *V = dyn_cast<VarDecl>(D); V && V->isStaticLocal())
            return false;
    }
    if (!Way.beginsIn(F, L))
      return true;
    if (const auto *Call = dyn_cast_or_null<CallExpr>(F->Site))
      if (torch::stdName(Call->getDirectCallee()) == "call_once")
        return false;
  }
  return true;
}

bool Invariance::canMoveBefore(const Expr *E, const Stmt *LoopStatement,
                               const Frame *F) {
  if (!E || !LoopStatement || !F->Flow || !F->Flow->isInside(E, LoopStatement))
    return false;
  llvm::SmallVector<const Stmt *, 16> Work = {E};
  while (!Work.empty()) {
    const Stmt *S = Work.pop_back_val();
    if (!S)
      continue;
    if (const auto *Ref = dyn_cast<DeclRefExpr>(S)) {
      const ValueDecl *D = Ref->getDecl();
      if (isa<VarDecl, BindingDecl>(D) &&
          LoopStatement->getSourceRange().fullyContains(D->getSourceRange()))
        return false;
    }
    Work.append(S->child_begin(), S->child_end());
  }
  return true;
}

} // namespace torchtidy::model

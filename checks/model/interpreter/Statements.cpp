#include "model/interpreter/Statements.h"
#include "ast/Expressions.h"
#include "ast/Walk.h"
#include "model/domains/loans/Transfer.h"
#include "model/semantics/Assignment.h"
#include "model/semantics/Calls.h"
#include "model/semantics/Conditions.h"
#include "model/semantics/Construction.h"
#include "model/semantics/Detaching.h"
#include "model/semantics/Foreign.h"
#include "model/semantics/GradMode.h"
#include "model/semantics/Registration.h"
#include "torch/Types.h"
#include "clang/AST/StmtCXX.h"

using namespace clang;

namespace torchtidy::model {

/// An aggregate: each member gets its own.
static Denotation aggregate(Machine &M, const InitListExpr *List,
                            const CXXRecordDecl *Class) {
  const PlaceId P = M.madeBy(List);
  M.erase(P);
  auto Field = Class->field_begin();
  for (const Expr *Init : List->inits().drop_front(
           std::min(Class->getNumBases(), List->getNumInits()))) {
    if (Field == Class->field_end())
      break;
    const PlaceId Part = M.places().field(P, *Field);
    // A hole, where the code has errors, gets nothing.
    if (Init && Field->getType()->isReferenceType())
      M.store(Part, Value::handle(M.objects(Init)));
    else if (Init)
      M.storeDenoted(Part, M.denote(Init));
    ++Field;
  }
  Denotation Result;
  Result.Objects = {P};
  return Result;
}

/// A std::array: its only member is a built-in one, which has a list of its
/// own.
static Denotation arrayOf(Machine &M, const InitListExpr *List) {
  const PlaceId P = M.madeBy(List);
  M.erase(P);
  const auto *Elements = List->getNumInits()
                             ? dyn_cast_or_null<InitListExpr>(List->getInit(0))
                             : nullptr;
  const bool IsShort = !torch::tupleTypes(List->getType()).empty();
  unsigned Number = 0;
  for (const Expr *Init : Elements ? Elements->inits() : List->inits()) {
    const PlaceId Part =
        IsShort ? M.places().index(P, Number++) : M.places().element(P);
    if (Init)
      M.storeDenoted(Part, M.denote(Init));
  }
  Denotation Result;
  Result.Objects = {P};
  return Result;
}

static Denotation visitList(Machine &M, const InitListExpr *List) {
  const CXXRecordDecl *Class = torch::recordOf(List->getType());
  if (List->getType()->isRecordType() && torch::isArray(Class))
    return arrayOf(M, List);
  if (Class && List->getType()->isRecordType() && !Class->isUnion())
    return aggregate(M, List, Class);
  Denotation Result;
  for (const Expr *Init : List->inits())
    Result.Own.join(M.deepValue(Init));
  return Result;
}

/// What it captured is in it: a callback that is kept keeps a graph.
static Denotation visitLambda(Machine &M, const LambdaExpr *Lambda) {
  Denotation Result;
  auto Init = Lambda->capture_init_begin();
  for (const LambdaCapture &Capture : Lambda->captures()) {
    const Expr *Captured = *Init++;
    if (!Captured || !Capture.capturesVariable() ||
        Capture.getCaptureKind() != LCK_ByCopy)
      continue;
    loans::shareHandle(M, Captured);
    Value V = M.deepValue(Captured);
    V.Refs.clear();
    Result.Own.join(V);
  }
  return Result;
}

static Denotation visitNew(Machine &M, const CXXNewExpr *New) {
  const PlaceId Heap = M.madeBy(New);
  loans::own(M, Heap);
  emitCreate(M, New, {Heap});
  Denotation Result;
  Result.Own = Value::handle({Heap});
  return Result;
}

/// The parts of an expression with errors whose types are known.
static llvm::SmallVector<const Expr *, 4>
visibleParts(const RecoveryExpr *Unknown) {
  llvm::SmallVector<const Expr *, 4> Result;
  auto Add = [&](const Expr *Part) {
    // x.f(a), where no f takes an a
    if (const auto *Member = dyn_cast_or_null<UnresolvedMemberExpr>(Part))
      Part = Member->isImplicitAccess() ? nullptr : Member->getBase();
    else if (const auto *Bound = dyn_cast_or_null<MemberExpr>(Part);
             Bound && isa<CXXMethodDecl>(Bound->getMemberDecl()))
      Part = Bound->getBase();
    if (Part && !Part->getType().isNull() &&
        !Part->getType()->isDependentType() &&
        !Part->getType()->isUndeducedType() &&
        !Part->getType()->isPlaceholderType())
      Result.push_back(Part);
  };
  for (Expr *Part : const_cast<RecoveryExpr *>(Unknown)->subExpressions())
    // Unknown x(a, b)
    if (auto *Arguments = dyn_cast_or_null<ParenListExpr>(Part))
      for (const Stmt *Argument : Arguments->children())
        Add(dyn_cast_or_null<Expr>(Argument));
    else
      Add(Part);
  return Result;
}

/// c ? a : b
static Denotation visitChoice(Machine &M,
                              const AbstractConditionalOperator *Choice) {
  Denotation Result, Made;
  const Expr *Unnamed = nullptr;
  for (const bool Holds : {true, false}) {
    const Expr *Arm = Holds ? Choice->getTrueExpr() : Choice->getFalseExpr();
    const std::optional<Denotation> Chosen =
        conditions::arm(M, Choice->getCond(), Holds, Arm);
    if (!Chosen)
      continue;
    Result.join(*Chosen);
    if (Chosen->Objects.empty() && Chosen->Own.History) {
      Unnamed = Arm;
      Made = *Chosen;
    }
  }
  // mixed ? lossInHalf(x) : mse_loss(x, y). Who takes the result asks the
  // objects that it names, so a tensor that is none of them becomes one.
  if (Unnamed && !Result.Objects.empty())
    insert(Result.Objects, M.temporary(Unnamed, Made));
  return Result;
}

static void visitExpression(Machine &M, const Expr *E) {
  if (const auto *Ref = dyn_cast<DeclRefExpr>(E)) {
    if (M.isRecording())
      loans::touchVariable(M, Ref);
  } else if (const auto *Unknown = dyn_cast<RecoveryExpr>(E)) {
    // What Clang could not make sense of may do anything with what it names. Of
    // a variable whose type it does not know it leaves nothing at all.
    const auto Parts = visibleParts(Unknown);
    Denotation D = foreignCall(M, E, nullptr, nullptr, Parts);
    if (Parts.empty()) {
      D.Own.History |= history::Unknown;
      D.Own.ManyOrigins = true;
    }
    M.remember(E, std::move(D));
  } else if (const auto *Call = dyn_cast<CallExpr>(E)) {
    visitCall(M, Call);
  } else if (const auto *Construct = dyn_cast<CXXConstructExpr>(E)) {
    visitConstruct(M, Construct);
  } else if (const auto *Binary = dyn_cast<BinaryOperator>(E)) {
    if (Binary->getOpcode() == BO_Assign)
      assign(M, Binary, Binary->getLHS(), Binary->getRHS());
  } else if (const auto *Choice = dyn_cast<AbstractConditionalOperator>(E)) {
    M.remember(E, visitChoice(M, Choice));
  } else if (const auto *List = dyn_cast<InitListExpr>(E)) {
    M.remember(E, visitList(M, List));
  } else if (const auto *Delete = dyn_cast<CXXDeleteExpr>(E)) {
    for (PlaceId P : M.identity(Delete->getArgument()))
      gradmode::destroy(M, P, /*Owned=*/true);
    for (PlaceId P : loans::lenders(M, Delete->getArgument()))
      loans::endMemory(M, P, EndKind::Delete, Delete);
  } else if (const auto *New = dyn_cast<CXXNewExpr>(E)) {
    M.remember(E, visitNew(M, New));
  } else if (const auto *Lambda = dyn_cast<LambdaExpr>(E)) {
    M.remember(E, visitLambda(M, Lambda));
  }
}

/// A construction has filled the place already.
static bool isFilled(Machine &M, PlaceId P, const Expr *Init) {
  const auto *Construct = dyn_cast<CXXConstructExpr>(ast::strip(Init));
  bool IsTemporary = true;
  return Construct &&
         llvm::is_contained(M.constructionTarget(Construct, IsTemporary), P) &&
         !IsTemporary;
}

PlaceSet referents(Machine &M, const Expr *E) {
  const Denotation D = M.denote(E);
  if (D.Objects.empty())
    return M.temporary(E, D);
  PlaceSet Result = D.Objects;
  // cuda ? x.cuda() : x
  if (D.Own.saysDevice()) {
    Denotation Chosen;
    Chosen.Own = M.deepValue(E);
    insert(Result, M.temporary(E, Chosen));
  }
  return Result;
}

/// P is a reference to what Init denotes.
static void bindReference(Machine &M, PlaceId P, const Expr *Init) {
  const Denotation D = M.denote(Init);
  Value Referred = Value::handle(referents(M, Init));
  Referred.Loans = D.Own.Loans;
  Referred.Dangling = D.Own.Dangling;
  M.store(P, Referred);
}

static void visitStatic(Machine &M, const VarDecl *V) {
  const Denotation D = M.denote(V->getInit());
  const PlaceId P = M.placeOf(V);
  if (D.Objects.empty())
    M.storeWeak(P, D.Own);
  for (PlaceId Object : D.Objects)
    M.storeWeak(P, M.deepLoad(Object));
  // What is const lies where it was made: nobody gives it another tensor.
  if (!V->getType().isConstQualified() || !torch::isTensor(V->getType()))
    return;
  const Value Made = M.deepValue(V->getInit());
  M.forEachWithin(P, [&](Value &Kept) {
    if (Made.saysDevice())
      Kept.setDevice(Made);
    if (Made.Rank)
      Kept.Rank = Made.Rank;
  });
}

/// An optimizer may be given what the list holds.
static void keepElements(Machine &M, const VarDecl *V) {
  if (torch::isTensor(V->getType()) || !torch::mayHoldTensor(V->getType()))
    return;
  auto Keep = [&](const Stmt *S, llvm::ArrayRef<const Stmt *>) {
    const auto *Call = dyn_cast<CallExpr>(S);
    if (!Call)
      return ast::Next::Children;
    M.keepDenotation(Call);
    return ast::Next::Past;
  };
  ast::walk(V->getInit(), Keep, ast::Lambdas::Skip);
}

static void visitVariable(Machine &M, const VarDecl *V) {
  if (V->isStaticLocal() && V->hasInit())
    return visitStatic(M, V);
  if (V->hasGlobalStorage())
    return;
  const PlaceId P = M.placeOf(V);
  const Expr *Init = V->getInit();
  const bool IsReference = V->getType()->isReferenceType();
  if (Init && IsReference) {
    M.erase(P);
    bindReference(M, P, Init);
  } else if (!Init || !isFilled(M, P, Init)) {
    const Denotation D = Init ? M.denote(Init) : Denotation();
    if (D.Objects.size() != 1 || D.Objects.front() != P) {
      M.erase(P);
      if (Init)
        M.storeDenoted(P, D);
    }
  }
  loans::own(M, P);
  if (Init)
    keepElements(M, V);
  // tuple-like bindings have variables of their own.
  if (const auto *Decomposition = dyn_cast<DecompositionDecl>(V))
    for (const BindingDecl *Binding : Decomposition->bindings())
      if (const VarDecl *Holding = Binding->getHoldingVar())
        visitVariable(M, Holding);
  if (!IsReference)
    emitCreate(M, nullptr, {P});
}

static void visitInitializer(Machine &M, const CXXCtorInitializer *Init) {
  const Expr *Source = Init->getInit();
  if (!Source || !Init->isAnyMemberInitializer())
    return;
  const FieldDecl *Field = Init->getAnyMember();
  for (PlaceId Object : M.thisObject()) {
    const PlaceId P = M.places().field(Object, Field);
    if (!isFilled(M, P, Source)) {
      M.erase(P);
      if (Field->getType()->isReferenceType())
        M.store(P, Value::handle(M.objects(Source)));
      else
        M.storeDenoted(P, M.denote(Source));
    }
    registration::keepContents(M, Source, {P});
  }
}

static void visitReturn(Machine &M, const ReturnStmt *Return) {
  const Frame *F = M.frame();
  const Expr *E = Return->getRetValue();
  const QualType Type = F->Function->getReturnType();
  if (!E || Type->isVoidType())
    return;
  const Denotation D = M.denote(E);
  // What a local variable owns moves out with it.
  if (!torch::ownsNothing(Type))
    loans::giveUp(M, M.denote(ast::stripCopies(E)).Objects);
  const PlaceId P = M.returned(F);
  if (Type->isReferenceType())
    M.storeWeak(P, Value::handle(D.Objects));
  else if (D.Objects.empty())
    M.storeWeak(P, D.Own);
  else
    for (PlaceId Object : D.Objects) {
      if (Object != P)
        M.copy(Object, P);
      M.joinChosen(P, D.Own);
    }
  if (!F->Caller)
    M.emit<EscapeEvent>(E, [&](EscapeEvent &Out) {
      Out.Places = D.Objects;
      Out.Given = M.deepValue(E);
    });
}

static void endOfLife(Machine &M, const VarDecl *V) {
  const PlaceId P = M.placeOf(V);
  // A guard on the heap ends with the pointer that owns it.
  gradmode::destroy(M, P, /*Owned=*/true);
  loans::endScope(M, V);
  // The module of a holder lives on with its copies; what nobody has a copy of
  // goes when the activation ends.
  if (!V->getType()->isReferenceType() &&
      torch::kindOf(V->getType()) != torch::TypeKind::ModuleHolder)
    M.erase(P);
}

/// S is a statement of its own, and not a part of one; no initializer of a
/// constructor.
static bool isStatement(const Stmt *S, const flow::ControlFlow *Flow) {
  if (isa<DeclStmt, ReturnStmt>(S))
    return true;
  return Flow && !Flow->isInitializer(S) && Flow->isFullExpression(S);
}

static void visitStatement(Machine &M, const Stmt *S) {
  const flow::ControlFlow *Flow = M.frame()->Flow;
  if (const auto *Declaration = dyn_cast<DeclStmt>(S)) {
    for (const Decl *D : Declaration->decls())
      if (const auto *V = dyn_cast<VarDecl>(D))
        visitVariable(M, V);
    if (Flow)
      visitLoopStart(M, Declaration, Flow->parent(Declaration));
  } else if (const auto *Return = dyn_cast<ReturnStmt>(S)) {
    visitReturn(M, Return);
  } else if (const auto *E = dyn_cast<Expr>(S)) {
    const auto *If = Flow ? dyn_cast_or_null<IfStmt>(Flow->parent(E)) : nullptr;
    if (If && If->getCond() == E)
      visitCondition(M, If);
    visitExpression(M, E);
    conditions::keepOperands(M, E);
  }
  // That of a constructor's initializer ends when the member has its value.
  if (!Flow || !Flow->isInitializer(S))
    loans::endFullExpression(M, S);
  if (isStatement(S, Flow))
    M.forgetDenotations();
}

void visitElement(Machine &M, const CFGElement &Element) {
  if (std::optional<CFGStmt> Statement = Element.getAs<CFGStmt>()) {
    visitStatement(M, Statement->getStmt());
  } else if (std::optional<CFGInitializer> Init =
                 Element.getAs<CFGInitializer>()) {
    visitInitializer(M, Init->getInitializer());
    if (const Expr *Whole =
            flow::ControlFlow::writtenInitializer(*Init->getInitializer()))
      loans::endFullExpression(M, Whole);
    M.forgetDenotations();
  } else if (std::optional<CFGAutomaticObjDtor> End =
                 Element.getAs<CFGAutomaticObjDtor>()) {
    endOfLife(M, End->getVarDecl());
  } else if (std::optional<CFGLifetimeEnds> Over =
                 Element.getAs<CFGLifetimeEnds>()) {
    loans::endScope(M, Over->getVarDecl());
  }
}

} // namespace torchtidy::model

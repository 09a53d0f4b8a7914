#include "model/Interpreter.h"
#include "torch/Types.h"
#include "clang/AST/StmtCXX.h"
#include <set>

using namespace clang;
using torchtidy::torch::TypeKind;

namespace torchtidy::model {

const Expr *objectOf(const CallExpr *Call) {
  if (const auto *Member = dyn_cast<CXXMemberCallExpr>(Call))
    return Member->getImplicitObjectArgument();
  if (const auto *Operator = dyn_cast<CXXOperatorCallExpr>(Call))
    if (isa_and_nonnull<CXXMethodDecl>(Operator->getDirectCallee()))
      return Operator->getArg(0);
  if (const auto *Dependent = dyn_cast<CXXDependentScopeMemberExpr>(
          Call->getCallee()->IgnoreParenImpCasts()))
    return Dependent->isImplicitAccess() ? nullptr : Dependent->getBase();
  return nullptr;
}

llvm::SmallVector<const Expr *, 4> argumentsOf(const CallExpr *Call) {
  llvm::SmallVector<const Expr *, 4> Arguments(Call->arg_begin(),
                                               Call->arg_end());
  if (isa<CXXOperatorCallExpr>(Call) && objectOf(Call))
    Arguments.erase(Arguments.begin());
  return Arguments;
}

State Interpreter::initialState() const {
  State Result;
  const Frame &Root = Graph.root();
  const bool IsMain = Root.Function->isMain() || Root.IsThread;
  Result.GradMode = IsMain ? mode::On : mode::Inherited;
  return Result;
}

bool Interpreter::join(State &Into, const State &From) {
  bool Changed = (Into.GradMode | From.GradMode) != Into.GradMode;
  Into.GradMode |= From.GradMode;
  // A place that one side never wrote still holds what it held at first. A loop
  // over the parameters of a network is taken to run.
  auto IsSetInLoop = [&](PlaceId P) {
    return Places.hasStep(P, Step::Parameters);
  };
  // One side may know a tuple as a whole and the other by its parts.
  auto Whole = [&](const State &Side, PlaceId P) -> std::optional<Value> {
    while (!Places.isRoot(P)) {
      const Step::Kind Kind = Places.step(P).Of;
      if (Kind == Step::Parameters || Kind == Step::Gradient)
        return std::nullopt;
      P = Places.parent(P);
      if (const Value *V = Side.find(P)) {
        if (!V->History)
          return std::nullopt;
        Value Part = *V;
        Part.Mode = 0;
        Part.Refs.clear();
        return Part;
      }
    }
    return std::nullopt;
  };
  auto JoinAbsent = [&](const State &Side, PlaceId P, Value &V) {
    if (std::optional<Value> Part = Whole(Side, P))
      return V.join(*Part);
    return isFromOutside(P) && !IsSetInLoop(P) && V.join(initial(P));
  };
  for (auto &[P, V] : Into.Places)
    if (!From.Places.count(P))
      Changed |= JoinAbsent(From, P, V);
  for (const auto &[P, V] : From.Places) {
    auto [It, Inserted] = Into.Places.try_emplace(P, V);
    if (Inserted) {
      JoinAbsent(Into, P, It->second);
      Changed = true;
    } else {
      Changed |= It->second.join(V);
    }
  }
  return Changed;
}

State Interpreter::transfer(const Segment &Current, State Before,
                            const Recorder *Recorder) {
  S = &Before;
  F = Current.In;
  Record = Recorder;
  switch (Current.Of) {
  case Segment::Enter:
    visitEnter(F);
    break;
  case Segment::Leave:
    visitLeave(F);
    break;
  case Segment::Elements:
    for (unsigned I = Current.Begin; I < Current.End; ++I)
      visit((*Current.Block)[I]);
    break;
  }
  S = nullptr;
  return Before;
}

void Interpreter::visit(const CFGElement &Element) {
  if (std::optional<CFGStmt> Statement = Element.getAs<CFGStmt>()) {
    visitStmt(Statement->getStmt());
    endFullExpression(Statement->getStmt());
  }
  else if (std::optional<CFGInitializer> Init = Element.getAs<CFGInitializer>())
    visitInitializer(Init->getInitializer());
  else if (std::optional<CFGAutomaticObjDtor> End =
               Element.getAs<CFGAutomaticObjDtor>())
    endOfLife(End->getVarDecl());
  else if (std::optional<CFGLifetimeEnds> End =
               Element.getAs<CFGLifetimeEnds>())
    endScope(End->getVarDecl());
}

void Interpreter::visitStmt(const Stmt *Statement) {
  if (const auto *Declaration = dyn_cast<DeclStmt>(Statement)) {
    for (const Decl *D : Declaration->decls())
      if (const auto *V = dyn_cast<VarDecl>(D))
        visitDecl(V);
    if (F->Flow)
      visitLoopStart(Declaration, F->Flow->parent(Declaration));
    return;
  }
  if (const auto *Return = dyn_cast<ReturnStmt>(Statement))
    return visitReturn(Return);
  const auto *E = dyn_cast<Expr>(Statement);
  if (!E)
    return;
  if (const auto *Ref = dyn_cast<DeclRefExpr>(E); Ref && Record && hasLoans())
    touchVariable(Ref);
  if (const auto *If =
          F->Flow ? dyn_cast_or_null<IfStmt>(F->Flow->parent(E)) : nullptr;
      If && If->getCond() == E)
    visitCondition(If);
  if (const auto *Call = dyn_cast<CallExpr>(E))
    return visitCall(Call);
  if (const auto *Construct = dyn_cast<CXXConstructExpr>(E))
    return visitConstruct(Construct);
  if (const auto *Binary = dyn_cast<BinaryOperator>(E)) {
    if (Binary->getOpcode() == BO_Assign)
      assign(Binary, Binary->getLHS(), Binary->getRHS());
    return;
  }
  if (const auto *Choice = dyn_cast<AbstractConditionalOperator>(E)) {
    Denotation D = denote(Choice->getTrueExpr());
    D.join(denote(Choice->getFalseExpr()));
    return remember(E, std::move(D));
  }
  if (const auto *List = dyn_cast<InitListExpr>(E)) {
    Denotation D;
    const CXXRecordDecl *Record = torch::recordOf(List->getType());
    if (Record && List->getType()->isRecordType() && !Record->isUnion()) {
      // An aggregate: each member gets its own.
      PlaceId P = Places.root(Root::Object, F->Id, List);
      erase(P);
      auto Field = Record->field_begin();
      unsigned Bases = Record->getNumBases();
      for (const Expr *Init : List->inits()) {
        if (Bases > 0) {
          --Bases;
          continue;
        }
        if (Field == Record->field_end())
          break;
        PlaceId Part = Places.field(P, *Field);
        if (!Init) {
          // A hole, where the code has errors.
        } else if (Field->getType()->isReferenceType()) {
          store(Part, Value::handle(objects(Init)));
        } else {
          Denotation Each = denote(Init);
          for (PlaceId Object : Each.Objects)
            copy(Object, Part);
          if (Each.Objects.empty())
            store(Part, Each.Own);
        }
        ++Field;
      }
      D.Objects = {P};
      return remember(E, std::move(D));
    }
    for (const Expr *Init : List->inits()) {
      Value V = deepValue(Init);
      D.Own.join(V);
    }
    return remember(E, std::move(D));
  }
  if (const auto *Delete = dyn_cast<CXXDeleteExpr>(E)) {
    if (hasLoans())
      for (PlaceId P : lenders(Delete->getArgument()))
        endMemory(P, EndKind::Delete, Delete);
    return;
  }
  if (const auto *New = dyn_cast<CXXNewExpr>(E)) {
    PlaceId Heap = Places.root(Root::Object, F->Id, New);
    Denotation D;
    D.Own = Value::handle({Heap});
    Event Created;
    Created.Kind = EventKind::Create;
    Created.Site = New;
    Created.Places = {Heap};
    emit(std::move(Created));
    return remember(E, std::move(D));
  }
  if (const auto *Lambda = dyn_cast<LambdaExpr>(E)) {
    // What it captured is in it: a callback that is kept keeps a graph.
    Denotation D;
    auto Init = Lambda->capture_init_begin();
    for (const LambdaCapture &Capture : Lambda->captures()) {
      const Expr *Captured = *Init++;
      if (Captured && Capture.capturesVariable() &&
          Capture.getCaptureKind() == LCK_ByCopy) {
        shareHandle(Captured);
        Value V = deepValue(Captured);
        V.Refs.clear();
        D.Own.join(V);
      }
    }
    return remember(E, std::move(D));
  }
}

void Interpreter::visitDecl(const VarDecl *V) {
  if (V->isStaticLocal() && V->hasInit()) {
    Denotation D = denote(V->getInit());
    PlaceId P = placeOf(V);
    if (!D.Objects.empty())
      for (PlaceId Object : D.Objects)
        storeWeak(P, deepLoad(Object));
    else
      storeWeak(P, D.Own);
    return;
  }
  if (V->hasGlobalStorage())
    return;
  const PlaceId P = placeOf(V);
  const Expr *Init = V->getInit();
  const QualType Type = V->getType();
  const bool IsReference = Type->isReferenceType();
  // A construction has filled the variable already.
  bool IsTemporary = true;
  PlaceSet Target;
  if (Init && !IsReference)
    if (const auto *Construct = dyn_cast<CXXConstructExpr>(strip(Init)))
      Target = constructionTarget(Construct, IsTemporary);
  Denotation D;
  if (Init)
    D = denote(Init);
  const bool IsFilled =
      (!IsTemporary && Target.size() == 1 && Target[0] == P) ||
      (!IsReference && D.Objects.size() == 1 && D.Objects.front() == P);
  if (!IsFilled)
    erase(P);
  if (Init && !IsFilled) {
    if (IsReference) {
      Value Referred =
          Value::handle(D.Objects.empty() ? temporary(Init, D) : D.Objects);
      Referred.Loans = D.Own.Loans;
      Referred.Dangling = D.Own.Dangling;
      store(P, Referred);
    } else if (!D.Objects.empty()) {
      for (PlaceId Object : D.Objects)
        copy(Object, P);
    } else {
      store(P, D.Own);
    }
  }
  // tuple-like bindings have variables of their own.
  if (const auto *Decomposition = dyn_cast<DecompositionDecl>(V))
    for (const BindingDecl *Binding : Decomposition->bindings())
      if (const VarDecl *Holding = Binding->getHoldingVar())
        visitDecl(Holding);
  if (!IsReference) {
    Event E;
    E.Kind = EventKind::Create;
    E.Places = {P};
    emit(std::move(E));
  }
}

void Interpreter::visitInitializer(const CXXCtorInitializer *Init) {
  if (!Init->getInit())
    return;
  const Expr *Source = Init->getInit();
  if (!Init->isAnyMemberInitializer())
    return;
  const FieldDecl *Field = Init->getAnyMember();
  for (PlaceId Object : thisObject()) {
    PlaceId P = Places.field(Object, Field);
    bool IsTemporary = true;
    PlaceSet Target;
    if (const auto *Construct = dyn_cast<CXXConstructExpr>(strip(Source)))
      Target = constructionTarget(Construct, IsTemporary);
    if (!IsTemporary && llvm::is_contained(Target, P))
      continue;
    erase(P);
    Denotation D = denote(Source);
    if (Field->getType()->isReferenceType()) {
      store(P, Value::handle(D.Objects.empty() ? temporary(Source, D)
                                               : D.Objects));
    } else if (!D.Objects.empty()) {
      for (PlaceId From : D.Objects)
        copy(From, P);
    } else {
      store(P, D.Own);
    }
  }
}

void Interpreter::visitReturn(const ReturnStmt *Return) {
  const Expr *E = Return->getRetValue();
  if (!E || F->Function->getReturnType()->isVoidType())
    return;
  Denotation D = denote(E);
  // What a local variable owns moves out with it.
  if (!torch::isWindow(F->Function->getReturnType()))
    giveUp(denote(stripCopies(E)).Objects);
  PlaceId P = returned(F);
  if (F->Function->getReturnType()->isReferenceType()) {
    Value V = Value::handle(D.Objects);
    storeWeak(P, V);
  } else if (!D.Objects.empty()) {
    for (PlaceId Object : D.Objects)
      if (Object != P)
        copy(Object, P);
  } else {
    storeWeak(P, D.Own);
  }
  if (!F->Caller) {
    Event Out;
    Out.Kind = EventKind::Escape;
    Out.Site = E;
    Out.Result = deepValue(E);
    Out.Places = D.Objects;
    emit(std::move(Out));
  }
}

void Interpreter::endOfLife(const VarDecl *V) {
  PlaceId P = placeOf(V);
  restoreGuards(P);
  endScope(V);
  // A guard on the heap ends with the pointer that owns it.
  if (const Value *Held = S->find(P))
    for (PlaceId Target : PlaceSet(Held->Refs))
      if (Places.rootKind(Target) == Root::Object)
        restoreGuards(Target);
  if (!V->getType()->isReferenceType())
    erase(P);
}

void Interpreter::enterGuard(PlaceId Guard, uint8_t Mode, bool IsInference) {
  Value Saved;
  Saved.Mode = S->GradMode;
  store(Guard, Saved);
  // Only InferenceMode(false) ends InferenceMode.
  if ((S->GradMode & mode::Inference) && !IsInference)
    Mode = mode::Off | mode::Inference;
  S->GradMode = Mode;
}

void Interpreter::restoreGuards(PlaceId P) {
  const QualType Type =
      Places.isRoot(P) && Places.rootKind(P) == Root::Local
          ? static_cast<const VarDecl *>(Places.key(P))->getType()
          : QualType();
  // Modules keep their own mode in the same slot.
  if (!Type.isNull() && torch::isModule(Type))
    return;
  if (const Value *V = S->find(P))
    if (V->Mode && V->History == 0)
      S->GradMode = V->Mode;
  for (PlaceId Child : Places.children(P))
    if (Places.step(Child).Of != Step::Field ||
        !torch::isModule(Places.step(Child).Member->getType()))
      restoreGuards(Child);
}

OriginId Interpreter::origin(Origin::Kind Kind, const Expr *Site) {
  auto [It, Inserted] = OriginIds.try_emplace(
      {{F->Id, static_cast<unsigned>(Kind)}, Site}, Origins.size());
  if (Inserted)
    Origins.push_back({Kind, F, Site});
  return It->second;
}

void Interpreter::emit(Event E) {
  if (!Record)
    return;
  E.In = F;
  E.GradMode = S->GradMode;
  (*Record)(std::move(E));
}

bool Interpreter::literalBool(const Expr *E, bool Default,
                              bool &IsKnown) const {
  IsKnown = true;
  if (!E || isa<CXXDefaultArgExpr>(E))
    return Default;
  // std::optional<bool>(true)
  const Expr *Inner = stripCopies(E);
  if (const auto *Literal = dyn_cast<CXXBoolLiteralExpr>(Inner))
    return Literal->getValue();
  if (const auto *Literal = dyn_cast<IntegerLiteral>(Inner))
    return Literal->getValue() != 0;
  IsKnown = false;
  return Default;
}

} // namespace torchtidy::model

#include "queries/devices/NumberFate.h"
#include "ast/Expressions.h"
#include "ast/Walk.h"
#include "queries/loops/Loops.h"
#include "torch/Api.h"
#include "torch/Elements.h"
#include "torch/Std.h"
#include "torch/Types.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/StmtCXX.h"

using namespace clang;
using torchtidy::torch::StdMeaning;

namespace torchtidy::model {

/// So far is a number followed.
static constexpr unsigned MaxDepth = 64;

/// Throws, or calls what never returns.
static bool ends(const Stmt *S) {
  return S && ast::anyStmt(
                  S,
                  [](const Stmt *Part) {
                    const auto *Call = dyn_cast<CallExpr>(Part);
                    const FunctionDecl *F =
                        Call ? Call->getDirectCallee() : nullptr;
                    return isa<CXXThrowExpr>(Part) || (F && F->isNoReturn());
                  },
                  ast::Lambdas::Skip);
}

/// if (!ok) throw ..., and what assert(), TORCH_CHECK and CHECK expand to: the
/// number is wanted only to complain.
static bool isAssertion(const Stmt *Branch) {
  if (const auto *If = dyn_cast<IfStmt>(Branch)) {
    const Stmt *Then = If->getThen(), *Else = If->getElse();
    return (ends(Then) && !Else) || (isa<NullStmt>(Then) && ends(Else)) ||
           (If->getBeginLoc().isMacroID() && isa<NullStmt>(Then));
  }
  // ok ? (void)0 : complain()
  const auto IsNothing = [](const Expr *Side) {
    return isa<IntegerLiteral>(Side->IgnoreParenCasts());
  };
  const auto *Choice = cast<ConditionalOperator>(Branch);
  return IsNothing(Choice->getTrueExpr()) || IsNothing(Choice->getFalseExpr());
}

/// A text, a duration, a list of numbers.
static bool isPlainStd(QualType Type) {
  const CXXRecordDecl *Class = torch::recordOf(Type);
  return Class && torch::isStd(Class) && !torch::mayHoldTensor(Type);
}

/// What a call returns is a number again, or such an object.
static bool isNumber(QualType Type) {
  Type = Type.getNonReferenceType();
  return Type->isArithmeticType() || isPlainStd(Type);
}

static bool isObject(const Stmt *Child, const CallExpr *Call) {
  const Expr *Object = ast::objectOf(Call);
  return Child == Call->getCallee() ||
         (Object && ast::strip(Object) == ast::strip(cast<Expr>(Child)));
}

bool NumberFate::isOnlyRecorded(const Expr *E, const Frame *F) {
  Seen.clear();
  Depth = 0;
  return F->Flow && follow(E, {F->Flow, F, nullptr, nullptr});
}

bool NumberFate::follow(const Stmt *E, const Context &In) {
  if (Depth >= MaxDepth)
    return false;
  ++Depth;
  std::optional<bool> Result;
  for (const Stmt *S = E; !Result;) {
    const Stmt *Parent = In.Flow->parent(S);
    if (!Parent)
      Result = false;
    else
      Result = stepOut(S, Parent, In);
    S = Parent;
  }
  --Depth;
  return *Result;
}

std::optional<bool> NumberFate::stepOut(const Stmt *Child, const Stmt *Parent,
                                        const Context &In) {
  if (!isa<Expr>(Parent))
    return intoStatement(Child, Parent, In);
  if (isa<ParenExpr, CastExpr, MaterializeTemporaryExpr, CXXBindTemporaryExpr,
          ExprWithCleanups, ConstantExpr, MemberExpr, InitListExpr,
          CXXStdInitializerListExpr>(Parent))
    return std::nullopt;
  if (const auto *Unary = dyn_cast<UnaryOperator>(Parent))
    return Unary->getOpcode() == UO_AddrOf ? std::optional(false)
                                           : std::nullopt;
  if (const auto *Binary = dyn_cast<BinaryOperator>(Parent))
    return intoBinary(Child, Binary, In);
  if (const auto *Choice = dyn_cast<ConditionalOperator>(Parent)) {
    if (Child != Choice->getCond() || !Choice->getType()->isVoidType())
      return std::nullopt;
    return isAssertion(Choice);
  }
  if (const auto *Call = dyn_cast<CallExpr>(Parent))
    return intoCall(Child, Call, In);
  if (const auto *Construct = dyn_cast<CXXConstructExpr>(Parent))
    return intoConstruction(Child, Construct);
  if (const auto *Element = dyn_cast<ArraySubscriptExpr>(Parent))
    return Child == Element->getBase() ? std::nullopt : std::optional(false);
  return isa<CXXThrowExpr>(Parent);
}

std::optional<bool> NumberFate::intoStatement(const Stmt *Child,
                                              const Stmt *Parent,
                                              const Context &In) {
  if (const auto *If = dyn_cast<IfStmt>(Parent))
    return Child != If->getCond() || isAssertion(If);
  if (const auto *While = dyn_cast<WhileStmt>(Parent))
    return Child != While->getCond();
  if (const auto *Do = dyn_cast<DoStmt>(Parent))
    return Child != Do->getCond();
  if (const auto *For = dyn_cast<ForStmt>(Parent))
    return Child != For->getCond();
  if (isa<ReturnStmt>(Parent))
    return returned(Parent, In);
  if (const auto *Declaration = dyn_cast<DeclStmt>(Parent)) {
    for (const Decl *D : Declaration->decls())
      if (const auto *V = dyn_cast<VarDecl>(D);
          V && V->getInit() &&
          (V->getInit() == Child || Declaration->isSingleDecl()))
        return keptIn(V, In);
    return false;
  }
  return isa<CompoundStmt, LabelStmt, CaseStmt, DefaultStmt, AttributedStmt,
             CXXForRangeStmt>(Parent);
}

std::optional<bool> NumberFate::intoBinary(const Stmt *Child,
                                           const BinaryOperator *Parent,
                                           const Context &In) {
  if (Parent->getOpcode() == BO_Comma && Child == Parent->getLHS())
    return true;
  if (!Parent->isAssignmentOp())
    return std::nullopt;
  // What is assigned to does not read; += only adds to itself.
  if (Child == Parent->getLHS())
    return true;
  return keptIn(Parent->getLHS(), In) ? std::nullopt : std::optional(false);
}

/// A timer that is given the sum that it is to add to.
std::optional<bool> NumberFate::intoConstruction(const Stmt *Child,
                                                 const CXXConstructExpr *Made) {
  const CXXConstructorDecl *Callee = Made->getConstructor();
  if (isPlainStd(Made->getType()) || Callee->isCopyOrMoveConstructor())
    return std::nullopt;
  const auto *Definition = dyn_cast_or_null<CXXConstructorDecl>(
      Entry.code().functions().definition(Callee));
  const flow::ControlFlow *Flow =
      Definition ? Entry.code().controlFlow(Definition) : nullptr;
  const auto Argument = llvm::find(Made->arguments(), Child);
  const unsigned I = Argument - Made->arg_begin();
  if (!Flow || I >= Definition->getNumParams())
    return false;
  const ParmVarDecl *Parameter = Definition->getParamDecl(I);
  for (const CXXCtorInitializer *Init : Definition->inits()) {
    const auto Names = [&](const Stmt *S) {
      const auto *Ref = dyn_cast<DeclRefExpr>(S);
      return Ref && Ref->getDecl() == Parameter;
    };
    if (!ast::anyStmt(Init->getInit(), Names, ast::Lambdas::Enter))
      continue;
    if (!Init->isMemberInitializer() || !Names(ast::strip(Init->getInit())) ||
        !keptIn(Init->getMember(), {Flow, nullptr, nullptr, nullptr}))
      return false;
  }
  return mentionsIn(*Flow, Parameter, {Flow, nullptr, nullptr, nullptr});
}

std::optional<bool> NumberFate::intoCall(const Stmt *Child,
                                         const CallExpr *Call,
                                         const Context &In) {
  const FunctionDecl *Callee = Call->getDirectCallee();
  if (!Callee)
    return false;
  if (torch::printsText(Call))
    return true;
  if (torch::isLibTorch(Callee)) {
    // x.item().toFloat(), x.cpu().sum(); what else gets it computes with it.
    if (isObject(Child, Call) && !Call->getType()->isPointerType())
      return Call->getType()->isVoidType() ? std::optional(true) : std::nullopt;
    return isNumber(Call->getType()) ? std::nullopt : std::optional(false);
  }
  if (torch::isStd(Callee))
    return intoStd(Child, Call, In);
  if (const FunctionDecl *Definition =
          In.F ? Entry.code().functions().definition(Callee) : nullptr)
    return intoUsers(Child, Call, Definition, In);
  // sqrt() of the C library; a text that is made of it.
  const bool IsSystem =
      Entry.code().context().getSourceManager().isInSystemHeader(
          Callee->getLocation());
  const bool Computes = Callee->getBuiltinID() || IsSystem
                            ? isNumber(Call->getType())
                            : isPlainStd(Call->getType());
  return Computes ? std::nullopt : std::optional(false);
}

std::optional<bool> NumberFate::intoStd(const Stmt *Child, const CallExpr *Call,
                                        const Context &In) {
  const FunctionDecl *Callee = Call->getDirectCallee();
  const auto *Method = dyn_cast<CXXMethodDecl>(Callee);
  const StdMeaning Means = torch::meaning(Callee);
  if (const auto *Operator = dyn_cast<CXXOperatorCallExpr>(Call);
      Operator && Operator->isAssignmentOp()) {
    if (isObject(Child, Call) || Child == Operator->getArg(0))
      return true;
    return keptIn(Operator->getArg(0), In) ? std::nullopt
                                           : std::optional(false);
  }
  if (isObject(Child, Call)) {
    // losses.push_back(), losses.size(); but not time.count().
    const bool IsContainer = torch::kindOf(ast::objectOf(Call)->getType()) ==
                             torch::TypeKind::Container;
    if (Method && IsContainer &&
        (Means == StdMeaning::Append || Means == StdMeaning::Clear ||
         Means == StdMeaning::Reserve || Means == StdMeaning::Nothing ||
         Means == StdMeaning::Resize || Means == StdMeaning::Remove))
      return true;
    return Call->getType()->isVoidType() ? std::optional(false) : std::nullopt;
  }
  if (Method && Means == StdMeaning::Append)
    return keptIn(ast::objectOf(Call), In);
  // losses[i] with the number as the index chooses by it.
  if (Means == StdMeaning::Element)
    return false;
  return Call->getType()->isVoidType() ? std::optional(false) : std::nullopt;
}

std::optional<bool> NumberFate::intoUsers(const Stmt *Child,
                                          const CallExpr *Call,
                                          const FunctionDecl *Definition,
                                          const Context &In) {
  if (isObject(Child, Call))
    return false;
  const auto Arguments = ast::argumentsOf(Call);
  const flow::ControlFlow *Flow = Entry.code().controlFlow(Definition);
  for (unsigned I = 0; I < Arguments.size(); ++I) {
    if (Arguments[I] != Child &&
        ast::strip(Arguments[I]) != ast::strip(cast<Expr>(Child)))
      continue;
    if (!Flow || I >= Definition->getNumParams())
      return false;
    const Context Callee{Flow, Entry.graph().expansion(In.F, Call), &In, Call};
    return keptIn(Definition->getParamDecl(I), Callee);
  }
  return false;
}

bool NumberFate::returned(const Stmt *Return, const Context &In) {
  for (const Stmt *S = Return; S; S = In.Flow->parent(S))
    if (isa<LambdaExpr>(S))
      return false;
  if (In.Caller)
    return follow(In.Site, *In.Caller);
  if (!In.F)
    return returnedToAll(In.Flow->function());
  const auto *Site = dyn_cast_or_null<Expr>(In.F->Site);
  if (!In.F->Caller || (L && !Entry.beginsIn(In.F, *L)))
    return true;
  return Site && In.F->Caller->Flow &&
         follow(Site, {In.F->Caller->Flow, In.F->Caller, nullptr, nullptr});
}

/// What every call of F in the file does with it. A call that is not seen, by
/// way of an overrider or of a pointer to it, may need it.
bool NumberFate::returnedToAll(const FunctionDecl *F) {
  const auto *Method = dyn_cast<CXXMethodDecl>(F);
  if (Method && (Method->isVirtual() || Method->getParent()->isLambda()))
    return false;
  if (!Seen.insert(F).second)
    return true;
  const flow::UserFunctions &Functions = Entry.code().functions();
  const auto IsF = [&](const ValueDecl *Named) {
    const auto *Other = dyn_cast_or_null<FunctionDecl>(Named);
    return Other && Functions.definition(Other) == F;
  };
  bool IsRead = false, Result = true;
  for (const FunctionDecl *Caller : Functions.all()) {
    const flow::ControlFlow *Flow = Entry.code().controlFlow(Caller);
    if (!Flow)
      return false;
    llvm::SmallPtrSet<const Stmt *, 4> Called;
    ast::forEachStmt(
        Caller->getBody(),
        [&](const Stmt *S) {
          const auto *Call = dyn_cast<CallExpr>(S);
          if (Call && IsF(Call->getDirectCallee())) {
            IsRead = true;
            Called.insert(Call->getCallee()->IgnoreParenImpCasts());
            Result =
                Result && (isElsewhere(Call, *Flow) ||
                           follow(Call, {Flow, nullptr, nullptr, nullptr}));
          }
          const auto *Ref = dyn_cast<DeclRefExpr>(S);
          if (Ref && IsF(Ref->getDecl()) && !Called.count(Ref))
            Result = false;
        },
        ast::Lambdas::Enter);
  }
  return IsRead && Result;
}

bool NumberFate::keptIn(const Expr *Target, const Context &In) {
  Target = Target ? ast::strip(Target) : nullptr;
  if (!Target)
    return false;
  if (const auto *Ref = dyn_cast<DeclRefExpr>(Target))
    return keptIn(Ref->getDecl(), In);
  if (const auto *Member = dyn_cast<MemberExpr>(Target))
    return keptIn(Member->getMemberDecl(), In);
  if (const auto *Element = dyn_cast<ArraySubscriptExpr>(Target))
    return keptIn(Element->getBase(), In);
  // losses[i], losses.back()
  const auto *Call = dyn_cast<CallExpr>(Target);
  return Call && torch::isStd(Call->getDirectCallee()) &&
         keptIn(ast::objectOf(Call), In);
}

bool NumberFate::keptIn(const ValueDecl *D, const Context &In) {
  if (!Seen.insert(D).second)
    return true;
  // What a reference leads to is the caller's.
  if (const auto *Parameter = dyn_cast<ParmVarDecl>(D);
      Parameter && D->getType()->isReferenceType() &&
      !D->getType().getNonReferenceType().isConstQualified() && !In.Caller) {
    const Supergraph::Passed Given =
        In.F ? Supergraph::passed(In.F, Parameter) : Supergraph::Passed();
    if (Given.Argument && Given.To->Caller->Flow &&
        !keptIn(Given.Argument,
                {Given.To->Caller->Flow, Given.To->Caller, nullptr, nullptr}))
      return false;
  }
  const auto *Member = dyn_cast<FieldDecl>(D);
  if (Member && Member->getType()->isReferenceType() &&
      !keptInReferenced(Member, In))
    return false;
  const auto *V = dyn_cast<VarDecl>(D);
  if (const auto *Split = dyn_cast_or_null<DecompositionDecl>(V))
    return llvm::all_of(Split->bindings(), [&](const BindingDecl *Each) {
      return mentionsIn(*In.Flow, Each, In);
    });
  if (V && V->isLocalVarDeclOrParm()) {
    const Frame *Owner = In.F ? Supergraph::owner(In.F, V) : nullptr;
    if (!Owner || Owner == In.F)
      return mentionsIn(*In.Flow, D, In);
    return Owner->Flow &&
           mentionsIn(*Owner->Flow, D, {Owner->Flow, Owner, nullptr, nullptr});
  }
  if (!V && !isa<FieldDecl>(D))
    return false;
  // Whoever reads the member, or the global variable.
  return llvm::all_of(
      Entry.code().functions().all(), [&](const FunctionDecl *F) {
        const flow::ControlFlow *Flow =
            F == In.Flow->function() ? In.Flow : Entry.code().controlFlow(F);
        if (!Flow)
          return false;
        if (Flow == In.Flow)
          return mentionsIn(*Flow, D, In);
        return mentionsIn(*Flow, D, {Flow, nullptr, nullptr, nullptr});
      });
}

/// What a member of a timer refers to that ends here: what its constructor was
/// given.
bool NumberFate::keptInReferenced(const FieldDecl *Member, const Context &In) {
  const VarDecl *Timer = In.F ? In.F->Destroyed : nullptr;
  if (!Timer)
    return true;
  const auto *Made = dyn_cast_or_null<CXXConstructExpr>(
      Timer->getInit() ? ast::strip(Timer->getInit()) : nullptr);
  const auto *Maker = dyn_cast_or_null<CXXConstructorDecl>(
      Made ? Entry.code().functions().definition(Made->getConstructor())
           : nullptr);
  const Frame *Around = In.F->Caller;
  if (!Maker || !Around || !Around->Flow)
    return false;
  for (const CXXCtorInitializer *Init : Maker->inits()) {
    if (!Init->isMemberInitializer() || Init->getMember() != Member)
      continue;
    const auto *Ref = dyn_cast<DeclRefExpr>(ast::strip(Init->getInit()));
    const auto *Parameter =
        Ref ? dyn_cast<ParmVarDecl>(Ref->getDecl()) : nullptr;
    const unsigned I = Parameter ? Parameter->getFunctionScopeIndex() : ~0u;
    return I < Made->getNumArgs() &&
           keptIn(Made->getArg(I), {Around->Flow, Around, nullptr, nullptr});
  }
  return false;
}

bool NumberFate::mentionsIn(const flow::ControlFlow &Flow, const ValueDecl *D,
                            const Context &In) {
  bool Result = true;
  ast::forEachStmt(
      Flow.function()->getBody(),
      [&](const Stmt *S) {
        const auto *Ref = dyn_cast<DeclRefExpr>(S);
        const auto *Member = dyn_cast<MemberExpr>(S);
        const ValueDecl *Named = Ref      ? Ref->getDecl()
                                 : Member ? Member->getMemberDecl()
                                          : nullptr;
        if (Result && Named == D && !isElsewhere(S, Flow))
          Result = follow(S, In);
      },
      ast::Lambdas::Enter);
  return Result;
}

bool NumberFate::isElsewhere(const Stmt *S,
                             const flow::ControlFlow &Flow) const {
  const Stmt *Around = L ? Entry.loopStatement(*L) : nullptr;
  if (!Around)
    return false;
  if (Flow.isInside(Around, Flow.function()->getBody()) &&
      !Flow.isInside(S, Around))
    return true;
  for (const Stmt *Child = S, *P = Flow.parent(S); P && P != Around;
       Child = P, P = Flow.parent(P)) {
    const auto *If = dyn_cast<IfStmt>(P);
    if (If && Child != If->getCond() && isOccasional(If->getCond()))
      return true;
  }
  return false;
}

} // namespace torchtidy::model

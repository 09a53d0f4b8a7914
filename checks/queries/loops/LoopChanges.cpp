#include "queries/loops/LoopChanges.h"
#include "ast/Expressions.h"
#include "ast/Walk.h"
#include "torch/Api.h"
#include "torch/Members.h"
#include "torch/Std.h"
#include "torch/Types.h"
#include "clang/AST/ExprCXX.h"

using namespace clang;

namespace torchtidy::model {

using flow::Loop;

/// What Clang writes for a range-based for: __range, __begin.
static const VarDecl *impliedVariable(const Expr *E) {
  const auto *Ref = E ? dyn_cast<DeclRefExpr>(ast::strip(E)) : nullptr;
  const auto *V = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
  return V && V->isImplicit() ? V : nullptr;
}

/// What a reference stands for; of an element of a range, *__begin, the range.
static const Expr *boundTo(const ValueDecl *D) {
  if (const auto *Binding = dyn_cast<BindingDecl>(D))
    D = Binding->getDecomposedDecl();
  const auto *V = dyn_cast_or_null<VarDecl>(D);
  if (!V || !V->getInit() || !V->getType()->isReferenceType() ||
      isa<ParmVarDecl>(V))
    return nullptr;
  const Expr *Init = ast::strip(V->getInit());
  const Expr *Iterator = nullptr;
  if (const auto *Unary = dyn_cast<UnaryOperator>(Init))
    Iterator = Unary->getSubExpr();
  else if (const auto *Call = dyn_cast<CXXOperatorCallExpr>(Init))
    Iterator = Call->getArg(0);
  const VarDecl *Begin = impliedVariable(Iterator);
  return Begin ? Begin->getInit() : Init;
}

/// The variable or the member that E names, through elements and tuples: what
/// an assignment to E changes.
static void addTarget(const Expr *E,
                      llvm::DenseSet<const ValueDecl *> &Changed) {
  while (E) {
    E = ast::strip(E);
    if (const auto *Ref = dyn_cast<DeclRefExpr>(E)) {
      if (!Changed.insert(Ref->getDecl()).second)
        return;
      E = boundTo(Ref->getDecl());
    } else if (const auto *Member = dyn_cast<MemberExpr>(E)) {
      Changed.insert(Member->getMemberDecl());
      return;
    } else if (const auto *Subscript = dyn_cast<ArraySubscriptExpr>(E)) {
      E = Subscript->getBase();
    } else if (const auto *Unary = dyn_cast<UnaryOperator>(E)) {
      E = Unary->getSubExpr();
    } else if (const auto *Call = dyn_cast<CallExpr>(E)) {
      if (const CallExpr *Tie = torch::asTie(Call)) {
        for (const Expr *Argument : Tie->arguments())
          addTarget(Argument, Changed);
        return;
      }
      const Expr *Object = ast::objectOf(Call);
      E = Object                    ? Object
          : Call->getNumArgs() == 1 ? Call->getArg(0) // std::get
                                    : nullptr;
      // x[i] = y writes x; the handle itself stays.
      if (E && torch::isTensor(E->getType()) && Object)
        return;
    } else {
      return;
    }
  }
}

/// T&&: passes on what it is given.
static bool isForwarding(const FunctionDecl *Callee, unsigned Parameter) {
  const FunctionDecl *Pattern = Callee->getTemplateInstantiationPattern();
  if (!Pattern)
    return false;
  // A pack of the pattern stands for all that follow it.
  const unsigned Last = Pattern->getNumParams();
  if (Last == 0)
    return false;
  const ParmVarDecl *P = Pattern->getParamDecl(std::min(Parameter, Last - 1));
  QualType Type = P->getType();
  if (const auto *Pack = Type->getAs<PackExpansionType>())
    Type = Pack->getPattern();
  return Type->isRValueReferenceType() && Type->isDependentType();
}

/// F names its parameter P only to go through it with a range loop, to get to
/// its members, or to hand it on to a function that is seen. What is done to a
/// member or an element changes that: addTarget.
static bool onlyLeadsOn(const FunctionDecl *F, const ParmVarDecl *P,
                        const flow::UserFunctions &Functions) {
  int Mentions = 0, Known = 0;
  const auto Names = [&](const Expr *E) {
    const auto *Ref = dyn_cast_or_null<DeclRefExpr>(E);
    return Ref && Ref->getDecl() == P;
  };
  ast::forEachStmt(
      F->getBody(),
      [&](const Stmt *S) {
        Mentions += Names(dyn_cast<Expr>(S));
        if (const auto *Range = dyn_cast<CXXForRangeStmt>(S))
          Known += Names(ast::strip(Range->getRangeInit()));
        else if (const auto *Member = dyn_cast<MemberExpr>(S))
          Known += Names(ast::strip(Member->getBase()));
        else if (const auto *Call = dyn_cast<CallExpr>(S);
                 Call && Functions.definition(Call->getDirectCallee()))
          Known +=
              llvm::count_if(ast::argumentsOf(Call), [&](const Expr *Each) {
                return Names(ast::strip(Each));
              });
      },
      ast::Lambdas::Enter);
  return Mentions == Known;
}

void LoopChanges::addChanges(const Stmt *S, Declarations &Changed,
                             Functions &Seen) {
  if (const auto *Binary = dyn_cast<BinaryOperator>(S)) {
    if (Binary->isAssignmentOp())
      addTarget(Binary->getLHS(), Changed);
    return;
  }
  if (const auto *Unary = dyn_cast<UnaryOperator>(S)) {
    if (Unary->isIncrementDecrementOp())
      addTarget(Unary->getSubExpr(), Changed);
    // A pointer to a number may change it.
    if (Unary->getOpcode() == UO_AddrOf &&
        !torch::mayHoldTensor(Unary->getSubExpr()->getType()))
      addTarget(Unary->getSubExpr(), Changed);
    return;
  }
  const FunctionDecl *Callee = nullptr;
  llvm::SmallVector<const Expr *, 4> Arguments;
  if (const auto *Construct = dyn_cast<CXXConstructExpr>(S)) {
    Callee = Construct->getConstructor();
    Arguments.assign(Construct->arg_begin(), Construct->arg_end());
    if (Construct->getConstructor()->isCopyOrMoveConstructor())
      return;
  } else if (const auto *Call = dyn_cast<CallExpr>(S)) {
    Callee = Call->getDirectCallee();
    Arguments = ast::argumentsOf(Call);
    const Expr *Object = ast::objectOf(Call);
    if (const auto *Operator = dyn_cast<CXXOperatorCallExpr>(Call)) {
      // A closure that is not expanded has nothing to do with tensors.
      if (Operator->getOperator() == OO_Call && Callee)
        addChangesOf(Callee, Changed, Seen);
      if (Operator->isAssignmentOp() ||
          Operator->getOperator() == OO_PlusPlus ||
          Operator->getOperator() == OO_MinusMinus)
        addTarget(Operator->getArg(0), Changed);
    } else if (const auto *Method = dyn_cast_or_null<CXXMethodDecl>(Callee);
               Method && Object && !Method->isConst() && !Method->isStatic() &&
               !torch::isTensor(Object->getType()) &&
               !torch::isHandle(Object->getType()) &&
               // begin() of a range: its elements change by their variable.
               !impliedVariable(Object) &&
               // The tensor of an item of named_parameters().
               !(torch::isLibTorch(Callee) && torch::leadsToContent(Callee)) &&
               // v.back(): what is done to the element says what it changes.
               !(torch::isStd(Callee) && torch::accessesElement(Callee) &&
                 Callee->getReturnType()->isLValueReferenceType()) &&
               // Where there is a body, it is read instead: addChangesOf.
               !Entry.code().functions().definition(Callee)) {
      addTarget(Object, Changed);
    }
  }
  if (!Callee)
    return;
  addChangesOf(Callee, Changed, Seen);
  const FunctionDecl *Definition = Entry.code().functions().definition(Callee);
  const auto IsLeft = [&](unsigned I) {
    const ParmVarDecl *P = Definition && I < Definition->getNumParams()
                               ? Definition->getParamDecl(I)
                               : nullptr;
    return P && !Changed.count(P) &&
           onlyLeadsOn(Definition, P, Entry.code().functions());
  };
  // LibTorch's operations change no argument but tensors, and those writes are
  // events. What reads from a file makes a tensor: archive.read("w", w).
  const auto *Call = dyn_cast<CallExpr>(S);
  const bool IsOperation =
      torch::isLibTorch(Callee) && (!Call || torch::classify(Call).Op);
  for (unsigned I = 0;
       !IsOperation && I < Arguments.size() && I < Callee->getNumParams();
       ++I) {
    const QualType Type = Callee->getParamDecl(I)->getType();
    const bool IsWritable =
        Type->isLValueReferenceType() &&
        !Type->getPointeeType().isConstQualified() &&
        (!torch::isLibTorch(Callee) || torch::isTensor(Type->getPointeeType()));
    const bool IsAccess = torch::isStd(Callee) && torch::onlyAccesses(Callee);
    if (IsWritable && !IsAccess && !isForwarding(Callee, I) &&
        !torch::isHandle(Arguments[I]->getType()) && !IsLeft(I))
      addTarget(Arguments[I], Changed);
  }
}

void LoopChanges::addChangesOf(const FunctionDecl *Callee,
                               Declarations &Changed, Functions &Seen) {
  const FunctionDecl *Definition = Entry.code().functions().definition(Callee);
  if (!Definition || !Seen.insert(Definition).second)
    return;
  ast::forEachStmt(
      Definition->getBody(),
      [&](const Stmt *S) { addChanges(S, Changed, Seen); },
      ast::Lambdas::Enter);
}

const LoopChanges::Declarations &LoopChanges::changedIn(const Loop &L) {
  auto [It, Inserted] = Changes.try_emplace(&L);
  if (!Inserted)
    return It->second;
  Declarations Changed;
  Functions Seen;
  for (unsigned N : L.Body.set_bits()) {
    const Segment &S = Entry.segment(N);
    if (S.Of != Segment::Elements || !Entry.point(N).IsEnd)
      continue;
    for (unsigned I = S.Begin; I < S.End; ++I)
      if (std::optional<CFGStmt> Element = (*S.Block)[I].getAs<CFGStmt>())
        addChanges(Element->getStmt(), Changed, Seen);
  }
  return Changes[&L] = std::move(Changed);
}

} // namespace torchtidy::model

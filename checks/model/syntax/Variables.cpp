#include "model/syntax/Variables.h"
#include "ast/Expressions.h"
#include "torch/Types.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/StmtCXX.h"

using namespace clang;
using torchtidy::flow::Met;

namespace torchtidy::model {

std::optional<Named> namedVariable(const Expr *E) {
  Named Result;
  for (E = ast::strip(E); E; E = ast::strip(E)) {
    if (const auto *Ref = dyn_cast<DeclRefExpr>(E)) {
      if (!isa<VarDecl, BindingDecl>(Ref->getDecl()))
        return std::nullopt;
      Result.Variable = Ref->getDecl();
      // Behind a binding of a whole is the part of it.
      return Result;
    }
    if (isa<CXXThisExpr>(E)) {
      Result.ThroughPointer = true;
      return Result;
    }
    if (const auto *Member = dyn_cast<MemberExpr>(E)) {
      const auto *Field = dyn_cast<FieldDecl>(Member->getMemberDecl());
      if (!Field) {
        Result.Variable = dyn_cast<VarDecl>(Member->getMemberDecl());
        return Result.Variable ? std::optional<Named>(Result) : std::nullopt;
      }
      Result.Member = Field;
      Result.ThroughPointer |=
          Member->isArrow() || Field->getType()->isReferenceType();
      E = Member->getBase();
      continue;
    }
    if (const auto *Subscript = dyn_cast<ArraySubscriptExpr>(E)) {
      const Expr *Base = ast::strip(Subscript->getBase());
      Result.ThroughPointer |= !Base->getType()->isArrayType();
      Result.IsElement = true;
      Result.Member = nullptr;
      E = Base;
      continue;
    }
    if (const auto *Unary = dyn_cast<UnaryOperator>(E)) {
      if (Unary->getOpcode() != UO_Deref)
        return std::nullopt;
      Result.ThroughPointer = true;
      Result.Member = nullptr;
      E = Unary->getSubExpr();
      continue;
    }
    const auto *Call = dyn_cast<CallExpr>(E);
    if (!Call)
      return std::nullopt;
    const FunctionDecl *Callee = Call->getDirectCallee();
    const bool IsOfLibrary =
        Callee && (torch::isStd(Callee) || torch::isLibTorch(Callee));
    // A function of a library that returns a reference returns one into its
    // object: v[i], v.at(i), *it, item.value(), std::get<0>(t).
    if (IsOfLibrary && Call->isGLValue()) {
      const Expr *Object = ast::objectOf(Call);
      if (!Object && Call->getNumArgs() == 1)
        Object = Call->getArg(0);
      if (!Object || torch::isTensor(Object->getType()))
        return std::nullopt;
      const QualType Type = Object->getType();
      if (!torch::holdsItsElements(Type) &&
          !torch::isItem(torch::recordOf(Type)) && !torch::isOptional(Type))
        Result.ThroughPointer = true;
      Result.IsElement = true;
      Result.Member = nullptr;
      E = Object;
      continue;
    }
    // The object behind a smart pointer or an iterator.
    if (IsOfLibrary && ast::objectOf(Call) &&
        Call->getType()->isPointerType()) {
      Result.ThroughPointer = true;
      Result.Member = nullptr;
      E = ast::objectOf(Call);
      continue;
    }
    if (Call->isGLValue())
      return std::nullopt;
    Result.Temporary = Call;
    return Result;
  }
  return std::nullopt;
}

bool isRebinding(const CallExpr *Assignment) {
  const auto *Method =
      dyn_cast_or_null<CXXMethodDecl>(Assignment->getDirectCallee());
  return Method && Method->getOverloadedOperator() == OO_Equal &&
         Method->getRefQualifier() != RQ_RValue;
}

const CallExpr *assignmentOf(const flow::ControlFlow &Flow,
                             const DeclRefExpr *Ref) {
  const Stmt *Child = Ref;
  for (const Stmt *S = Flow.parent(Ref); S; Child = S, S = Flow.parent(S)) {
    if (const auto *Operator = dyn_cast<CXXOperatorCallExpr>(S))
      return Operator->getOperator() == OO_Equal &&
                     ast::strip(Operator->getArg(0)) ==
                         ast::strip(cast<Expr>(Child)) &&
                     Operator->getArg(0) == Child && isRebinding(Operator)
                 ? Operator
                 : nullptr;
    const auto *E = dyn_cast<Expr>(S);
    if (!E ||
        !(ast::strip(E) == ast::strip(cast<Expr>(Child)) || torch::asTie(E)))
      return nullptr;
  }
  return nullptr;
}

bool isOwn(const ValueDecl *V, const FunctionDecl *Function) {
  if (!V || V->getType()->isReferenceType() || V->getDeclContext() != Function)
    return false;
  if (const auto *Binding = dyn_cast<BindingDecl>(V)) {
    const auto *Whole = dyn_cast_or_null<VarDecl>(Binding->getDecomposedDecl());
    return Whole && !Whole->getType()->isReferenceType();
  }
  const auto *Variable = dyn_cast<VarDecl>(V);
  return Variable && Variable->hasLocalStorage();
}

bool isReference(const ValueDecl *V) {
  if (const auto *Binding = dyn_cast<BindingDecl>(V))
    if (const auto *Whole =
            dyn_cast_or_null<VarDecl>(Binding->getDecomposedDecl()))
      return Whole->getType()->isReferenceType();
  return V->getType()->isReferenceType();
}

bool Readers::reads(const Stmt *S) const {
  if (const auto *Lambda = dyn_cast<LambdaExpr>(S))
    return llvm::any_of(Lambda->captures(), [&](const LambdaCapture &Capture) {
      return V ? Capture.capturesVariable() && Capture.getCapturedVar() == V
               : Capture.capturesThis();
    });
  if (!V) {
    // this: that member of it, or the whole.
    if (!isa<CXXThisExpr>(S))
      return false;
  } else {
    const auto *Ref = dyn_cast<DeclRefExpr>(S);
    if (!Ref || Ref->getDecl() != V || assignmentOf(Flow, Ref))
      return false;
  }
  if (!Member)
    return true;
  const Stmt *Child = S;
  for (const Stmt *Parent = Flow.parent(S); Parent;
       Child = Parent, Parent = Flow.parent(Parent)) {
    if (const auto *Access = dyn_cast<MemberExpr>(Parent)) {
      const auto *Field = dyn_cast<FieldDecl>(Access->getMemberDecl());
      return !Field || Field == Member;
    }
    const auto *E = dyn_cast<Expr>(Parent);
    if (!E || ast::strip(E) != ast::strip(cast<Expr>(Child)))
      return true;
  }
  return true;
}

Met Readers::look(const CFGElement &Element) const {
  const std::optional<CFGStmt> Statement = Element.getAs<CFGStmt>();
  if (!Statement)
    return Met::Passed;
  const Stmt *S = Statement->getStmt();
  if (reads(S))
    return Met::Found;
  if (!V)
    return Met::Passed;
  if (const auto *Declaration = dyn_cast<DeclStmt>(S)) {
    const auto *Binding = dyn_cast<BindingDecl>(V);
    const Decl *Declared = Binding ? Binding->getDecomposedDecl() : V;
    return llvm::is_contained(Declaration->decls(), Declared) ? Met::Stop
                                                              : Met::Passed;
  }
  // Its old value is no longer there once the assignment is done.
  if (const auto *Call = dyn_cast<CXXOperatorCallExpr>(S))
    if (Call->getOperator() == OO_Equal && isRebinding(Call)) {
      const auto Targets = [&](const Expr *To, const auto &Recurse) -> bool {
        if (const CallExpr *Tie = torch::asTie(To))
          return llvm::any_of(Tie->arguments(), [&](const Expr *Part) {
            return Recurse(Part, Recurse);
          });
        const auto *Ref = dyn_cast<DeclRefExpr>(ast::strip(To));
        return Ref && Ref->getDecl() == V;
      };
      if (Targets(Call->getArg(0), Targets))
        return Met::Stop;
    }
  return Met::Passed;
}

const CXXForRangeStmt *rangeLoopOf(const flow::ControlFlow &Flow,
                                   const ValueDecl *V) {
  if (const auto *Binding = dyn_cast_or_null<BindingDecl>(V))
    V = dyn_cast_or_null<VarDecl>(Binding->getDecomposedDecl());
  const auto *Variable = dyn_cast_or_null<VarDecl>(V);
  return Variable ? Flow.rangeLoop(Variable) : nullptr;
}

} // namespace torchtidy::model

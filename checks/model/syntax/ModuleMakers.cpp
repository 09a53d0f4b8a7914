#include "model/syntax/ModuleMakers.h"
#include "ast/Calls.h"
#include "ast/Expressions.h"
#include "ast/Walk.h"
#include "torch/Api.h"
#include "torch/Members.h"
#include "torch/Modules.h"
#include "torch/Std.h"
#include "torch/Types.h"
#include "clang/AST/ExprCXX.h"

using namespace clang;
using torchtidy::torch::Api;

namespace torchtidy::model {

namespace {

/// Makers that call makers.
constexpr unsigned MaxCalls = 4;

std::optional<ModuleContent> contentOfFresh(const Expr *E, unsigned Calls);

bool isWrapper(const Stmt *S) {
  return isa<ParenExpr, ImplicitCastExpr, MaterializeTemporaryExpr,
             CXXBindTemporaryExpr, ExprWithCleanups>(S);
}

bool isMove(const Stmt *S) {
  const auto *Call = dyn_cast<CallExpr>(S);
  const FunctionDecl *Callee = Call ? Call->getDirectCallee() : nullptr;
  return Callee && torch::isStd(Callee) &&
         torch::meaning(Callee) == torch::StdMeaning::Move;
}

bool isCopy(const Stmt *S) {
  const auto *Construct = dyn_cast<CXXConstructExpr>(S);
  return Construct && Construct->getConstructor()->isCopyOrMoveConstructor();
}

/// One function that makes a module.
class Maker {
public:
  Maker(const FunctionDecl *F, unsigned Calls) : F(F), Calls(Calls) {}

  std::optional<ModuleContent> run() {
    const bool IsKnown = ast::allReturns(
        F, [&](const Expr *Value) { return Value && returned(Value); });
    return IsKnown ? std::optional<ModuleContent>(Content) : std::nullopt;
  }

private:
  bool returned(const Expr *E) {
    const Expr *Whole = ast::stripCopies(E);
    if (isMove(Whole))
      Whole = ast::stripCopies(cast<CallExpr>(Whole)->getArg(0));
    const auto *Ref = dyn_cast<DeclRefExpr>(Whole);
    if (!Ref)
      return take(E);
    const auto *V = dyn_cast<VarDecl>(Ref->getDecl());
    return V && V->hasLocalStorage() && !isa<ParmVarDecl>(V) &&
           !V->getType()->isReferenceType() && V->getInit() &&
           !isEmptyHandle(V->getInit()) && take(V->getInit()) && isOnlyHere(V);
  }

  bool take(const Expr *Fresh) {
    const std::optional<ModuleContent> More = contentOfFresh(Fresh, Calls);
    if (More)
      Content.add(*More);
    return More.has_value();
  }

  /// Nothing but the caller gets a handle to what V holds.
  bool isOnlyHere(const VarDecl *V) {
    bool Result = true;
    ast::walk(
        F->getBody(),
        [&](const Stmt *S, llvm::ArrayRef<const Stmt *> Around) {
          const auto *Ref = dyn_cast<DeclRefExpr>(S);
          if (Ref && Ref->getDecl() == V && !isHarmless(Ref, Around)) {
            Result = false;
            return ast::Next::Stop;
          }
          return ast::Next::Children;
        },
        ast::Lambdas::Enter);
    return Result;
  }

  bool isHarmless(const Stmt *Inner, llvm::ArrayRef<const Stmt *> Around) {
    for (; !Around.empty();
         Inner = Around.back(), Around = Around.drop_back()) {
      const Stmt *Outer = Around.back();
      if (isWrapper(Outer) || isCopy(Outer) || isMove(Outer))
        continue;
      if (isa<ReturnStmt>(Outer))
        return true;
      if (const auto *Operator = dyn_cast<CXXOperatorCallExpr>(Outer)) {
        // fc->, *fc: the module.
        if ((Operator->getOperator() != OO_Arrow &&
             Operator->getOperator() != OO_Star) ||
            Operator->getArg(0) != Inner)
          return false;
        continue;
      }
      const auto *Member = dyn_cast<MemberExpr>(Outer);
      if (!Member)
        return false;
      if (isa<FieldDecl>(Member->getMemberDecl()))
        return !torch::mayHoldTensor(Member->getType()) ||
               isInitialized(Around.drop_back());
      const Stmt *Caller =
          Around.size() > 1 ? Around.drop_back().back() : nullptr;
      const auto *Call = dyn_cast_or_null<CXXMemberCallExpr>(Caller);
      if (!Call)
        return false;
      // The module behind a holder: ptr(), get().
      if (torch::leadsToElements(Call->getMethodDecl())) {
        Around = Around.drop_back();
        continue;
      }
      return isHarmlessCall(Call);
    }
    return false;
  }

  /// Of the module: it runs, tells something, or gets parts that are as new.
  bool isHarmlessCall(const CXXMemberCallExpr *Call) {
    if (torch::addsElements(Call->getMethodDecl()))
      return llvm::all_of(ast::argumentsOf(Call), [&](const Expr *Argument) {
        return !torch::moduleClass(Argument->getType()) || take(Argument);
      });
    return torch::keepsAsIs(Call->getMethodDecl()) ||
           torch::classify(Call).Kind == Api::ModuleForward;
  }

  /// fc->weight: gets other numbers, or tells something.
  static bool isInitialized(llvm::ArrayRef<const Stmt *> Around) {
    for (const Stmt *Outer : llvm::reverse(Around)) {
      if (isWrapper(Outer) || isCopy(Outer) || isa<MemberExpr>(Outer))
        continue;
      const auto *Call = dyn_cast<CallExpr>(Outer);
      if (!Call)
        return false;
      const torch::Call What = torch::classify(Call);
      if (What.Kind == Api::Initialize ||
          torch::saysProperty(Call->getDirectCallee()))
        return true;
      if (What.Kind != Api::Operation)
        return false;
      if (What.Op->Writes != torch::operation::NoArgument)
        return What.Op->Writes == torch::operation::Self;
    }
    return false;
  }

  const FunctionDecl *F;
  unsigned Calls;
  ModuleContent Content;
};

std::optional<ModuleContent> contentOfFresh(const Expr *E, unsigned Calls) {
  if (isFreshModule(E))
    return contentOf(E);
  const auto *Call = dyn_cast_or_null<CallExpr>(ast::stripCopies(E));
  const FunctionDecl *Callee = Call ? Call->getDirectCallee() : nullptr;
  const auto *Method = dyn_cast_or_null<CXXMethodDecl>(Callee);
  if (!Callee || Calls == 0 || torch::isLibTorch(Callee) ||
      torch::isStd(Callee) || !Callee->hasBody(Callee) ||
      (Method && Method->isVirtual()) ||
      !torch::moduleClass(Callee->getReturnType()) ||
      Callee->getReturnType()->isReferenceType() ||
      Callee->getReturnType()->isPointerType())
    return std::nullopt;
  return Maker(Callee, Calls - 1).run();
}

} // namespace

std::optional<ModuleContent> contentOfFresh(const Expr *E) {
  return contentOfFresh(E, MaxCalls);
}

} // namespace torchtidy::model

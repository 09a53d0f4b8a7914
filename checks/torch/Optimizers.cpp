#include "torch/Optimizers.h"
#include "ast/Expressions.h"
#include "ast/Names.h"
#include "ast/Walk.h"
#include "torch/Types.h"
#include "llvm/ADT/StringSwitch.h"

using namespace clang;

namespace torchtidy::torch {

namespace {
enum class State { None, Always, WithMomentum };
} // namespace

static State stateOf(const CXXRecordDecl *Class) {
  if (!Class || !isLibTorch(Class))
    return State::None;
  return llvm::StringSwitch<State>(ast::nameOf(Class))
      .Cases("Adam", "AdamW", "RMSprop", "Adagrad", State::Always)
      .Case("SGD", State::WithMomentum)
      .Default(State::None);
}

/// A number that is known, and not zero.
static bool isNonZero(const Expr *E, const ASTContext &Context) {
  llvm::APFloat Number(0.0);
  Expr::EvalResult Evaluated;
  if (E->isValueDependent())
    return false;
  if (E->getType()->isIntegralOrEnumerationType())
    return E->EvaluateAsInt(Evaluated, Context) &&
           !Evaluated.Val.getInt().isZero();
  return E->EvaluateAsFloat(Number, Context) && !Number.isZero();
}

/// Options.momentum(0.9), written in E or in the initializer of the variable
/// that E is.
static bool hasMomentum(const Expr *E, const ASTContext &Context) {
  if (const auto *Ref = dyn_cast<DeclRefExpr>(ast::stripCopies(E)))
    if (const auto *V = dyn_cast<VarDecl>(Ref->getDecl());
        V && V->hasLocalStorage() && V->getInit())
      E = V->getInit();
  return ast::anyStmt(
      E,
      [&](const Stmt *S) {
        const auto *Call = dyn_cast<CXXMemberCallExpr>(S);
        return Call && Call->getNumArgs() == 1 &&
               ast::calleeName(Call) == "momentum" &&
               isLibTorch(Call->getMethodDecl()) &&
               isNonZero(Call->getArg(0), Context);
      },
      ast::Lambdas::Skip);
}

bool keepsState(QualType Optimizer, llvm::ArrayRef<const Expr *> Arguments,
                const ASTContext &Context) {
  switch (stateOf(recordOf(Optimizer))) {
  case State::None:
    return false;
  case State::Always:
    return true;
  case State::WithMomentum:
    return llvm::any_of(Arguments, [&](const Expr *Argument) {
      return hasMomentum(Argument, Context);
    });
  }
  llvm_unreachable("not a kind of state");
}

Versions versionsOf(QualType Optimizer) {
  const CXXRecordDecl *Class =
      Optimizer.isNull() ? nullptr : recordOf(pointee(Optimizer));
  if (!Class || !isLibTorch(Class))
    return Versions::Unknown;
  return llvm::StringSwitch<Versions>(ast::nameOf(Class))
      .Cases("Adam", "AdamW", "RMSprop", "Adagrad", Versions::Raised)
      .Case("SGD", Versions::Kept)
      .Default(Versions::Unknown);
}

bool bringsState(const FunctionDecl *Member) {
  const auto *Method = dyn_cast_or_null<CXXMethodDecl>(Member);
  return Method && kindOf(Method->getParent()) == TypeKind::Optimizer &&
         (ast::nameOf(Method) == "load" || ast::nameOf(Method) == "state");
}

} // namespace torchtidy::torch

#include "queries/loops/Once.h"
#include "ast/Expressions.h"
#include "ast/Walk.h"
#include "torch/Members.h"
#include "torch/Modules.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/StmtCXX.h"

using namespace clang;

namespace torchtidy::model {

/// if (!state.defined()): what is made there is kept.
static bool asksWhetherThere(const Expr *Condition) {
  return ast::anyStmt(
      Condition,
      [](const Stmt *Part) {
        const auto *Call = dyn_cast<CallExpr>(Part);
        return Call && torch::asksWhetherThere(Call->getDirectCallee());
      },
      ast::Lambdas::Skip);
}

/// if (state.defined()): it is there, and what is done with it then is done
/// each time.
static bool saysThere(const Expr *Condition) {
  const Expr *E = ast::strip(Condition);
  if (const auto *Both = dyn_cast<BinaryOperator>(E);
      Both && Both->getOpcode() == BO_LAnd)
    return saysThere(Both->getLHS()) || saysThere(Both->getRHS());
  const auto *Call = dyn_cast<CallExpr>(E);
  return Call && torch::asksWhetherThere(Call->getDirectCallee());
}

//===-- Flags -------------------------------------------------------------===//

namespace {

/// A flag outlives the call: a member, or a variable that is static.
struct FlagTest {
  const ValueDecl *Flag = nullptr;
  bool IsSet = true;
};

} // namespace

static const ValueDecl *flagAt(const Expr *E) {
  E = E->IgnoreParenImpCasts();
  const ValueDecl *Result = nullptr;
  if (const auto *Ref = dyn_cast<DeclRefExpr>(E)) {
    const auto *V = dyn_cast<VarDecl>(Ref->getDecl());
    Result = V && V->hasGlobalStorage() ? V : nullptr;
  } else if (const auto *Member = dyn_cast<MemberExpr>(E)) {
    Result = dyn_cast<FieldDecl>(Member->getMemberDecl());
  }
  return Result && Result->getType()->isBooleanType() ? Result : nullptr;
}

/// Calls Visit for each flag that has to be so for Condition to hold, or, where
/// Holds is false, not to hold: !ready && other.
static void forEachFlag(const Expr *Condition, bool Holds,
                        llvm::function_ref<void(FlagTest)> Visit) {
  Condition = Condition->IgnoreParenImpCasts();
  if (const auto *Not = dyn_cast<UnaryOperator>(Condition);
      Not && Not->getOpcode() == UO_LNot)
    return forEachFlag(Not->getSubExpr(), !Holds, Visit);
  if (const auto *Both = dyn_cast<BinaryOperator>(Condition)) {
    if (Both->getOpcode() == (Holds ? BO_LAnd : BO_LOr)) {
      forEachFlag(Both->getLHS(), Holds, Visit);
      forEachFlag(Both->getRHS(), Holds, Visit);
    } else if (Both->isEqualityOp()) {
      if (const auto *Constant = dyn_cast<CXXBoolLiteralExpr>(
              Both->getRHS()->IgnoreParenImpCasts()))
        forEachFlag(Both->getLHS(),
                    (Both->getOpcode() == BO_EQ) == Constant->getValue()
                        ? Holds
                        : !Holds,
                    Visit);
    }
    return;
  }
  if (const ValueDecl *Flag = flagAt(Condition))
    Visit({Flag, Holds});
}

/// The flag gets this value there.
static std::optional<bool> valueGiven(const Stmt *S, const ValueDecl *Flag) {
  const auto *Assign = dyn_cast<BinaryOperator>(S);
  return Assign && Assign->getOpcode() == BO_Assign &&
                 flagAt(Assign->getLHS()) == Flag
             ? ast::boolAt(Assign->getRHS(), false)
             : std::nullopt;
}

/// Whatever way Body takes through its own statements, it gives Flag that
/// value, or calls what does.
static bool gives(const Code &User, const Stmt *Body, const ValueDecl *Flag,
                  bool Value, unsigned Hops = 0) {
  const auto GivesOne = [&](const Stmt *S) {
    if (valueGiven(S, Flag) == Value)
      return true;
    const auto *E = dyn_cast<Expr>(S);
    const auto *Call = E ? dyn_cast<CallExpr>(ast::strip(E)) : nullptr;
    const FunctionDecl *Callee =
        Call ? User.functions().definition(Call->getDirectCallee()) : nullptr;
    return Callee && Hops < 2 &&
           gives(User, Callee->getBody(), Flag, Value, Hops + 1);
  };
  const auto *Block = dyn_cast<CompoundStmt>(Body);
  return Block ? llvm::any_of(Block->body(), GivesOne) : GivesOne(Body);
}

/// Nothing that is seen gives it the other value, or may, but for what makes
/// its object.
static bool isTakenBack(const Code &User, FlagTest First) {
  return llvm::any_of(User.functions().all(), [&](const FunctionDecl *F) {
    if (isa<CXXConstructorDecl>(F))
      return false;
    llvm::SmallPtrSet<const Stmt *, 4> Known;
    return ast::anyStmt(
        F->getBody(),
        [&](const Stmt *S) {
          if (const auto *Assign = dyn_cast<BinaryOperator>(S);
              Assign && Assign->getOpcode() == BO_Assign &&
              flagAt(Assign->getLHS()) == First.Flag) {
            Known.insert(Assign->getLHS()->IgnoreParens());
            return valueGiven(S, First.Flag) != !First.IsSet;
          }
          // It is read there.
          if (const auto *Cast = dyn_cast<ImplicitCastExpr>(S);
              Cast && Cast->getCastKind() == CK_LValueToRValue)
            Known.insert(Cast->getSubExpr()->IgnoreParens());
          return isa<DeclRefExpr, MemberExpr>(S) && !Known.count(S) &&
                 flagAt(cast<Expr>(S)) == First.Flag;
        },
        ast::Lambdas::Enter);
  });
}

static bool isFirstTime(const Code &User, const Expr *Condition, bool Holds,
                        const Stmt *Guarded) {
  bool Result = false;
  forEachFlag(Condition, Holds, [&](FlagTest First) {
    Result |= gives(User, Guarded, First.Flag, !First.IsSet) &&
              !isTakenBack(User, First);
  });
  return Result;
}

/// if (ready) return;
static bool leaves(const Stmt *S) {
  if (const auto *Block = dyn_cast<CompoundStmt>(S))
    return !Block->body_empty() && leaves(Block->body_back());
  return isa<ReturnStmt, CXXThrowExpr>(S);
}

//===-- Where an event happens --------------------------------------------===//

/// Parent is around S, which is reached once.
static bool admitsOnce(const Code &User, const Stmt *Parent, const Stmt *S) {
  if (const auto *If = dyn_cast<IfStmt>(Parent))
    return S != If->getCond() &&
           isFirstTime(User, If->getCond(), S == If->getThen(), S);
  if (const auto *Declares = dyn_cast<DeclStmt>(Parent))
    return llvm::any_of(Declares->decls(), [](const Decl *D) {
      const auto *V = dyn_cast<VarDecl>(D);
      return V && V->isStaticLocal();
    });
  const auto *Block = dyn_cast<CompoundStmt>(Parent);
  if (!Block)
    return false;
  for (const Stmt *Before : Block->body()) {
    if (Before == S)
      break;
    const auto *If = dyn_cast<IfStmt>(Before);
    if (If && !If->getElse() && leaves(If->getThen()) &&
        isFirstTime(User, If->getCond(), false, Block))
      return true;
  }
  return false;
}

/// Of a caller a condition that asks whether something is there says nothing.
static bool isAdmittedOnce(const Execution &Entry, const Event &E) {
  const Stmt *S = E.Site;
  for (const Frame *In = E.In; In && In->Flow && S;
       S = In->Site, In = In->Caller)
    while (const Stmt *Parent = In->Flow->parent(S)) {
      const auto *If = dyn_cast<IfStmt>(Parent);
      const bool MayBeFirst = If && In == E.In &&
                              asksWhetherThere(If->getCond()) &&
                              !(S == If->getThen() && saysThere(If->getCond()));
      if (MayBeFirst || admitsOnce(Entry.code(), Parent, S))
        return true;
      S = Parent;
    }
  return false;
}

bool happensOnce(const Execution &Entry, const Event &E) {
  if (isAdmittedOnce(Entry, E))
    return true;
  return Entry.loopsAround(E.Point).empty() &&
         (Entry.root().Function->isMain() ||
          isa<CXXConstructorDecl>(E.In->Function));
}

bool isCalledRepeatedly(const Frame &In) {
  const Frame *F = &In;
  for (; F->Caller; F = F->Caller)
    if (torch::isCalledByTemplates(F->Function))
      return true;
  const auto *Method = dyn_cast<CXXMethodDecl>(F->Function);
  return torch::isCalledByTemplates(F->Function) ||
         (Method && Method->getParent()->isLambda());
}

} // namespace torchtidy::model

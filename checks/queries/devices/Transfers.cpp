#include "queries/devices/Transfers.h"
#include "ast/Expressions.h"
#include "ast/Walk.h"
#include "queries/paths/Uses.h"
#include "torch/Api.h"
#include "torch/Members.h"
#include "torch/Options.h"
#include "clang/AST/StmtCXX.h"

using namespace clang;

namespace torchtidy::model {

bool isThereAlready(const TransferEvent &Transfer) {
  const Value &From = Transfer.Input, &To = Transfer.Result;
  if (Transfer.MovesDevice) {
    if (From.OnDevice.get() && To.OnDevice.get())
      return *From.OnDevice.get() == *To.OnDevice.get();
    return From.DeviceFrom.get() && To.DeviceFrom.get() &&
           *From.DeviceFrom.get() == *To.DeviceFrom.get();
  }
  return From.Scalar.get() && To.Scalar.get() &&
         *From.Scalar.get() == *To.Scalar.get();
}

const CXXMemberCallExpr *calledOn(const flow::ControlFlow &Flow,
                                  const Expr *E) {
  const auto *Member = dyn_cast_or_null<MemberExpr>(taker(Flow, E));
  const auto *Call =
      Member ? dyn_cast_or_null<CXXMemberCallExpr>(taker(Flow, Member))
             : nullptr;
  return Call && Call->getCallee()->IgnoreParenImpCasts() == Member ? Call
                                                                    : nullptr;
}

const VarDecl *declaredWith(const flow::ControlFlow &Flow, const Expr *Call) {
  for (const Stmt *S = Flow.parent(Call); S; S = Flow.parent(S)) {
    if (const auto *Declaration = dyn_cast<DeclStmt>(S)) {
      const auto *V = Declaration->isSingleDecl()
                          ? dyn_cast<VarDecl>(Declaration->getSingleDecl())
                          : nullptr;
      return V && V->hasLocalStorage() && V->getInit() &&
                     ast::stripCopies(V->getInit()) == Call
                 ? V
                 : nullptr;
    }
    if (!isa<Expr>(S) || ast::stripCopies(cast<Expr>(S)) != Call)
      return nullptr;
  }
  return nullptr;
}

llvm::SmallVector<const DeclRefExpr *, 4>
mentionsOf(const flow::ControlFlow &Flow, const VarDecl *V) {
  llvm::SmallVector<const DeclRefExpr *, 4> Result;
  ast::forEachStmt(
      Flow.function()->getBody(),
      [&](const Stmt *S) {
        const auto *Ref = dyn_cast<DeclRefExpr>(S);
        if (Ref && Ref->getDecl() == V)
          Result.push_back(Ref);
      },
      ast::Lambdas::Enter);
  return Result;
}

static const Stmt *blockOf(const flow::ControlFlow &Flow, const Stmt *S) {
  const Stmt *Statement = Flow.statement(S);
  return Statement ? Flow.parent(Statement) : nullptr;
}

bool isNextUse(const flow::ControlFlow &Flow, const VarDecl *V,
               const CXXMemberCallExpr *Call) {
  const auto Mentions = mentionsOf(Flow, V);
  if (Mentions.empty() || !V->getInit() ||
      !isa_and_nonnull<CompoundStmt>(blockOf(Flow, Call)) ||
      blockOf(Flow, V->getInit()) != blockOf(Flow, Call))
    return false;
  const Expr *Object = ast::strip(Call->getImplicitObjectArgument());
  if (Mentions.size() == 1)
    return Mentions.front() == Object;
  // v = v.to(device)
  const auto *Assign = dyn_cast_or_null<CXXOperatorCallExpr>(taker(Flow, Call));
  if (!Assign || Assign->getOperator() != OO_Equal ||
      ast::stripCopies(Assign->getArg(1)) != Call)
    return false;
  const Expr *To = ast::strip(Assign->getArg(0));
  return llvm::is_contained(llvm::ArrayRef(Mentions).take_front(2), To) &&
         llvm::is_contained(llvm::ArrayRef(Mentions).take_front(2), Object);
}

/// if (!state.defined()): what is made there is kept.
static bool isWhereMissing(const Frame *In, const Stmt *S) {
  const flow::ControlFlow &Flow = *In->Flow;
  for (; S; S = Flow.parent(S))
    if (const auto *If = dyn_cast<IfStmt>(S);
        If && ast::anyStmt(
                  If->getCond(),
                  [](const Stmt *Part) {
                    const auto *Call = dyn_cast<CallExpr>(Part);
                    return Call &&
                           torch::asksWhetherThere(Call->getDirectCallee());
                  },
                  ast::Lambdas::Skip))
      return true;
  return false;
}

bool happensOnce(const Execution &Entry, const Event &E) {
  if (isWhereMissing(E.In, E.Site))
    return true;
  return Entry.loopsAround(E.Point).empty() &&
         (Entry.root().Function->isMain() ||
          isa<CXXConstructorDecl>(E.In->Function));
}

std::optional<Chained> chainedTo(const flow::ControlFlow &Flow,
                                 const CXXMemberCallExpr *Call) {
  Chained Result;
  Result.Source = ast::stripCopies(Call->getImplicitObjectArgument());
  const auto *Ref = dyn_cast<DeclRefExpr>(Result.Source);
  if (!Ref)
    return Result;
  Result.Variable = dyn_cast<VarDecl>(Ref->getDecl());
  if (!Result.Variable || !isNextUse(Flow, Result.Variable, Call))
    return std::nullopt;
  Result.Source = ast::stripCopies(Result.Variable->getInit());
  return Result;
}

bool mayConvert(const CallExpr *Call) {
  const torch::Operation *Op = torch::classify(Call).Op;
  if (Op && torch::transferOf(*Op) == torch::Transfer::ToType)
    return true;
  return llvm::any_of(Call->arguments(), [](const Expr *Argument) {
    return !isa<CXXDefaultArgExpr>(Argument) &&
           !torch::saysDeviceOnly(
               Argument->IgnoreUnlessSpelledInSource()->getType());
  });
}

} // namespace torchtidy::model

#include "queries/devices/HostMemory.h"
#include "ast/Calls.h"
#include "ast/Expressions.h"
#include "ast/Locations.h"
#include "ast/Walk.h"
#include "torch/Api.h"
#include "torch/Members.h"
#include "torch/Types.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/StmtCXX.h"

using namespace clang;
namespace op = torchtidy::torch::operation;

namespace torchtidy::model {

/// So many calls deep is a tensor followed.
static constexpr unsigned MaxCalls = 8;

HostMemory::HostMemory(Program &User) : All(User.code()) {
  llvm::DenseSet<const Stmt *> ToHost;
  for (const auto &Entry : User.executions())
    for (const TransferEvent &Each : Entry->events<TransferEvent>()) {
      if (!Each.MovesDevice)
        Staying.insert(Each.Site);
      else if (Each.Result.OnDevice.get() == Device::CPU)
        ToHost.insert(Each.Site);
      else
        Leaving.insert(Each.Site);
    }
  for (const Stmt *Site : ToHost)
    Leaving.erase(Site);
}

const CallExpr *HostMemory::readOf(const VarDecl *D,
                                   const flow::ControlFlow &Flow,
                                   const Stmt *Behind) {
  Seen.clear();
  return keptIn(D, {&Flow, nullptr, nullptr}, Behind);
}

/// Another type on the same device is no move.
bool HostMemory::mayMove(const CallExpr *Call) const {
  const torch::Operation *Op = torch::classify(Call).Op;
  return Op && Op->has(op::ChangesDevice) && !Staying.contains(Call);
}

/// Where the value of E goes, one expression further out after the other.
const CallExpr *HostMemory::follow(const Expr *E, const Context &In) {
  for (;;) {
    const Stmt *Parent = In.Flow->parent(E);
    if (const auto *Declaration = dyn_cast_or_null<DeclStmt>(Parent)) {
      for (const Decl *Each : Declaration->decls())
        if (const auto *V = dyn_cast<VarDecl>(Each); V && V->getInit() == E)
          return keptIn(V, In, nullptr);
      return nullptr;
    }
    if (isa_and_nonnull<ReturnStmt>(Parent))
      return In.Caller ? follow(In.Site, *In.Caller) : nullptr;
    const auto *Outer = dyn_cast_or_null<Expr>(Parent);
    if (!Outer)
      return nullptr;
    if (const auto *Call = dyn_cast<CallExpr>(Outer))
      return followCall(E, Call, In);
    const bool PassesOn =
        isa<ParenExpr, CastExpr, MaterializeTemporaryExpr, CXXBindTemporaryExpr,
            ExprWithCleanups, MemberExpr, ConditionalOperator, InitListExpr,
            CXXStdInitializerListExpr>(Outer) ||
        (isa<CXXConstructExpr>(Outer) &&
         torch::mayHoldTensor(Outer->getType()));
    if (!PassesOn)
      return nullptr;
    E = Outer;
  }
}

const CallExpr *HostMemory::followCall(const Expr *Child, const CallExpr *Call,
                                       const Context &In) {
  const FunctionDecl *Callee = Call->getDirectCallee();
  if (!Callee || mayMove(Call))
    return nullptr;
  const Expr *Object = ast::objectOf(Call);
  const bool IsObject = Child == Call->getCallee() ||
                        (Object && ast::strip(Object) == ast::strip(Child));
  // x = f(y): y goes on in x.
  if (const auto *Operator = dyn_cast<CXXOperatorCallExpr>(Call);
      Operator && Operator->getOperator() == OO_Equal) {
    const auto *Target = dyn_cast<DeclRefExpr>(ast::strip(Operator->getArg(0)));
    const auto *V = Target ? dyn_cast<VarDecl>(Target->getDecl()) : nullptr;
    return V && Child != Operator->getArg(0) ? keptIn(V, In, nullptr) : nullptr;
  }
  if (torch::isLibTorch(Callee) || torch::isStd(Callee)) {
    if (IsObject && torch::givesReadAccess(Callee))
      return Call;
    return torch::mayHoldTensor(Call->getType()) ? follow(Call, In) : nullptr;
  }
  return IsObject ? nullptr : intoUsers(Child, Call, In);
}

const CallExpr *HostMemory::intoUsers(const Expr *Child, const CallExpr *Call,
                                      const Context &In) {
  const FunctionDecl *Definition =
      All.functions().definition(Call->getDirectCallee());
  const flow::ControlFlow *Flow =
      Definition ? All.controlFlow(Definition) : nullptr;
  unsigned Depth = 0;
  for (const Context *Each = &In; Each; Each = Each->Caller)
    ++Depth;
  if (!Flow || Depth > MaxCalls)
    return nullptr;
  const ParmVarDecl *Parameter =
      ast::parameterFor(Call, Definition, [&](const Expr *Argument) {
        return ast::strip(Argument) == ast::strip(Child);
      });
  return Parameter ? keptIn(Parameter, {Flow, &In, Call}, nullptr) : nullptr;
}

/// Whoever names D, behind Behind where there is one, in the order of the text.
const CallExpr *HostMemory::keptIn(const VarDecl *D, const Context &In,
                                   const Stmt *Behind) {
  if (!D->isLocalVarDeclOrParm() || !torch::mayHoldTensor(D->getType()) ||
      !Seen.insert(D).second)
    return nullptr;
  const SourceManager &SM = All.context().getSourceManager();
  const CallExpr *Found = nullptr;
  ast::forEachStmt(
      In.Flow->function()->getBody(),
      [&](const Stmt *S) {
        const auto *Ref = dyn_cast<DeclRefExpr>(S);
        if (!Found && Ref && Ref->getDecl() == D &&
            (!Behind || SM.isBeforeInTranslationUnit(Behind->getEndLoc(),
                                                     Ref->getBeginLoc())))
          Found = follow(Ref, In);
      },
      ast::Lambdas::Skip);
  return Found;
}

} // namespace torchtidy::model

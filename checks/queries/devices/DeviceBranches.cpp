#include "queries/devices/DeviceBranches.h"
#include "ast/Expressions.h"
#include "ast/Walk.h"
#include "torch/Api.h"
#include "torch/Devices.h"
#include "torch/Modules.h"
#include "torch/Options.h"
#include "torch/Types.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/StmtCXX.h"

using namespace clang;

namespace torchtidy::model {

/// Names a device other than the CPU, or moves to CUDA.
static bool isOfOther(const Stmt *S) {
  if (const auto *Ref = dyn_cast<DeclRefExpr>(S)) {
    const auto Named = torch::deviceOf(Ref->getDecl());
    return Named && *Named != torch::DeviceKind::CPU;
  }
  const auto *Call = dyn_cast<CallExpr>(S);
  if (!Call)
    return false;
  const torch::Call Kind = torch::classify(Call);
  return (Kind.Op && torch::transferOf(*Kind.Op) == torch::Transfer::Cuda) ||
         torch::asksForDevice(Call->getDirectCallee());
}

/// What is done in a branch that has to do with a device.
static bool isOfDevice(const Stmt *S) {
  if (isOfOther(S))
    return true;
  const auto *E = dyn_cast<Expr>(S);
  return E && !E->getType().isNull() && torch::isDevice(E->getType());
}

static bool any(const Stmt *Root, bool (*Is)(const Stmt *)) {
  return Root && ast::anyStmt(Root, Is, ast::Lambdas::Enter);
}

static bool movesModule(const Stmt *S) {
  const auto *Call = dyn_cast<CallExpr>(S);
  const Expr *Object = Call ? ast::objectOf(Call) : nullptr;
  if (!Object || Object->getType().isNull())
    return false;
  return torch::movesParameters(Call->getDirectCallee()) &&
         (torch::isModule(Object->getType()) ||
          torch::moduleClass(Object->getType()));
}

namespace {

/// A condition with what is done on either side.
struct Branch {
  const Expr *Condition = nullptr;
  llvm::SmallVector<const Stmt *, 2> Sides;
};

} // namespace

static std::optional<Branch> branchOf(const Stmt *S) {
  if (const auto *If = dyn_cast<IfStmt>(S))
    return Branch{If->getCond(), {If->getThen(), If->getElse()}};
  if (const auto *Choice = dyn_cast<ConditionalOperator>(S))
    return Branch{Choice->getCond(),
                  {Choice->getTrueExpr(), Choice->getFalseExpr()}};
  if (const auto *Switch = dyn_cast<SwitchStmt>(S))
    return Branch{Switch->getCond(), {Switch->getBody()}};
  return std::nullopt;
}

/// A variable, a member, or a function of the user's: useGpu().
static const ValueDecl *declarationOf(const Stmt *S) {
  const ValueDecl *D = nullptr;
  if (const auto *Ref = dyn_cast<DeclRefExpr>(S))
    D = Ref->getDecl();
  else if (const auto *Member = dyn_cast<MemberExpr>(S))
    D = Member->getMemberDecl();
  const bool IsFunction = isa_and_nonnull<FunctionDecl>(D) &&
                          !torch::isLibTorch(D) && !torch::isStd(D);
  return isa_and_nonnull<VarDecl, FieldDecl>(D) || IsFunction ? D : nullptr;
}

DeviceBranches::DeviceBranches(Code &User) {
  auto Ask = [&](const Expr *Condition) {
    ast::forEachStmt(
        Condition,
        [&](const Stmt *S) {
          const ValueDecl *D = declarationOf(S);
          if (D &&
              (isa<FunctionDecl>(D) || !torch::mayHoldTensor(D->getType())))
            Asked.insert(D->getCanonicalDecl()
                             ? cast<ValueDecl>(D->getCanonicalDecl())
                             : D);
        },
        ast::Lambdas::Skip);
  };
  auto Look = [&](const Stmt *S) {
    NamesOther |= isOfOther(S);
    if (const std::optional<Branch> Found = branchOf(S);
        Found && llvm::any_of(Found->Sides, [](const Stmt *Side) {
          return any(Side, isOfDevice);
        }))
      Ask(Found->Condition);
    // bool cuda = torch::cuda::is_available();
    if (const auto *Declaration = dyn_cast<DeclStmt>(S))
      for (const Decl *D : Declaration->decls())
        if (const auto *V = dyn_cast<VarDecl>(D);
            V && V->getInit() && V->getType()->isArithmeticType() &&
            any(V->getInit(), isOfDevice))
          Asked.insert(V->getCanonicalDecl());
    if (const auto *Assign = dyn_cast<BinaryOperator>(S);
        Assign && Assign->isAssignmentOp() && any(Assign->getRHS(), isOfDevice))
      if (const ValueDecl *D = declarationOf(ast::strip(Assign->getLHS())))
        Asked.insert(cast<ValueDecl>(D->getCanonicalDecl()));
  };
  for (const FunctionDecl *F : User.functions().all()) {
    ast::forEachStmt(F->getBody(), Look, ast::Lambdas::Enter);
    if (const auto *Constructor = dyn_cast<CXXConstructorDecl>(F))
      for (const CXXCtorInitializer *Init : Constructor->inits()) {
        ast::forEachStmt(Init->getInit(), Look, ast::Lambdas::Enter);
        if (Init->isAnyMemberInitializer() &&
            Init->getAnyMember()->getType()->isArithmeticType() &&
            any(Init->getInit(), isOfDevice))
          Asked.insert(Init->getAnyMember()->getCanonicalDecl());
      }
  }
  for (const VarDecl *V : User.functions().globals())
    ast::forEachStmt(V->getInit(), Look, ast::Lambdas::Enter);
}

bool DeviceBranches::tells(const Expr *Condition) const {
  auto Is = [&](const Stmt *S) {
    if (isOfDevice(S))
      return true;
    const ValueDecl *D = declarationOf(S);
    return D && Asked.count(cast<ValueDecl>(D->getCanonicalDecl()));
  };
  return Condition && ast::anyStmt(Condition, Is, ast::Lambdas::Enter);
}

/// Control does not go on behind S.
static bool leaves(const Stmt *S) {
  return any(S, [](const Stmt *Part) {
    return isa<ReturnStmt, BreakStmt, ContinueStmt, CXXThrowExpr, GotoStmt>(
        Part);
  });
}

bool DeviceBranches::decidesIn(const Stmt *Site,
                               const flow::ControlFlow &Flow) const {
  const Stmt *Child = Site;
  for (const Stmt *S = Flow.parent(Site); S; Child = S, S = Flow.parent(S)) {
    if (const std::optional<Branch> Around = branchOf(S);
        Around && Child != Around->Condition) {
      const bool Moves =
          llvm::is_contained(Around->Sides, Child) && any(Child, movesModule);
      if (!Moves && tells(Around->Condition))
        return true;
    }
    // if (!cuda) { ...; return; }
    if (!isa<CompoundStmt>(S))
      continue;
    for (const Stmt *Before : cast<CompoundStmt>(S)->body()) {
      if (Before == Child)
        break;
      const auto *If = dyn_cast<IfStmt>(Before);
      if (If && (leaves(If->getThen()) || leaves(If->getElse())) &&
          tells(If->getCond()))
        return true;
    }
  }
  return false;
}

bool DeviceBranches::decide(const Stmt *Site, const Frame *In) const {
  for (const Frame *F = In; F && Site; Site = F->Site, F = F->Caller)
    if (F->Flow && decidesIn(Site, *F->Flow))
      return true;
  return false;
}

/// The kind of the device that an operand names: torch::kCPU, also where it is
/// converted.
static std::optional<torch::DeviceKind> kindNamed(const Expr *E) {
  std::optional<torch::DeviceKind> Result;
  ast::forEachStmt(
      E,
      [&](const Stmt *S) {
        if (const auto *Ref = dyn_cast<DeclRefExpr>(S); Ref && !Result)
          Result = torch::deviceOf(Ref->getDecl());
      },
      ast::Lambdas::Skip);
  return Result;
}

/// Where Condition holds, the program works on the CPU; false: where it does
/// not hold. Nothing where it does not say so.
static std::optional<bool> holdsOnCpu(const Expr *Condition) {
  const Expr *E = Condition ? ast::strip(Condition) : nullptr;
  if (const auto *Not = dyn_cast_or_null<UnaryOperator>(E);
      Not && Not->getOpcode() == UO_LNot) {
    const std::optional<bool> Holds = holdsOnCpu(Not->getSubExpr());
    return Holds ? std::optional(!*Holds) : std::nullopt;
  }
  std::optional<torch::DeviceKind> Kind;
  bool IsEqual = true;
  if (const auto *Binary = dyn_cast_or_null<BinaryOperator>(E);
      Binary && Binary->isEqualityOp() &&
      torch::isDeviceType(ast::strip(Binary->getLHS())->getType())) {
    Kind = kindNamed(Binary->getRHS());
    Kind = Kind ? Kind : kindNamed(Binary->getLHS());
    IsEqual = Binary->getOpcode() == BO_EQ;
  } else if (const auto *Compare = dyn_cast_or_null<CXXOperatorCallExpr>(E);
             Compare && Compare->getNumArgs() == 2 &&
             torch::comparesDevices(Compare->getDirectCallee())) {
    Kind = kindNamed(Compare->getArg(1));
    Kind = Kind ? Kind : kindNamed(Compare->getArg(0));
    IsEqual = Compare->getOperator() == OO_EqualEqual;
  } else if (const auto *Call = dyn_cast_or_null<CallExpr>(E);
             Call && Call->getDirectCallee()) {
    Kind = torch::askedKind(Call->getDirectCallee());
    if (!Kind && torch::asksForDevice(Call->getDirectCallee()))
      return false;
  }
  return Kind ? std::optional((*Kind == torch::DeviceKind::CPU) == IsEqual)
              : std::nullopt;
}

bool isForCpu(const Stmt *Site, const Frame *In) {
  for (const Frame *F = In; F && Site && F->Flow; Site = F->Site, F = F->Caller)
    for (const Stmt *Child = Site, *S = F->Flow->parent(Site); S;
         Child = S, S = F->Flow->parent(S)) {
      const std::optional<Branch> Around = branchOf(S);
      if (!Around || Around->Sides.size() != 2 || Child == Around->Condition)
        continue;
      const std::optional<bool> Holds = holdsOnCpu(Around->Condition);
      if (Holds && Child == Around->Sides[*Holds ? 0 : 1])
        return true;
    }
  return false;
}

} // namespace torchtidy::model

// Whether what a call returns is nobody else's: the tensor ends with the
// statement.
#include "ast/Calls.h"
#include "ast/Expressions.h"
#include "ast/Walk.h"
#include "model/domains/loans/Transfer.h"
#include "torch/Members.h"
#include "torch/Modules.h"
#include "torch/Types.h"
#include "clang/AST/ExprCXX.h"

using namespace clang;
using torchtidy::torch::Api;
using torchtidy::torch::Tri;

namespace torchtidy::model::loans {

static const CXXRecordDecl *moduleOf(const CallExpr *Call) {
  const Expr *Object = ast::objectOf(Call);
  return Object ? torch::moduleClass(Object->getType()) : nullptr;
}

bool isLayer(const CallExpr *Call) {
  if (torch::classify(Call).Kind != Api::ModuleForward)
    return false;
  const CXXRecordDecl *Class = moduleOf(Call);
  return Class && torch::isLibTorch(Class) &&
         torch::parametersOf(Class) != torch::Parameters::None;
}

/// What a pass of a user's module runs: net->forward(x), net(x). Null where it
/// is not known.
static const FunctionDecl *forwardOf(const CallExpr *Call) {
  const FunctionDecl *Callee = Call->getDirectCallee();
  if (!Callee || torch::isForward(Callee))
    return Callee;
  const CXXRecordDecl *Class = moduleOf(Call);
  if (!Class || !Class->hasDefinition() || torch::isLibTorch(Class))
    return nullptr;
  const FunctionDecl *Result = nullptr;
  for (const CXXMethodDecl *Method : Class->getDefinition()->methods())
    if (torch::isForward(Method) && std::exchange(Result, Method))
      return nullptr;
  return Result;
}

namespace {

/// Goes through a function and the functions that it calls.
class ResultQuery {
public:
  explicit ResultQuery(unsigned Depth) : Depth(Depth) {}

  /// A function of the file whose every return gives a new tensor.
  bool returnsNew(const FunctionDecl *F) {
    const auto *Method = dyn_cast_or_null<CXXMethodDecl>(F);
    if (!F || !F->hasBody(F) || Depth == 0 || torch::isLibTorch(F) ||
        (Method && Method->isVirtual()) ||
        F->getReturnType()->isReferenceType() ||
        !torch::isTensor(F->getReturnType()))
      return false;
    ResultQuery Inside(Depth - 1);
    Inside.In = F;
    return ast::allReturns(
        F, [&](const Expr *Value) { return Inside.isNew(Value); });
  }

  /// An operation has made it, or a view of it, and nobody else has it.
  bool isNew(const Expr *E) {
    E = E ? ast::stripCopies(E) : E;
    if (const auto *Ref = dyn_cast_or_null<DeclRefExpr>(E))
      return isNewVariable(dyn_cast<VarDecl>(Ref->getDecl()));
    const auto *Call = dyn_cast_or_null<CallExpr>(E);
    if (!Call || !torch::isTensor(Call->getType()))
      return false;
    const torch::Call Kind = torch::classify(Call);
    if (Kind.Kind == Api::Foreign)
      return returnsNew(Call->getDirectCallee());
    if (Kind.Kind == Api::ModuleForward)
      return isPassNew(Call);
    if (Kind.Kind != Api::Operation || !Kind.Op ||
        torch::isFromBlob(*Kind.Op) ||
        Kind.Op->Writes != torch::operation::NoArgument)
      return false;
    return Kind.Op->View == Tri::No || isNew(ast::firstOperand(Call));
  }

private:
  /// A layer without parameters (dropout, flatten) may return what it is given.
  bool isPassNew(const CallExpr *Call) {
    if (isLayer(Call))
      return true;
    const CXXRecordDecl *Class = moduleOf(Call);
    if (!Class || !torch::isLibTorch(Class))
      return returnsNew(forwardOf(Call));
    return !ast::argumentsOf(Call).empty() &&
           isNew(ast::argumentsOf(Call).front());
  }

  /// V, a local variable or a parameter, holds a new tensor wherever it is
  /// returned, and nothing else has got it.
  bool isNewVariable(const VarDecl *V) {
    if (!V || !In || !V->hasLocalStorage() ||
        V->getDeclContext() != static_cast<const DeclContext *>(In) ||
        V->getType()->isReferenceType() || !torch::isTensor(V->getType()) ||
        !Asked.insert(V).second)
      return false;
    bool IsNewAtStart =
        !isa<ParmVarDecl>(V) && V->getInit() && isNew(V->getInit());
    bool IsOnlyHere = true;
    ast::walk(
        In->getBody(),
        [&](const Stmt *S, llvm::ArrayRef<const Stmt *> Around) {
          const auto *Ref = dyn_cast<DeclRefExpr>(S);
          if (Ref && Ref->getDecl() == V && !staysHere(Ref, Around))
            IsOnlyHere = false;
          const auto *Assign = dyn_cast<CXXOperatorCallExpr>(S);
          if (!Assign || Assign->getOperator() != OO_Equal ||
              !refersTo(Assign->getArg(0), V))
            return IsOnlyHere ? ast::Next::Children : ast::Next::Stop;
          if (!isNewWithout(Assign->getArg(1), V))
            IsOnlyHere = false;
          // In the body itself: each way to a return behind it goes by it.
          IsNewAtStart |= llvm::none_of(Around, [](const Stmt *Outer) {
            return isa<IfStmt, ForStmt, WhileStmt, DoStmt, CXXForRangeStmt,
                       SwitchStmt, CXXTryStmt, ConditionalOperator, LambdaExpr>(
                Outer);
          });
          return IsOnlyHere ? ast::Next::Children : ast::Next::Stop;
        },
        ast::Lambdas::Enter);
    Asked.erase(V);
    return IsNewAtStart && IsOnlyHere && hasOneReturn();
  }

  /// With an early return a variable may be what it was before.
  bool hasOneReturn() const {
    unsigned Returns = 0;
    ast::forEachStmt(
        In->getBody(), [&](const Stmt *S) { Returns += isa<ReturnStmt>(S); },
        ast::Lambdas::Skip);
    return Returns == 1;
  }

  /// x = relu(x), x = x.view(..): as new as x was.
  bool isNewWithout(const Expr *E, const VarDecl *V) {
    const auto *Call = dyn_cast<CallExpr>(ast::stripCopies(E));
    const torch::Operation *Op = Call ? torch::classify(Call).Op : nullptr;
    if (Op && Op->View != Tri::No && refersTo(ast::firstOperand(Call), V))
      return true;
    return isNew(E);
  }

  static bool refersTo(const Expr *E, const VarDecl *V) {
    const auto *Ref = E ? dyn_cast<DeclRefExpr>(ast::strip(E)) : nullptr;
    return Ref && Ref->getDecl() == V;
  }

  /// What the mention is part of computes something, returns it, or assigns
  /// to the variable itself.
  bool staysHere(const DeclRefExpr *Ref, llvm::ArrayRef<const Stmt *> Around) {
    bool IsComputedWith = false;
    for (const Stmt *Outer : llvm::reverse(Around)) {
      if (isa<ReturnStmt>(Outer))
        return true;
      if (!isa<Expr>(Outer) || isa<LambdaExpr, InitListExpr>(Outer))
        return IsComputedWith && !isa<LambdaExpr, InitListExpr>(Outer);
      const auto *Call = dyn_cast<CallExpr>(Outer);
      if (!Call)
        continue;
      const auto *Operator = dyn_cast<CXXOperatorCallExpr>(Call);
      if (Operator && Operator->getOperator() == OO_Equal)
        return IsComputedWith ||
               refersTo(Operator->getArg(0), cast<VarDecl>(Ref->getDecl()));
      const torch::Call Kind = torch::classify(Call);
      if (torch::asksTensor(Call->getDirectCallee()))
        return true;
      if (Kind.Kind == Api::ModuleForward)
        IsComputedWith |= isLayer(Call);
      else if (Kind.Kind == Api::Operation && Kind.Op)
        IsComputedWith |= Kind.Op->View == Tri::No;
      else if (!IsComputedWith)
        return false;
    }
    return IsComputedWith;
  }

  const FunctionDecl *In = nullptr;
  unsigned Depth;
  llvm::SmallPtrSet<const VarDecl *, 4> Asked;
};

} // namespace

bool computesResult(const CallExpr *Call) {
  constexpr unsigned MostCalls = 4;
  if (isLayer(Call))
    return true;
  const Api Kind = torch::classify(Call).Kind;
  ResultQuery Query(MostCalls);
  if (Kind == Api::Foreign)
    return Query.returnsNew(Call->getDirectCallee());
  return Kind == Api::ModuleForward && Query.returnsNew(forwardOf(Call));
}

} // namespace torchtidy::model::loans

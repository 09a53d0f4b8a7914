#include "model/Effects.h"
#include "flow/Names.h"
#include "model/Variables.h"
#include "torch/Types.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/StmtCXX.h"
#include "llvm/ADT/StringSwitch.h"

using namespace clang;
using torchtidy::torch::Api;
using torchtidy::torch::Operation;
namespace op = torchtidy::torch::operation;

namespace torchtidy::model {

/// torch::nn::functional::relu(x, options.inplace(true)): an option says
/// whether it writes.
static bool hasInplaceOption(const CallExpr *Call) {
  return llvm::any_of(Call->arguments(), [](const Expr *Argument) {
    const CXXRecordDecl *Record = torch::recordOf(Argument->getType());
    if (isa<CXXDefaultArgExpr>(Argument) || !Record ||
        !Record->hasDefinition() || torch::isTensor(Argument->getType()))
      return false;
    return llvm::any_of(Record->methods(), [](const CXXMethodDecl *Method) {
      return Method->getIdentifier() && Method->getName() == "inplace";
    });
  });
}

bool Effects::isPure(const CallExpr *Call, const Operation *Op) {
  return Op && Op->Writes == op::NoArgument && Op->Returns != op::Nothing &&
         !Op->has(op::Random) && !Op->has(op::Factory) &&
         !hasInplaceOption(Call);
}

bool Effects::onlyReturns(const CallExpr *Call) {
  const FunctionDecl *Callee = Call->getDirectCallee();
  if (!Callee || torch::classify(Call).Kind != Api::Foreign ||
      Callee->getReturnType()->isReferenceType() ||
      Callee->getReturnType()->isPointerType())
    return false;
  if (const auto *Method = dyn_cast<CXXMethodDecl>(Callee);
      Method && Method->isVirtual())
    return false;
  const FunctionDecl *Definition = User.functions().definition(Callee);
  return Definition && onlyReturns(Definition);
}

bool Effects::onlyReturns(const FunctionDecl *F) {
  auto [It, Inserted] = Returning.try_emplace(F, false);
  if (!Inserted)
    return It->second;
  const bool Result = isHarmless(F->getBody(), F);
  Returning[F] = Result;
  return Result;
}

/// What is written belongs to the function: a local variable or a part of it.
static bool isLocal(const Expr *E, const FunctionDecl *In) {
  const std::optional<Named> To = named(E);
  return To && !To->ThroughPointer && isOwn(To->Variable, In);
}

bool Effects::isHarmlessCall(const CallExpr *Call, const FunctionDecl *In) {
  const Expr *Object = objectOf(Call);
  const FunctionDecl *Callee = Call->getDirectCallee();
  const torch::Call Kind = torch::classify(Call);
  switch (Kind.Kind) {
  case Api::Operation:
    return isPure(Call, Kind.Op) || Kind.Op->has(op::Factory);
  case Api::Foreign:
    return onlyReturns(Call);
  case Api::Std:
  case Api::Library:
  case Api::NoEffect: {
    // x = y of a local variable; outputs.push_back(y).
    const auto *Method = dyn_cast_or_null<CXXMethodDecl>(Callee);
    if (Object && Method)
      return Method->isConst() ? !torch::isModule(Object->getType())
                               : isLocal(Object, In);
    // A free function that gets nothing to write to: std::move, std::get,
    // torch::cuda::is_available.
    const StringRef Name = flow::nameOf(Callee);
    // Of iterators, in the header of a loop.
    if (torch::isStd(Callee))
      return Callee->getOverloadedOperator() == OO_ExclaimEqual ||
             Callee->getOverloadedOperator() == OO_EqualEqual ||
             Name == "move" || Name == "forward" || Name == "get" ||
             Name == "make_tuple" || Name == "make_pair" || Name == "min" ||
             Name == "max";
    return !Callee->getReturnType()->isVoidType() &&
           llvm::none_of(Call->arguments(), [](const Expr *Argument) {
             return torch::mayHoldTensor(Argument->getType());
           });
  }
  default:
    return false;
  }
}

bool Effects::isHarmless(const Stmt *S, const FunctionDecl *In) {
  if (!S)
    return true;
  if (const auto *Call = dyn_cast<CallExpr>(S)) {
    // It is there to throw.
    if (Call->getType()->isVoidType() && !objectOf(Call))
      return false;
    if (!isHarmlessCall(Call, In))
      return false;
  } else if (const auto *Construct = dyn_cast<CXXConstructExpr>(S)) {
    const CXXConstructorDecl *Constructor = Construct->getConstructor();
    if (!torch::isStd(Constructor) && !torch::isLibTorch(Constructor) &&
        Constructor->isUserProvided())
      return false;
  } else if (const auto *Binary = dyn_cast<BinaryOperator>(S)) {
    if (Binary->isAssignmentOp() && !isLocal(Binary->getLHS(), In))
      return false;
  } else if (const auto *Unary = dyn_cast<UnaryOperator>(S)) {
    if (Unary->isIncrementDecrementOp() && !isLocal(Unary->getSubExpr(), In))
      return false;
  } else if (const auto *Declaration = dyn_cast<DeclStmt>(S)) {
    for (const Decl *D : Declaration->decls())
      if (const auto *V = dyn_cast<VarDecl>(D); V && V->isStaticLocal())
        return false;
  } else if (isa<LambdaExpr, CXXThrowExpr, CXXNewExpr, CXXDeleteExpr,
                 CXXTryStmt, AsmStmt, UnresolvedLookupExpr,
                 CXXDependentScopeMemberExpr, RecoveryExpr>(S)) {
    return false;
  }
  return llvm::all_of(S->children(),
                      [&](const Stmt *Child) { return isHarmless(Child, In); });
}

/// Functions of clocks, and of synchronisation with a device, by their names.
static bool isMeasurement(const FunctionDecl *Callee) {
  const StringRef Name = flow::nameOf(Callee);
  // Google Benchmark's loop over its state.
  for (const DeclContext *C = Callee->getDeclContext(); C; C = C->getParent())
    if (const auto *In = dyn_cast<NamespaceDecl>(C);
        In && In->getIdentifier() && In->getName() == "benchmark")
      return true;
  if (isa<CXXMethodDecl>(Callee)) {
    if (torch::isStd(Callee))
      return Name == "now";
    return torch::isLibTorch(Callee) &&
           (Name == "synchronize" || Name == "record");
  }
  if (torch::isLibTorch(Callee))
    return Name.starts_with("synchronize") || Name == "getTime";
  return llvm::StringSwitch<bool>(Name)
      .Cases("clock", "clock_gettime", "gettimeofday", "omp_get_wtime", true)
      .Cases("__rdtsc", "QueryPerformanceCounter", true)
      .Cases("cudaDeviceSynchronize", "cudaStreamSynchronize",
             "cudaEventRecord", "cudaEventSynchronize", true)
      .Default(false);
}

bool Effects::containsMeasurement(const Stmt *S) {
  return S && (measures(S) || llvm::any_of(S->children(), [&](const Stmt *C) {
                 return containsMeasurement(C);
               }));
}

bool Effects::measures(const Stmt *S) {
  const FunctionDecl *Callee = nullptr;
  if (const auto *Call = dyn_cast<CallExpr>(S))
    Callee = Call->getDirectCallee();
  else if (const auto *Construct = dyn_cast<CXXConstructExpr>(S))
    Callee = Construct->getConstructor();
  if (!Callee)
    return false;
  if (isMeasurement(Callee))
    return true;
  const FunctionDecl *Definition = User.functions().definition(Callee);
  // Training that prints how long it took is no stop watch.
  if (!Definition || User.mentionsTorch(Definition))
    return false;
  auto [It, Inserted] = Measuring.try_emplace(Definition, false);
  if (!Inserted)
    return It->second;
  bool Result = containsMeasurement(Definition->getBody());
  if (const auto *Constructor = dyn_cast<CXXConstructorDecl>(Definition))
    for (const CXXCtorInitializer *Init : Constructor->inits())
      Result |= containsMeasurement(Init->getInit());
  Measuring[Definition] = Result;
  return Result;
}

} // namespace torchtidy::model

#include "torch/Waiting.h"
#include "ast/Expressions.h"
#include "ast/Names.h"
#include "torch/Api.h"
#include "torch/Elements.h"
#include "torch/Options.h"
#include "torch/Types.h"
#include "torch/Views.h"
#include "clang/AST/ExprCXX.h"
#include "llvm/ADT/StringSwitch.h"

using namespace clang;

namespace torchtidy::torch {

bool isSynchronisation(const FunctionDecl *F) {
  const StringRef Name = ast::nameOf(F);
  if (Name.empty())
    return false;
  if (isLibTorch(F))
    return llvm::StringSwitch<bool>(Name)
        .Cases("synchronize", "synchronizeDevice", "synchronizeEvent", true)
        .Cases("device_synchronize", "stream_synchronize", true)
        .Default(false);
  return !isa<CXXMethodDecl>(F) &&
         llvm::StringSwitch<bool>(Name)
             .Cases("cudaDeviceSynchronize", "cudaStreamSynchronize",
                    "cudaEventSynchronize", "cudaThreadSynchronize", true)
             .Cases("hipDeviceSynchronize", "hipStreamSynchronize",
                    "hipEventSynchronize", true)
             .Cases("cuCtxSynchronize", "cuStreamSynchronize",
                    "cuEventSynchronize", true)
             .Default(false);
}

bool asksWhetherDone(const FunctionDecl *F) {
  const StringRef Name = ast::nameOf(F);
  if (isLibTorch(F))
    return Name == "query" && isa<CXXMethodDecl>(F);
  return !isa_and_nonnull<CXXMethodDecl>(F) &&
         llvm::StringSwitch<bool>(Name)
             .Cases("cudaEventQuery", "cudaStreamQuery", true)
             .Cases("hipEventQuery", "hipStreamQuery", true)
             .Default(false);
}

/// Functions that are no operations of the table.
static Wait waitOfOther(const FunctionDecl *F) {
  const StringRef Name = ast::nameOf(F);
  if (isLibTorch(F))
    return llvm::StringSwitch<Wait>(Name)
        .Cases("save", "pickle_save", "print", Wait::Text)
        .Cases("clip_grad_norm_", "emptyCache", "memcpy_and_sync", Wait::Other)
        .Default(Wait::None);
  return llvm::StringSwitch<Wait>(Name)
      .Cases("cudaMemcpy", "cudaMemcpy2D", "cudaFree", "cudaFreeHost",
             Wait::Other)
      .Cases("hipMemcpy", "hipFree", Wait::Other)
      .Default(Wait::None);
}

static bool isSpelledFalse(const Expr *E) {
  const auto *Literal = dyn_cast<CXXBoolLiteralExpr>(ast::strip(E));
  return Literal && !Literal->getValue();
}

/// Its flag may say that nobody has to wait.
static bool mayBeNonBlocking(const CallExpr *Call) {
  const Expr *Flag = nonBlockingArgument(Call);
  return Flag && !isa<CXXDefaultArgExpr>(Flag) && !isSpelledFalse(Flag);
}

static bool hasTensor(llvm::ArrayRef<const Expr *> Arguments) {
  return llvm::any_of(Arguments,
                      [](const Expr *E) { return isTensor(E->getType()); });
}

static Wait waitOfOperation(const CallExpr *Call, const Operation &Op) {
  if (isTransfer(Op) || copiesInto(Op) || Op.Name == "type_as")
    return mayBeNonBlocking(Call) ? Wait::None : Wait::Copy;
  const auto Arguments = ast::argumentsOf(Call);
  // t[i] of a tensor i reads it with item().
  if (Call->getDirectCallee()->getOverloadedOperator() == OO_Subscript)
    return hasTensor(Arguments) ? Wait::Number : Wait::None;
  // x.index({0, Slice()}) is a view: only a mask has to be counted first.
  if (Op.Name == "index" && indicesOf(Call))
    return Wait::None;
  if (Op.Name == "index" || Op.Name == "index_put_")
    return Wait::MaskedShape;
  if (Op.Name == "where")
    return Arguments.size() == 1 && !ast::objectOf(Call) ? Wait::Shape
                                                         : Wait::None;
  if (Op.Name == "repeat_interleave")
    return hasTensor(llvm::ArrayRef(Arguments).drop_front(
               ast::objectOf(Call) ? 0 : 1))
               ? Wait::Shape
               : Wait::None;
  if (Op.Sync != Tri::Yes)
    return Wait::None;
  if (Op.Returns == operation::Scalar)
    return Wait::Number;
  return llvm::StringSwitch<Wait>(Op.Name)
      .Cases("nonzero", "nonzero_numpy", "argwhere", "masked_select",
             Wait::Shape)
      .Cases("_unique", "_unique2", "unique_dim", "unique_consecutive",
             "unique_dim_consecutive", Wait::Shape)
      .Case("bincount", Wait::Shape)
      .Default(Wait::Other);
}

Wait waitOf(const CallExpr *Call) {
  const FunctionDecl *Callee = Call ? Call->getDirectCallee() : nullptr;
  if (!Callee)
    return Wait::None;
  if (isSynchronisation(Callee))
    return Wait::Device;
  if (Callee->getOverloadedOperator() == OO_LessLess)
    return printsText(Call) && Call->getNumArgs() == 2 &&
                   isTensor(Call->getArg(1)->getType())
               ? Wait::Text
               : Wait::None;
  if (const Operation *Op = classify(Call).Op)
    return waitOfOperation(Call, *Op);
  return waitOfOther(Callee);
}

} // namespace torchtidy::torch

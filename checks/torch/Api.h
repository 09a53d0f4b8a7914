// What a call means to LibTorch: one place that classifies it.
#ifndef TORCHTIDY_TORCH_API_H
#define TORCHTIDY_TORCH_API_H

#include "torch/Operations.h"
#include "clang/AST/Expr.h"

namespace torchtidy::torch {

enum class Api {
  /// Not of LibTorch: the user's, or another library's.
  Foreign,
  /// The standard library's.
  Std,
  /// A function of LibTorch that nothing here knows: reads its const arguments,
  /// keeps nothing; a tensor that it returns is computed from its arguments.
  Library,
  /// A tensor operation of the table (Call::Op).
  Operation,
  /// Tensor::backward, torch::autograd::backward: gradients are added to
  /// leaves.
  Backward,
  /// torch::autograd::grad: gradients are returned.
  Grad,
  /// Tensor::grad, mutable_grad.
  GradAccess,
  /// requires_grad_, set_requires_grad.
  RequiresGrad,
  /// Tensor::grad_fn.
  GradFn,
  OptimizerStep,
  OptimizerZeroGrad,
  /// add_param_group, add_parameters.
  OptimizerAdd,
  /// param_groups, parameters of an optimizer or a parameter group.
  OptimizerParameters,
  /// forward() or operator() of a module, a holder, AnyModule or a script
  /// module.
  ModuleForward,
  ModuleZeroGrad,
  /// parameters, named_parameters: handles to the tensors to train.
  ModuleParameters,
  ModuleTrain,
  ModuleEval,
  /// register_module, replace_module: returns its argument.
  RegisterModule,
  RegisterParameter,
  RegisterBuffer,
  /// torch::jit::load, and torch::load into an argument.
  Load,
  /// torch::jit::freeze, optimize_for_inference: a module without parameters.
  Freeze,
  /// GradMode::set_enabled.
  SetGradMode,
  /// torch::nn::init::*: fills its argument under a guard of its own.
  Initialize,
  /// Other members of modules, optimizers, schedulers: no effect on what the
  /// model tracks.
  NoEffect,
};

struct Call {
  Api Kind = Api::Foreign;
  /// For Api::Operation.
  const Operation *Op = nullptr;
};

/// A module, a parameter or a buffer is registered.
inline bool isRegistration(Api Kind) {
  return Kind == Api::RegisterModule || Kind == Api::RegisterParameter ||
         Kind == Api::RegisterBuffer;
}

/// Classifies a call expression. Of dependent code by the member's name, where
/// the name alone is beyond doubt (zero_grad, backward).
Call classify(const clang::CallExpr *Call);
/// The same for a declaration.
Call classify(const clang::FunctionDecl *Callee);

/// The operation that a function of torch::nn::functional does with its
/// tensors; null for other functions.
const Operation *functionalOperation(const clang::FunctionDecl *Callee);
/// Call is one of those functions, and what it returns is a tensor of its own
/// for certain: none that it was given, as with inplace(true) or out(t).
bool functionalMakesTensor(const clang::CallExpr *Call);

} // namespace torchtidy::torch

#endif

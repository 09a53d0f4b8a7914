// Functions and members of modules, their holders and containers, as far as
// torch/Api.h leaves open what they are. Source: torch/csrc/api/include/torch/
// nn/module.h, nn/modules/container/*.h, nn/modules/_functions.h, batchnorm.h.
// All of it goes by name: ask for modules and what holds some only. Null is
// answered by no.
#ifndef TORCHTIDY_TORCH_MODULES_H
#define TORCHTIDY_TORCH_MODULES_H

#include "clang/AST/DeclCXX.h"
#include "clang/AST/Expr.h"

namespace torchtidy::torch {

/// forward(), whoever has declared it.
bool isForward(const clang::FunctionDecl *Method);
/// A template of LibTorch's or of the standard library may call it by its name:
/// forward() and backward(); begin(), end(), size(), get() and their like.
bool isCalledByTemplates(const clang::FunctionDecl *F);
/// The user's forward() that a holder's call operator runs: net(x). (The
/// operator does not compile where forward() is overloaded.) Null where the
/// call is none, or forward() is LibTorch's.
const clang::CXXMethodDecl *forwardRunBy(const clang::CallExpr *Call);
/// The one forward() of the user's module class, or of its bases, that takes so
/// many arguments, or null.
const clang::CXXMethodDecl *forwardOf(const clang::CXXRecordDecl *Module,
                                      unsigned Arguments);
/// register_module, register_parameter, register_buffer: throws where the name
/// is taken. replace_module does not.
bool registersNewName(const clang::FunctionDecl *F);
/// reset() of a class of torch::nn::Cloneable. Only clone() calls it, for a
/// copy whose parts it has taken away (torch/nn/cloneable.h).
bool registersAnew(const clang::FunctionDecl *Method);
/// unregister_module.
bool unregisters(const clang::FunctionDecl *F);
/// to: parameters and buffers become others, on a device or of a type.
bool movesParameters(const clang::FunctionDecl *Method);
/// is_training: who asks has a behaviour of its own for each mode.
bool asksForMode(const clang::FunctionDecl *Method);
/// The body of the override of Module::train() that eval() calls (with false),
/// by torch/csrc/api/src/nn/module.cpp; null where that is LibTorch's own, or
/// not seen.
const clang::Stmt *bodyOfTrain(const clang::CXXRecordDecl *Class);

/// parameters() or buffers() of LibTorch: handles to the tensors of a module,
/// in a std::vector that is returned by value.
bool returnsTensorVector(const clang::CallExpr *Call);
/// The same, and named_parameters(), named_buffers().
bool returnsRegistered(const clang::FunctionDecl *Method);
/// Reads, moves, saves or sets what a module has registered: these, to(),
/// clone(), zero_grad(), children(), train(), and functions that are given a
/// module (torch::save). Not what runs it or gets one of its members.
bool readsRegistered(const clang::FunctionDecl *F);

/// What a member of a module leads to.
enum class PartAccess {
  None,
  /// The module itself, as another class: as().
  Itself,
  /// One of the modules in it: an element of a container.
  One,
  /// A list of them, or an iterator: children(), begin().
  Several,
  /// The same, and the module itself: modules().
  All,
};
PartAccess partAccess(const clang::FunctionDecl *Method);
/// The arguments are in the module from now on: push_back, extend, update.
bool addsParts(const clang::FunctionDecl *Method);
/// The name of a layer as it is used: Dropout of DropoutImpl.
llvm::StringRef layerName(const clang::CXXRecordDecl *Class);
/// Sequential, ModuleList, ModuleDict: consist of what they were given.
bool isModuleContainer(const clang::CXXRecordDecl *Class);

/// Linear, Conv2d, LSTM: what a layer of this class returns is computed anew,
/// in any mode, and has dimensions. Not Dropout, nor Flatten.
bool computesAnew(const clang::CXXRecordDecl *Class);

/// get_method of a TorchScript module: what is returned runs the module.
bool returnsMethod(const clang::FunctionDecl *Method);
/// A call of what that returns, or run_method: of any method of the module, one
/// that computes nothing (get_version) among them.
bool runsAnyMethod(const clang::FunctionDecl *Method);
/// A name of a result that is a derivative: forces, virial, stress, gradient.
/// Of several words (atom_forces, edgeForces) one suffices.
bool namesDerivative(llvm::StringRef Name);

/// ModuleList, Sequential: the argument becomes the last element.
bool appendsOne(const clang::FunctionDecl *Method);
/// Of these and of containers of the standard library that hold modules:
/// whatever adds elements.
bool addsElements(const clang::FunctionDecl *Method);
/// The same: the result is an element, leads to some, or is the module that a
/// holder has.
bool leadsToElements(const clang::FunctionDecl *Method);
/// Nothing is registered, handed on or run: is_empty, size, reset, name; nor by
/// to(), which moves it and leaves it to nobody.
bool keepsAsIs(const clang::FunctionDecl *Method);

/// The container of LibTorch that registers what it holds, in the place of one
/// of the standard library: ModuleDict for maps, ModuleList for others.
llvm::StringRef moduleListFor(clang::QualType Container);

/// A tensor of LibTorch's layers that is updated in training and no parameter:
/// running_mean, num_batches_tracked.
bool isStatistic(const clang::FieldDecl *Member);

} // namespace torchtidy::torch

#endif

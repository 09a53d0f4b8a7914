// What a C++ type means to LibTorch.
#ifndef TORCHTIDY_TORCH_TYPES_H
#define TORCHTIDY_TORCH_TYPES_H

#include "clang/AST/DeclCXX.h"
#include "clang/AST/Expr.h"
#include "clang/AST/Type.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

namespace torchtidy::torch {

enum class TypeKind {
  Other,
  /// at::Tensor, at::TensorBase and classes derived from them.
  Tensor,
  /// torch::optim::Optimizer and what derives from it; never a scheduler.
  Optimizer,
  /// torch::nn::Module and what derives from it.
  Module,
  /// torch::nn::ModuleHolder (what TORCH_MODULE makes) and
  /// torch::nn::AnyModule: a shared pointer to a module.
  ModuleHolder,
  /// torch::jit::Module.
  ScriptModule,
  /// c10::IValue.
  IValue,
  /// Holds grad mode off while it lives: NoGradGuard, InferenceMode,
  /// AutoDispatchBelowAutograd, and user classes that have one as a base or a
  /// member.
  NoGradGuard,
  /// at::AutoGradMode: sets grad mode to its argument while it lives.
  GradModeGuard,
  /// shared_ptr, unique_ptr, weak_ptr, optional, reference_wrapper,
  /// intrusive_ptr.
  Pointer,
  /// Containers of the standard library and of c10 that grow.
  Container,
  /// std::tuple, std::pair, std::array.
  Aggregate,
  /// std::function and std::thread and their like.
  Callable,
  Thread,
};

/// Sees through references, typedefs, qualifiers and built-in pointers.
TypeKind kindOf(clang::QualType Type);
TypeKind kindOf(const clang::CXXRecordDecl *Record);

inline bool isTensor(clang::QualType Type) {
  return kindOf(Type) == TypeKind::Tensor;
}
/// Module, ModuleHolder or ScriptModule.
bool isModule(clang::QualType Type);
/// What stands for an object elsewhere, so that a call through it does not
/// change it: a module, an optimizer, a pointer.
bool isHandle(clang::QualType Type);

/// What a built-in or smart pointer, an optional or a module holder leads to;
/// the type itself for others. Null where it is dependent.
clang::QualType pointee(clang::QualType Type);
/// The element of a container, or null.
clang::QualType elementType(clang::QualType Type);

/// The types of the parts of a tuple, a pair or a short array; none for others.
llvm::SmallVector<clang::QualType, 4> tupleTypes(clang::QualType Type);
/// std::optional, which holds a value where other pointers lead to one.
bool isOptional(clang::QualType Type);
/// LibTorch's one name of a scalar type: "Float" for kFloat and kFloat32.
llvm::StringRef scalarName(llvm::StringRef Constant);
/// c10::ArrayRef.
bool isArrayRef(const clang::CXXRecordDecl *Record);
/// torch::OrderedDict, and its Item: a pair of a name and a value.
bool isOrderedDict(const clang::CXXRecordDecl *Record);
bool isItem(const clang::CXXRecordDecl *Record);
/// std::pair, whose first is std::get<0>.
bool isPair(const clang::CXXRecordDecl *Record);
/// std::array, whose elements may be chosen by a variable.
bool isArray(const clang::CXXRecordDecl *Record);
/// c10::InferenceMode itself, which grad mode cannot be switched on in.
bool isInferenceMode(const clang::CXXRecordDecl *Record);
/// A container, or a tuple of values, whose copies have elements of their own:
/// LibTorch's List and Dict share them, ArrayRef and std::tie() refer to some.
bool holdsItsElements(clang::QualType Type);
/// torch::Device.
bool isDevice(clang::QualType Type);
/// torch::indexing::TensorIndex.
bool isIndex(clang::QualType Type);
bool isTensorOptions(clang::QualType Type);
/// at::DeprecatedTypeProperties, which type() of a tensor returns.
bool isOldOptions(clang::QualType Type);

/// The class of a type through references and built-in pointers, or null.
const clang::CXXRecordDecl *recordOf(clang::QualType Type);

/// The module class behind a module, a holder or a pointer to one, or null.
const clang::CXXRecordDecl *moduleClass(clang::QualType Type);

enum class Parameters { None, Some, Unknown };
/// Whether a module of this class has parameters to train: of torch::nn by its
/// name (Linear has, ReLU and MSELoss have not), of the user by its members.
Parameters parametersOf(const clang::CXXRecordDecl *Module);

/// A module whose behaviour depends on train() and eval(): Dropout, BatchNorm.
/// Unknown for classes whose members cannot be seen.
Parameters modeDependence(const clang::CXXRecordDecl *Module);

/// Can hold a tensor, or something that does: a tensor, a container, class or
/// pointer with one in it, std::function. Numbers and strings cannot.
bool mayHoldTensor(clang::QualType Type);

/// A path in LibTorch's own headers, whether or not they are system headers.
bool isLibraryPath(llvm::StringRef Path);

/// Declared in namespace at, c10, torch or caffe2, by LibTorch.
bool isLibTorch(const clang::Decl *D);
bool isStd(const clang::Decl *D);
/// std::reference_wrapper, which std::ref and std::cref return.
bool isReferenceWrapper(clang::QualType Type);
/// The name of a function of the standard library; empty for all others.
llvm::StringRef stdName(const clang::FunctionDecl *F);
/// make_shared, make_unique, make_intrusive: their result owns a new object.
bool makesObject(const clang::FunctionDecl *F);
/// std::tie(...), or std::forward_as_tuple(...), which may hold another; null
/// for others.
const clang::CallExpr *asTie(const clang::Expr *E);

/// Leads to memory that it does not own: a pointer, a reference, ArrayRef,
/// a span, an accessor. The one list of such classes. True for a null type.
bool ownsNothing(clang::QualType Type);
/// Can lead to memory that it does not own, or hold what does: a pointer, a
/// reference, ArrayRef, an accessor, and whatever may hold a tensor.
bool mayBorrow(clang::QualType Type);

} // namespace torchtidy::torch

#endif

// Members and functions of LibTorch that are no tensor operations, as far as
// Api::Library and Api::NoEffect leave open what they do: members of tensors
// (ATen/core/TensorBase.h, TensorBody.h), of handles and of IValues
// (ATen/core/ivalue.h), and free functions. Asked of functions that
// isLibTorch() holds for, unless said otherwise. Null is answered by no.
#ifndef TORCHTIDY_TORCH_MEMBERS_H
#define TORCHTIDY_TORCH_MEMBERS_H

#include "clang/AST/DeclCXX.h"

namespace torchtidy::torch {

// Members of tensors.

/// data_ptr, const_data_ptr, mutable_data_ptr: a pointer to the data, which
/// the tensor owns.
bool isDataPointer(const clang::FunctionDecl *Member);
/// sizes, strides: a list that the tensor object owns.
bool isSizeList(const clang::FunctionDecl *Member);
/// Of these the sizes of all dimensions.
bool saysSizes(const clang::FunctionDecl *Member);
/// The data may be written through the result: data_ptr, accessor, storage.
bool givesWriteAccess(const clang::FunctionDecl *Member);
/// The data may be read through the result: all members of the data_ptr kind
/// and accessors.
bool givesReadAccess(const clang::FunctionDecl *Member);
/// device(), and options(), which says the type as well.
bool saysDevice(const clang::FunctionDecl *Member);
bool saysOptions(const clang::FunctionDecl *Member);
/// type(): what options() was called before there were options. It says the
/// kind of the device and the type (ATen/core/DeprecatedTypeProperties.h).
bool saysOldOptions(const clang::FunctionDecl *Member);
/// reset(): the tensor is undefined afterwards.
bool resetsTensor(const clang::FunctionDecl *Member);
/// Nothing of its data is left: zero_, reset, an assignment to it.
bool clearsTensor(const clang::FunctionDecl *Member);
/// A property of the tensor is read or its gradient requested; no value is
/// computed from it and nothing keeps it: defined, size, requires_grad_.
bool asksTensor(const clang::FunctionDecl *Member);
/// A property of the tensor that its content does not decide: sizes, device,
/// dtype, defined.
bool saysProperty(const clang::FunctionDecl *Member);
/// Of these such as a copy on another device and of another type has in common
/// with the tensor: size, dim, numel.
bool saysShape(const clang::FunctionDecl *Member);
/// Such as a copy on another device has: dtype, element_size.
bool saysElementType(const clang::FunctionDecl *Member);
/// Of these such as all batches of a data set have in common: device, dtype.
bool saysKind(const clang::FunctionDecl *Member);
/// defined(), and has_value() of an optional.
bool asksWhetherThere(const clang::FunctionDecl *Member);

// Members of what type() of a tensor returns.

/// The options, or such properties again: options(), the conversion to
/// TensorOptions, toScalarType(), which has another type.
bool keepsOldOptions(const clang::FunctionDecl *Member);

// Hooks of tensors.

/// register_hook: each backward() that reaches the tensor calls what it is
/// given, until remove_hook() is called with the handle that it returns.
bool registersHook(const clang::FunctionDecl *Member);
/// remove_hook, and the function clear_hooks.
bool removesHook(const clang::FunctionDecl *F);

// Members of optimizers.

/// add_parameters, which ignores what is no leaf; add_param_group throws.
bool addsUnchecked(const clang::FunctionDecl *Member);

// Members of handles: module holders, smart pointers, IValues.

/// What a holder or a pointer leads to: ptr, get, ->, *.
bool leadsToPointee(const clang::FunctionDecl *Member);
/// The same, and value() of an optional.
bool leadsToContent(const clang::FunctionDecl *Member);
/// Part of an IValue: toTensor, toTuple.
bool leadsIntoIValue(const clang::FunctionDecl *Member);
/// toTensor.
bool isToTensor(const clang::FunctionDecl *Member);
/// toInt, toBool, toString: numbers and text.
bool isToNumberOrText(const clang::FunctionDecl *Member);

// Free functions.

/// set_default_dtype.
bool changesDefaultType(const clang::FunctionDecl *F);
/// GradMode::is_enabled, AutogradState::get_grad_mode: the mode in force.
bool saysGradMode(const clang::FunctionDecl *F);
/// at::launch: its argument runs in another thread.
bool isLaunch(const clang::FunctionDecl *F);

// Objects of any library that own memory, such as cv::Mat: by the names that
// these members have everywhere.

/// data, ptr: a pointer to the memory of the object.
bool leadsToMemory(const clang::FunctionDecl *Member);
/// clone: a copy with memory of its own.
bool isClone(const clang::FunctionDecl *Member);

} // namespace torchtidy::torch

#endif

// Operations that make a tensor from no tensor, or in the image of one: what is
// in it, and of which type it is. Source: torch/csrc/autograd/generated/
// variable_factories.h and "Creation Ops" of the documentation. That an
// operation is a factory at all is a flag of the table: operation::Factory,
// operation::LikeFactory.
#ifndef TORCHTIDY_TORCH_FACTORIES_H
#define TORCHTIDY_TORCH_FACTORIES_H

#include "torch/Operations.h"
#include "clang/AST/Expr.h"
#include <optional>

namespace torchtidy::torch {

/// The scalar type of what a factory makes where no option says one: "Float",
/// "Long", and nothing where that depends on what it is given. arange and full
/// go by the numbers among their Operands.
std::optional<llvm::StringRef>
defaultScalar(const Operation &Factory,
              llvm::ArrayRef<const clang::Expr *> Operands);

/// Its content is made of data that it is given, or that lies elsewhere:
/// tensor, from_blob, from_file, scalar_tensor.
bool isMadeFromData(const Operation &Factory);

/// Its first argument holds the elements: torch::tensor({1, 2}).
bool listsContent(const Operation &Factory);

/// empty, empty_like, new_empty: the memory is there to be written.
bool isUninitialized(llvm::StringRef Factory);

/// It is whole, and says nothing about anything: random numbers, ones, a range.
bool isMadeUp(const Operation &Factory);

/// The argument whose numbers, multiplied, are the number of elements. Nothing
/// where no argument is: range, arange from one number to another, tensor.
std::optional<unsigned>
shapeArgument(const Operation &Factory,
              llvm::ArrayRef<const clang::Expr *> Arguments);
/// It is told which generator its random numbers come from. Each generator is
/// of one device, where alone it can make some.
bool saysGenerator(const clang::CallExpr *Factory);
/// It is told how far apart the elements are: from_blob(data, sizes, strides),
/// empty_strided.
bool saysStrides(const clang::CallExpr *Factory);
/// A list of numbers, whatever it is asked for: arange, linspace, randperm.
bool makesList(const Operation &Factory);
/// eye: of one number n, n rows and n columns.
bool isSquare(const Operation &Factory);

/// The call on an existing tensor that gives it the content which the factory
/// gives to a new one: "zero_()". Empty where there is none, or where it needs
/// an argument.
llvm::StringRef refillOf(llvm::StringRef Factory);
/// full, full_like, new_full: "fill_" with their second argument that is
/// written, not counting the object.
bool fillsWithArgument(llvm::StringRef Factory);

} // namespace torchtidy::torch

#endif

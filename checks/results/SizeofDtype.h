// Query: sizeof of something that says an element type, where the size of an
// element is meant.
#ifndef TORCHTIDY_RESULTS_SIZEOFDTYPE_H
#define TORCHTIDY_RESULTS_SIZEOFDTYPE_H

#include "model/execution/Program.h"

namespace torchtidy::model {

struct SizeofDtype {
  const clang::UnaryExprOrTypeTraitExpr *Site = nullptr;
  /// What it is the size of.
  const clang::Expr *Operand = nullptr;
  /// LibTorch's name of the type that a constant of its own says, or empty.
  llvm::StringRef Scalar;
  /// The operand is a caffe2::TypeMeta, and not a ScalarType.
  bool IsMeta = false;
  /// What the operator yields, and of a constant the bytes of an element;
  /// 0 where they are not known.
  uint64_t Yields = 0, Element = 0;
  /// It is a part of a constant expression: a function cannot take its place.
  bool MustBeConstant = false;
  /// An element has as many bytes as the enumerator: nothing comes out wrong.
  bool IsStrictOnly = false;
};

/// Nothing is reported where the size of the object itself may be meant: the
/// type is written (sizeof(c10::ScalarType)), or is that of an element or of a
/// template's argument; a variable, or the result of a call, whose size is not
/// multiplied, or that stands beside the address of such an object.
std::vector<SizeofDtype> sizesOfDtypes(Program &Program);

} // namespace torchtidy::model

#endif

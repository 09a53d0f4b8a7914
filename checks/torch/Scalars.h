// How the element types of C++ memory correspond to LibTorch's scalar types.
#ifndef TORCHTIDY_TORCH_SCALARS_H
#define TORCHTIDY_TORCH_SCALARS_H

#include "clang/AST/Expr.h"
#include "clang/AST/Type.h"
#include "llvm/ADT/StringRef.h"
#include <optional>

namespace torchtidy::torch {

/// What memory consists of, as far as from_blob() can care.
struct Element {
  enum Kind : uint8_t {
    /// char, bool, std::byte: often a buffer of something else.
    Byte,
    Integer,
    Float,
    Complex,
    /// Addresses of the elements, not the elements.
    Pointer,
    /// Objects that have their elements elsewhere: std::vector, std::string.
    Container,
  } Of;
  /// In bytes; of a pointer or a container its own.
  unsigned Size;
  /// LibTorch's name of it, "Float"; empty for pointers and containers.
  llvm::StringRef Name;

  bool operator==(const Element &Other) const {
    return Of == Other.Of && Size == Other.Size && Name == Other.Name;
  }
};

/// The element of memory of this type: of arrays and of structures that hold
/// one scalar type it is that scalar. Nothing where it is not known (void,
/// mixed structures, dependent types).
std::optional<Element> elementOf(clang::QualType Type,
                                 const clang::ASTContext &Context);

/// kBool, by its name: of masks.
bool isBool(llvm::StringRef Scalar);

/// Bytes of a scalar type by LibTorch's name; 0 for one that is not known here.
unsigned scalarSize(llvm::StringRef Name);

/// The type in C++ of an element of that type, as any file that includes
/// LibTorch can write it: "float", "c10::Half". Empty where it is not known.
llvm::StringRef typeOfScalar(llvm::StringRef Name);

/// Whether a tensor of this scalar type may be laid over such memory on
/// purpose. IsSaid: the type is written, not the default.
bool fits(const Element &Memory, llvm::StringRef Scalar, bool IsSaid);

/// The argument of from_blob that says of which type and on which device the
/// tensor is; null where it is left out.
const clang::Expr *blobOptions(const clang::CallExpr *Call);

} // namespace torchtidy::torch

#endif

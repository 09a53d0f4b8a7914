// Scalar type and layout of a tensor, or what TensorOptions ask for.
#ifndef TORCHTIDY_DOMAINS_ATTRIBUTES_LATTICE_H
#define TORCHTIDY_DOMAINS_ATTRIBUTES_LATTICE_H

#include "model/base/Known.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>

namespace torchtidy::model {

enum class DType : uint8_t { Floating, Integral, Bool, Complex };
enum class Layout : uint8_t {
  Contiguous,
  /// The dimensions of a contiguous tensor, in another order: t(), permute().
  Strided,
  /// The same of a tensor whose layout is not known.
  Reordered,
};

/// What TensorOptions that say no scalar type have for one.
inline constexpr llvm::StringLiteral DefaultScalar = "Default";

/// What autocast has cast to: Half or BFloat16.
inline constexpr llvm::StringLiteral ReducedScalar = "Reduced";

struct Attributes {
  Known<DType> OfType;
  /// LibTorch's name of the scalar type: "Float".
  Known<llvm::StringRef> Scalar;
  Known<Layout> InLayout;

  bool join(const Attributes &Other) {
    bool Changed = OfType.join(Other.OfType);
    Changed |= Scalar.join(Other.Scalar);
    return InLayout.join(Other.InLayout) || Changed;
  }
  bool operator==(const Attributes &Other) const {
    return OfType == Other.OfType && Scalar == Other.Scalar &&
           InLayout == Other.InLayout;
  }
};

} // namespace torchtidy::model

#endif

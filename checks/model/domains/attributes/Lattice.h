// Device, scalar type and layout of a tensor, or what TensorOptions ask for.
#ifndef TORCHTIDY_DOMAINS_ATTRIBUTES_LATTICE_H
#define TORCHTIDY_DOMAINS_ATTRIBUTES_LATTICE_H

#include "model/base/Ids.h"
#include "model/base/Known.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>

namespace torchtidy::model {

enum class Device : uint8_t { CPU, CUDA, Other };
enum class DType : uint8_t { Floating, Integral, Bool, Complex };
enum class Layout : uint8_t { Contiguous, Strided };

/// What TensorOptions that say no scalar type have for one.
inline constexpr llvm::StringLiteral DefaultScalar = "Default";

struct Attributes {
  Known<Device> OnDevice;
  /// The variable of type torch::Device that said where it is.
  Known<PlaceId> DeviceFrom;
  Known<DType> OfType;
  /// LibTorch's name of the scalar type: "Float".
  Known<llvm::StringRef> Scalar;
  Known<Layout> InLayout;

  bool join(const Attributes &Other) {
    bool Changed = OnDevice.join(Other.OnDevice);
    Changed |= DeviceFrom.join(Other.DeviceFrom);
    Changed |= OfType.join(Other.OfType);
    Changed |= Scalar.join(Other.Scalar);
    return InLayout.join(Other.InLayout) || Changed;
  }
  bool operator==(const Attributes &Other) const {
    return OnDevice == Other.OnDevice && DeviceFrom == Other.DeviceFrom &&
           OfType == Other.OfType && Scalar == Other.Scalar &&
           InLayout == Other.InLayout;
  }
};

} // namespace torchtidy::model

#endif

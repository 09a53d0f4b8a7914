// Where a tensor or a module is, or where options ask for: a set of devices,
// and the variable that named one.
#ifndef TORCHTIDY_DOMAINS_DEVICE_LATTICE_H
#define TORCHTIDY_DOMAINS_DEVICE_LATTICE_H

#include "model/base/Ids.h"
#include "model/base/Known.h"
#include <cstdint>
#include <optional>

namespace torchtidy::model {

enum class Device : uint8_t { CPU, CUDA, Other };

/// A set of devices. None: nothing is said. It may have one beside others that
/// nobody knows.
class Devices {
public:
  Devices() = default;
  explicit Devices(Device D) : Bits(bit(D)) {}
  static Devices unknown() {
    Devices Result;
    Result.Bits = Any;
    return Result;
  }

  bool isEmpty() const { return Bits == 0; }
  /// More than one, or one that nobody knows.
  bool isUnknown() const { return !isEmpty() && !get(); }
  /// Something in it is not known.
  bool isOpen() const { return Bits & Any; }
  /// The only one.
  std::optional<Device> get() const {
    for (Device D : {Device::CPU, Device::CUDA, Device::Other})
      if (Bits == bit(D))
        return D;
    return std::nullopt;
  }
  /// It is among those that are known.
  bool has(Device D) const { return Bits & bit(D); }
  /// None that is known to both, and none that nobody knows.
  bool isApartFrom(Devices From) const {
    return !isEmpty() && !From.isEmpty() && !((Bits | From.Bits) & Any) &&
           !(Bits & From.Bits);
  }
  /// One that is known is not the CPU.
  bool hasOther() const { return has(Device::CUDA) || has(Device::Other); }
  /// True when it has changed.
  bool join(Devices More) { return joinBits(Bits, More.Bits); }
  bool operator==(Devices Same) const { return Bits == Same.Bits; }
  bool operator!=(Devices Same) const { return Bits != Same.Bits; }

private:
  static constexpr uint8_t Any = 8;
  static constexpr uint8_t bit(Device D) { return 1u << unsigned(D); }
  uint8_t Bits = 0;
};

/// Where a torch::Device that is not the CPU has its index from.
enum class DeviceIndex : uint8_t {
  /// It has none: it was made of a type alone, and is not equal to one with an
  /// index.
  None,
  /// It is a tensor's: on an accelerator that has one.
  OfTensor,
};

/// Possibilities of the memory that the host reads a tensor in.
namespace hostmemory {
enum : uint8_t { Pageable = 1, Pinned = 2, Unknown = 4 };
}

/// Possibilities of the number of dimensions: a tensor of one number goes with
/// tensors on any device.
namespace rank {
enum : uint8_t { Some = 1, Unknown = 2 };
}

/// What has become of a copy to the host since, as far as it is there.
namespace sincecopy {
enum : uint8_t {
  /// Operations have computed something else of it.
  Computed = 1,
  /// It is mixed with what is no such copy: on another path, by an operation
  /// that a device would not do as well.
  Mixed = 2,
};
} // namespace sincecopy

struct Placement {
  Devices OnDevice;
  /// The variable of type torch::Device that said where it is.
  Known<PlaceId> DeviceFrom;
  /// Of a device, or of options. Empty: it is the CPU, or no device at all.
  Known<DeviceIndex> Index;
  uint8_t Host = 0;
  uint8_t Rank = 0;
  /// Bits of sincecopy.
  uint8_t SinceCopy = 0;
  /// The copies from a device to the host that it was computed from, there and
  /// by operations on tensors alone.
  AllocationSet HostCopies;

  bool saysDevice() const {
    return !OnDevice.isEmpty() || !DeviceFrom.isEmpty();
  }
  /// It is on the CPU, whichever way control came.
  bool isOnCpu() const { return OnDevice.get() == Device::CPU; }
  /// Something that the program says puts it elsewhere: a constant, or a
  /// variable that is not known to name the CPU.
  bool mayBeElsewhere() const {
    if (DeviceFrom.get())
      return OnDevice.hasOther() || OnDevice.isOpen();
    return OnDevice.hasOther() && !OnDevice.isOpen();
  }
  const Placement &placement() const { return *this; }
  /// The device alone.
  void setDevice(const Placement &Other) {
    OnDevice = Other.OnDevice;
    DeviceFrom = Other.DeviceFrom;
  }
  static Placement on(Device D) {
    Placement Result;
    Result.OnDevice = Devices(D);
    return Result;
  }
  static Placement unknown() {
    Placement Result;
    Result.OnDevice = Devices::unknown();
    return Result;
  }

  bool join(const Placement &Other) {
    bool Changed = joinCopies(Other);
    Changed |= joinBits(Host, Other.Host);
    Changed |= Index.join(Other.Index);
    Changed |= joinBits(Rank, Other.Rank);
    return joinDevice(Other) || Changed;
  }
  bool joinCopies(const Placement &Other) {
    bool Changed = joinBits(SinceCopy, Other.SinceCopy);
    if (saysDevice() && Other.saysDevice() &&
        HostCopies.empty() != Other.HostCopies.empty())
      Changed |= joinBits(SinceCopy, uint8_t(sincecopy::Mixed));
    return insert(HostCopies, Other.HostCopies) || Changed;
  }
  bool joinDevice(const Placement &Other) {
    if (!Other.saysDevice())
      return false;
    if (!saysDevice()) {
      setDevice(Other);
      return true;
    }
    bool Changed = OnDevice.join(Other.OnDevice);
    // A variable on one path, and none on the other.
    const bool Differ = DeviceFrom.isEmpty() != Other.DeviceFrom.isEmpty();
    Changed |=
        DeviceFrom.join(Differ ? Known<PlaceId>::unknown() : Other.DeviceFrom);
    return Changed;
  }
  bool operator==(const Placement &Same) const {
    return OnDevice == Same.OnDevice && DeviceFrom == Same.DeviceFrom &&
           Index == Same.Index && Host == Same.Host && Rank == Same.Rank &&
           SinceCopy == Same.SinceCopy && HostCopies == Same.HostCopies;
  }
};

} // namespace torchtidy::model

#endif

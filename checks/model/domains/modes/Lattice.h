// Modes: grad mode and autocast of the thread, and train or eval of a module.
#ifndef TORCHTIDY_DOMAINS_MODES_LATTICE_H
#define TORCHTIDY_DOMAINS_MODES_LATTICE_H

#include "model/base/Known.h"
#include <cstdint>

namespace torchtidy::model {

/// Possibilities of a mode: grad mode (On, Off) and module mode (On: train,
/// Off: eval). Inherited: whatever the caller, who lies elsewhere, has set.
/// Inference: in InferenceMode, where switching grad mode on records nothing
/// either.
namespace mode {
enum : uint8_t { On = 1, Off = 2, Inherited = 4, Inference = 8 };
} // namespace mode

/// Possibilities of autocast: off, on for the CPU, for CUDA, for a device that
/// is not known, or as the caller, who lies elsewhere, has set it.
namespace casting {
enum : uint8_t { Off = 1, OnCpu = 2, OnCuda = 4, OnSome = 8, Inherited = 16 };
inline bool mayBeOn(uint8_t Autocast) {
  return Autocast & (OnCpu | OnCuda | OnSome);
}
} // namespace casting

struct Modes {
  /// For a module: train or eval. For a guard: the grad mode it will restore.
  /// For a bool: whether grad mode, or autocast, was on.
  uint8_t Mode = 0;

  bool join(const Modes &Other) { return joinBits(Mode, Other.Mode); }
  bool operator==(const Modes &Other) const { return Mode == Other.Mode; }
};

} // namespace torchtidy::model

#endif

// Whether a module has registered a tensor or another module.
#ifndef TORCHTIDY_DOMAINS_REGISTRATION_LATTICE_H
#define TORCHTIDY_DOMAINS_REGISTRATION_LATTICE_H

#include "model/base/Known.h"
#include <cstdint>

namespace torchtidy::model {

/// Possibilities of a tensor or a module: that a module has registered it, that
/// none has.
namespace registered {
enum : uint8_t { Yes = 1, No = 2 };
} // namespace registered

struct Registration {
  uint8_t Registered = 0;

  bool join(const Registration &Other) {
    return joinBits(Registered, Other.Registered);
  }
  bool operator==(const Registration &Other) const {
    return Registered == Other.Registered;
  }
};

} // namespace torchtidy::model

#endif

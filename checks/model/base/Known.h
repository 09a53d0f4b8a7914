// A flat lattice: nothing yet, one known constant, or more than one.
#ifndef TORCHTIDY_BASE_KNOWN_H
#define TORCHTIDY_BASE_KNOWN_H

#include <optional>

namespace torchtidy::model {

template <class T> class Known {
public:
  Known() = default;
  explicit Known(T Constant) : Constant(Constant) {}
  static Known unknown() {
    Known Result;
    Result.Many = true;
    return Result;
  }
  bool isUnknown() const { return Many; }
  bool isEmpty() const { return !Many && !Constant; }
  std::optional<T> get() const { return Many ? std::nullopt : Constant; }
  /// True when it has changed.
  bool join(const Known &Other) {
    if (Many || Other.isEmpty())
      return false;
    if (isEmpty() || Other.Many) {
      *this = Other;
      return true;
    }
    if (*Constant == *Other.Constant)
      return false;
    *this = unknown();
    return true;
  }
  bool operator==(const Known &Other) const {
    return Many == Other.Many && Constant == Other.Constant;
  }

private:
  std::optional<T> Constant;
  bool Many = false;
};

/// Adds possibilities to a set of bits; true when there are new ones.
template <class Bits> bool joinBits(Bits &Mine, Bits Theirs) {
  const bool Changed = (Mine | Theirs) != Mine;
  Mine |= Theirs;
  return Changed;
}

} // namespace torchtidy::model

#endif

// What is known of the shape of a tensor: its sizes, or those of its first and
// last dimensions where it is not known how many it has.
#ifndef TORCHTIDY_DOMAINS_SHAPE_LATTICE_H
#define TORCHTIDY_DOMAINS_SHAPE_LATTICE_H

#include "llvm/ADT/ArrayRef.h"
#include <array>
#include <cstdint>
#include <optional>

namespace torchtidy::model {

/// Sizes of dimensions, in order.
class Sizes {
public:
  /// A dimension of any size.
  static constexpr int32_t Any = -1;
  static constexpr unsigned Most = 6;

  unsigned count() const { return Count; }
  /// Any where I is beyond what is known.
  int32_t operator[](unsigned I) const { return I < Count ? Of[I] : Any; }
  /// What goes beyond Most is dropped.
  void append(int64_t Size);
  void set(unsigned I, int32_t Size) { Of[I] = Size; }
  /// The first N, filled up with Any where there are fewer.
  Sizes first(unsigned N) const;
  /// Without the first N.
  Sizes from(unsigned N) const;
  Sizes reversed() const;
  Sizes then(const Sizes &Other) const;
  bool operator==(const Sizes &Other) const;
  /// The first of both; a size that differs is Any. True when it has changed.
  bool meet(const Sizes &Other);

private:
  std::array<int32_t, Most> Of{};
  uint8_t Count = 0;
};

class Shape {
public:
  /// No tensor came here.
  Shape() = default;
  static Shape any() { return partial({}, {}); }
  /// All sizes, from the first; any() where there are too many.
  static Shape whole(llvm::ArrayRef<int64_t> All);
  static Shape whole(const Sizes &All);
  /// Sizes of the first dimensions, and of the last ones from the last.
  static Shape partial(const Sizes &First, const Sizes &Last);

  bool isEmpty() const { return Known == Nothing; }
  /// How many dimensions, where that is known.
  std::optional<unsigned> rank() const {
    return Known == Whole ? std::optional<unsigned>(First.count())
                          : std::nullopt;
  }
  unsigned leastRank() const;
  /// Sizes from the first dimension, as far as they are known.
  const Sizes &first() const { return First; }
  /// Sizes from the last dimension backwards.
  Sizes last() const { return Known == Whole ? First.reversed() : Last; }
  /// There are no more elements than this. Nothing where a size is not known.
  std::optional<uint64_t> elements() const;

  bool join(const Shape &Other);
  bool operator==(const Shape &Other) const {
    return Known == Other.Known && First == Other.First && Last == Other.Last;
  }

private:
  enum : uint8_t { Nothing, Part, Whole } Known = Nothing;
  /// Last is empty where all sizes are known.
  Sizes First, Last;
};

struct Shapes {
  Shape InShape;

  bool join(const Shapes &Other) { return InShape.join(Other.InShape); }
  bool operator==(const Shapes &Other) const {
    return InShape == Other.InShape;
  }
};

} // namespace torchtidy::model

#endif

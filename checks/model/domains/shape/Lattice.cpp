#include "model/domains/shape/Lattice.h"
#include <algorithm>
#include <limits>

namespace torchtidy::model {

void Sizes::append(int64_t Size) {
  const bool IsKnown = Size >= 0 && Size <= std::numeric_limits<int32_t>::max();
  if (Count < Most)
    Of[Count++] = IsKnown ? int32_t(Size) : Any;
}

Sizes Sizes::first(unsigned N) const {
  Sizes Result;
  for (unsigned I = 0; I < N; ++I)
    Result.append((*this)[I]);
  return Result;
}

Sizes Sizes::from(unsigned N) const {
  Sizes Result;
  for (unsigned I = N; I < Count; ++I)
    Result.append(Of[I]);
  return Result;
}

Sizes Sizes::reversed() const {
  Sizes Result;
  for (unsigned I = Count; I > 0; --I)
    Result.append(Of[I - 1]);
  return Result;
}

Sizes Sizes::then(const Sizes &Other) const {
  Sizes Result = *this;
  for (unsigned I = 0; I < Other.Count; ++I)
    Result.append(Other.Of[I]);
  return Result;
}

bool Sizes::operator==(const Sizes &Other) const {
  return Count == Other.Count &&
         std::equal(Of.begin(), Of.begin() + Count, Other.Of.begin());
}

bool Sizes::meet(const Sizes &Other) {
  const Sizes Before = *this;
  Count = std::min(Count, Other.Count);
  for (unsigned I = 0; I < Count; ++I)
    if (Of[I] != Other.Of[I])
      Of[I] = Any;
  return !(*this == Before);
}

Shape Shape::whole(llvm::ArrayRef<int64_t> All) {
  if (All.size() > Sizes::Most)
    return any();
  Sizes Result;
  for (const int64_t Size : All)
    Result.append(Size);
  return whole(Result);
}

Shape Shape::whole(const Sizes &All) {
  Shape Result;
  Result.Known = Whole;
  Result.First = All;
  return Result;
}

Shape Shape::partial(const Sizes &First, const Sizes &Last) {
  Shape Result;
  Result.Known = Part;
  Result.First = First;
  Result.Last = Last;
  return Result;
}

unsigned Shape::leastRank() const {
  return std::max(First.count(), Last.count());
}

std::optional<uint64_t> Shape::elements() const {
  constexpr uint64_t Many = uint64_t(1) << 40;
  if (Known != Whole)
    return std::nullopt;
  uint64_t Result = 1;
  for (unsigned I = 0; I < First.count(); ++I) {
    if (First[I] == Sizes::Any)
      return std::nullopt;
    Result = std::min(Result * uint64_t(First[I]), Many);
  }
  return Result;
}

bool Shape::join(const Shape &Other) {
  if (Other.isEmpty() || *this == Other)
    return false;
  if (isEmpty()) {
    *this = Other;
    return true;
  }
  if (Known == Whole && Other.Known == Whole &&
      First.count() == Other.First.count())
    return First.meet(Other.First);
  const Shape Before = *this;
  Last = last();
  Last.meet(Other.last());
  First.meet(Other.First);
  Known = Part;
  return !(*this == Before);
}

} // namespace torchtidy::model

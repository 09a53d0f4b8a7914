// Blocks of memory at made-up addresses, for what sites held at moments.
#ifndef TORCHTIDY_CONFIRM_PROFILE_BLOCKS_H
#define TORCHTIDY_CONFIRM_PROFILE_BLOCKS_H

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace torchtidy::confirm {

/// What an allocator did.
struct BlockAction {
  enum Kind { Alloc, Free, SegmentAlloc, SegmentFree } What = Alloc;
  int64_t Address = 0, Bytes = 0;
  /// Of a block: who holds it.
  size_t Owner = 0;
};

/// An allocator that takes the best fit; no block reaches over the end of its
/// segment, and no two overlap.
class Blocks {
public:
  explicit Blocks(int64_t FirstAddress) : NextAddress(FirstAddress) {}

  /// From now on owner I holds Held[I], and at least so much is reserved. Gives
  /// memory back before it takes some: never more is there than before or
  /// after.
  std::vector<BlockAction> hold(const std::vector<int64_t> &Held,
                                int64_t Reserved);
  /// Nothing is held any more, nor reserved.
  std::vector<BlockAction> end();

private:
  struct Block {
    int64_t Address, Bytes;
  };

  void shrink(size_t Owner, int64_t By, std::vector<BlockAction> &Done);
  void release(const Block &Which, size_t Owner,
               std::vector<BlockAction> &Done);
  bool place(size_t Owner, int64_t Bytes, std::vector<BlockAction> &Done);
  void addSegment(int64_t Bytes, std::vector<BlockAction> &Done);
  void addHole(int64_t Address, int64_t Bytes);
  void removeHole(std::map<int64_t, int64_t>::iterator Hole);

  /// Of each owner, the newest last.
  std::vector<std::vector<Block>> Owned;
  std::vector<int64_t> Sums;
  std::vector<Block> Segments;
  /// Between segments is room, so that holes of two never touch.
  std::map<int64_t, int64_t> Holes;
  std::set<std::pair<int64_t, int64_t>> HolesBySize;
  int64_t NextAddress, Total = 0;
};

} // namespace torchtidy::confirm

#endif

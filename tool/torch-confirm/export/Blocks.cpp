#include "export/Blocks.h"
#include <algorithm>

namespace torchtidy::confirm {
namespace {

/// What CUDA's allocator rounds large segments to.
constexpr int64_t Granularity = int64_t(2) << 20;

} // namespace

void Blocks::removeHole(std::map<int64_t, int64_t>::iterator Hole) {
  HolesBySize.erase({Hole->second, Hole->first});
  Holes.erase(Hole);
}

void Blocks::addHole(int64_t Address, int64_t Bytes) {
  auto After = Holes.lower_bound(Address);
  if (After != Holes.end() && After->first == Address + Bytes) {
    Bytes += After->second;
    removeHole(After);
  }
  auto Before = Holes.lower_bound(Address);
  if (Before != Holes.begin()) {
    --Before;
    if (Before->first + Before->second == Address) {
      Address = Before->first;
      Bytes += Before->second;
      removeHole(Before);
    }
  }
  Holes[Address] = Bytes;
  HolesBySize.emplace(Bytes, Address);
}

void Blocks::addSegment(int64_t Bytes, std::vector<BlockAction> &Done) {
  Segments.push_back({NextAddress, Bytes});
  Done.push_back({BlockAction::SegmentAlloc, NextAddress, Bytes, 0});
  addHole(NextAddress, Bytes);
  NextAddress += (Bytes / Granularity + 2) * Granularity;
  Total += Bytes;
}

bool Blocks::place(size_t Owner, int64_t Bytes,
                   std::vector<BlockAction> &Done) {
  auto Fit = HolesBySize.lower_bound({Bytes, 0});
  if (Fit == HolesBySize.end())
    return false;
  const auto [Size, Address] = *Fit;
  removeHole(Holes.find(Address));
  if (Size > Bytes)
    addHole(Address + Bytes, Size - Bytes);
  Owned[Owner].push_back({Address, Bytes});
  Sums[Owner] += Bytes;
  Done.push_back({BlockAction::Alloc, Address, Bytes, Owner});
  return true;
}

void Blocks::release(const Block &Which, size_t Owner,
                     std::vector<BlockAction> &Done) {
  Done.push_back({BlockAction::Free, Which.Address, Which.Bytes, Owner});
  Sums[Owner] -= Which.Bytes;
  addHole(Which.Address, Which.Bytes);
}

void Blocks::shrink(size_t Owner, int64_t By, std::vector<BlockAction> &Done) {
  while (By > 0) {
    const Block Newest = Owned[Owner].back();
    Owned[Owner].pop_back();
    release(Newest, Owner, Done);
    By -= Newest.Bytes;
  }
  // The rest of the last one stays.
  if (By < 0)
    place(Owner, -By, Done);
}

std::vector<BlockAction> Blocks::hold(const std::vector<int64_t> &Held,
                                      int64_t Reserved) {
  Owned.resize(std::max(Owned.size(), Held.size()));
  Sums.resize(Owned.size());
  std::vector<BlockAction> Done;
  std::vector<std::pair<int64_t, size_t>> Growths;
  for (size_t I = 0; I < Owned.size(); ++I) {
    const int64_t Now = I < Held.size() ? std::max<int64_t>(Held[I], 0) : 0;
    if (Now < Sums[I])
      shrink(I, Sums[I] - Now, Done);
    else if (Now > Sums[I])
      Growths.emplace_back(Now - Sums[I], I);
  }
  // Large ones first: they find a hole that small ones would cut.
  std::stable_sort(
      Growths.begin(), Growths.end(),
      [](const auto &A, const auto &B) { return A.first > B.first; });
  std::vector<std::pair<int64_t, size_t>> Left;
  int64_t Needed = 0;
  for (const auto &[Bytes, Owner] : Growths)
    if (!place(Owner, Bytes, Done)) {
      Left.emplace_back(Bytes, Owner);
      Needed += Bytes;
    }
  if (const int64_t More = std::max(Needed, Reserved - Total); More > 0)
    addSegment(More, Done);
  for (const auto &[Bytes, Owner] : Left)
    place(Owner, Bytes, Done);
  return Done;
}

std::vector<BlockAction> Blocks::end() {
  std::vector<BlockAction> Done;
  for (size_t I = 0; I < Owned.size(); ++I)
    if (Sums[I] > 0)
      shrink(I, Sums[I], Done);
  for (const Block &Each : Segments)
    Done.push_back({BlockAction::SegmentFree, Each.Address, Each.Bytes, 0});
  Owned.clear();
  Sums.clear();
  Segments.clear();
  Holes.clear();
  HolesBySize.clear();
  Total = 0;
  return Done;
}

} // namespace torchtidy::confirm

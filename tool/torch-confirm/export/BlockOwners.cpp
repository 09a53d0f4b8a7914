#include "export/BlockOwners.h"
#include "rules/Verdict.h"
#include <algorithm>
#include <numeric>

namespace torchtidy::confirm {
namespace {

/// More are not told apart in a picture, and the viewer takes minutes to draw
/// them.
constexpr size_t MostOwners = 200;

} // namespace

BlockOwners::BlockOwners(const Recording &Run, const Profile &What)
    : Run(Run), What(What) {
  std::vector<int64_t> Most(Run.Sites.size());
  for (const Moment &Each : Run.Moments)
    for (const Held &By : Each.By)
      if (By.Site < Most.size())
        Most[By.Site] =
            std::max(Most[By.Site], std::max(By.CpuBytes, By.CudaBytes));
  Sites.resize(Most.size());
  std::iota(Sites.begin(), Sites.end(), size_t(0));
  std::stable_sort(Sites.begin(), Sites.end(),
                   [&](size_t A, size_t B) { return Most[A] > Most[B]; });
  while (!Sites.empty() && Most[Sites.back()] == 0)
    Sites.pop_back();
  if (Sites.size() > MostOwners) {
    Others = Sites.size() - MostOwners;
    MostOfOthers = Most[Sites[MostOwners]];
    Sites.resize(MostOwners);
  }
  OwnerOf.assign(Run.Sites.size(), Sites.size());
  for (size_t I = 0; I < Sites.size(); ++I)
    OwnerOf[Sites[I]] = I;
}

std::vector<int64_t> BlockOwners::heldAt(const Moment &When,
                                         int64_t Held::*Part,
                                         int64_t Moment::*All) const {
  std::vector<int64_t> Result(count());
  int64_t Known = 0;
  for (const Held &By : When.By)
    if (By.Site < OwnerOf.size() && By.*Part > 0) {
      Result[OwnerOf[By.Site]] += By.*Part;
      Known += By.*Part;
    }
  Result.back() = std::max<int64_t>(When.*All - Known, 0);
  return Result;
}

const char *BlockOwners::category(size_t Owner) const {
  if (Owner >= Sites.size() || Sites[Owner] >= What.Sites.size())
    return "unknown";
  return nameOf(What.Sites[Sites[Owner]].Memory);
}

std::string BlockOwners::title(size_t Owner) const {
  if (Owner == Sites.size() + 1)
    return "no line is known";
  if (Owner == Sites.size())
    return countText(double(Others), "place") + " with " +
           bytesText(double(MostOfOthers)) + " at most";
  const size_t Site = Sites[Owner];
  std::string Result = Run.Sites[Site].Operation;
  if (Site < What.Sites.size())
    Result += std::string(", ") + nameOf(What.Sites[Site].Memory) + ", " +
              nameOf(What.Sites[Site].Phase);
  return Result;
}

const std::vector<SourceLine> &BlockOwners::stack(size_t Owner) const {
  static const std::vector<SourceLine> None;
  return Owner < Sites.size() ? Run.Sites[Sites[Owner]].Stack : None;
}

} // namespace torchtidy::confirm

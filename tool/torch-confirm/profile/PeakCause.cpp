// What the peak is for, where memory does not grow.
#include "profile/Parts.h"
#include <algorithm>

namespace torchtidy::confirm {
namespace {

int64_t bytesOn(const Held &Of, bool IsCuda) {
  return IsCuda ? Of.CudaBytes : Of.CpuBytes;
}

/// What is highest without the line that holds most. That may be at another
/// moment: what a training needs, where most was alive while its data were
/// read.
int64_t highestWithout(const Recording &Run, const PeakProfile &Peak,
                       bool IsCuda) {
  const std::vector<size_t> &Sites = Peak.Lines.front().Sites;
  const auto HeldAt = [&](const Moment &At) {
    int64_t Bytes = 0;
    for (const Held &Each : At.By)
      if (std::find(Sites.begin(), Sites.end(), Each.Site) != Sites.end())
        Bytes += bytesOn(Each, IsCuda);
    return Bytes;
  };
  int64_t Result = Peak.Highest - HeldAt(Run.Moments[Peak.Moment]);
  for (const Moment &Each : Run.Moments)
    Result = std::max(Result,
                      (IsCuda ? Each.CudaBytes : Each.CpuBytes) - HeldAt(Each));
  // What an iteration makes is gone at the moments between iterations.
  if (Run.Iterations.empty() || Peak.Seconds >= Run.Iterations.front().Begin)
    return Result;
  for (const Iteration &Each : Run.Iterations) {
    const Moment *Before = nullptr;
    for (const Moment &Other : Run.Moments)
      if (Other.Seconds <= Each.Begin)
        Before = &Other;
    // At most what there ever was: an iteration's peak is that of all devices.
    if (Before)
      Result =
          std::max(Result, std::min(Each.Peak, Peak.Highest) - HeldAt(*Before));
  }
  return Result;
}

} // namespace

Cause causeOfPeak(const Recording &Run, const PeakProfile &Peak, bool IsCuda) {
  Cause Result;
  Result.Kind = CauseKind::Peak;
  const LineMemory &Top = Peak.Lines.front();
  Result.Line = Top.Line;
  Result.Sites = Top.Sites;
  Result.Stack = Run.Sites[Top.Sites.front()].Stack;
  Result.Bytes = Top.Bytes;
  Result.Nodes = Top.Nodes;
  Result.Share = Peak.Bytes ? double(Top.Bytes) / double(Peak.Bytes) : 0;
  Result.PeakWithout = highestWithout(Run, Peak, IsCuda);
  return Result;
}

} // namespace torchtidy::confirm

#include "export/Curves.h"
#include <algorithm>

namespace torchtidy::confirm {

static constexpr size_t MostPoints = 4000, Stretches = 1000;

namespace {
struct Point : CurvePoint {
  bool IsMoment = false;

  int64_t bytes() const { return Cpu.value_or(0) + Cuda.value_or(0); }
};
} // namespace

static std::vector<Point> allPoints(const Recording &Run) {
  const bool Cpu = Run.has("cpu-memory"), Cuda = Run.has("cuda-memory"),
             Nodes = Run.has("graph-nodes");
  std::vector<Point> Result;
  const auto Add = [&](const auto &From, bool IsMoment) -> Point & {
    Point &Each = Result.emplace_back();
    Each.IsMoment = IsMoment;
    Each.Seconds = From.Seconds;
    if (Cpu)
      Each.Cpu = From.CpuBytes;
    if (Cuda)
      Each.Cuda = From.CudaBytes;
    if (Nodes)
      Each.Nodes = From.Nodes;
    return Each;
  };
  for (const Moment &From : Run.Moments) {
    Point &Each = Add(From, true);
    if (Cuda)
      Each.Reserved = From.CudaReserved;
    if (From.ResidentBytes >= 0)
      Each.Resident = From.ResidentBytes;
  }
  for (const Site &S : Run.Sites)
    for (const Sample &From : S.Series)
      Add(From, false);
  std::stable_sort(
      Result.begin(), Result.end(),
      [](const Point &A, const Point &B) { return A.Seconds < B.Seconds; });
  return Result;
}

/// The points of one stretch of time that show how it went.
static void keepOf(std::vector<Point>::const_iterator From,
                   std::vector<Point>::const_iterator To,
                   std::vector<CurvePoint> &Into) {
  const auto LessBytes = [](const Point &A, const Point &B) {
    return A.bytes() < B.bytes();
  };
  const auto Nodes =
      std::minmax_element(From, To, [](const Point &A, const Point &B) {
        return A.Nodes < B.Nodes;
      });
  const auto Bytes = std::minmax_element(From, To, LessBytes);
  for (auto It = From; It != To; ++It)
    if (It->IsMoment || It == From || It == To - 1 || It == Bytes.first ||
        It == Bytes.second || It == Nodes.first || It == Nodes.second)
      Into.push_back(*It);
}

std::vector<CurvePoint> curvesOf(const Recording &Run) {
  const std::vector<Point> All = allPoints(Run);
  if (All.size() <= MostPoints)
    return {All.begin(), All.end()};
  std::vector<CurvePoint> Result;
  const double Begin = All.front().Seconds, Length = All.back().Seconds - Begin;
  auto From = All.begin();
  for (size_t Stretch = 1; From != All.end(); ++Stretch) {
    const double End = Begin + Length * double(Stretch) / double(Stretches);
    const auto To = Stretch >= Stretches
                        ? All.end()
                        : std::find_if(From, All.end(), [&](const Point &Each) {
                            return Each.Seconds > End;
                          });
    if (From != To)
      keepOf(From, To, Result);
    From = To;
  }
  return Result;
}

} // namespace torchtidy::confirm

// Who holds what when most is alive.
#include "profile/Parts.h"
#include <algorithm>

namespace torchtidy::confirm {
namespace {

/// Lines of the report, and of a page; the rest is a sum.
constexpr size_t MostLines = 200;

std::vector<LineMemory> linesOf(const Recording &Run, const Moment &At,
                                bool IsCuda) {
  std::vector<LineMemory> Lines;
  std::map<std::pair<std::string, unsigned>, size_t> Known;
  for (const Held &Each : At.By) {
    const int64_t Bytes = IsCuda ? Each.CudaBytes : Each.CpuBytes;
    if (Bytes <= 0 || Each.Site >= Run.Sites.size())
      continue;
    const SourceLine Line = lineOf(Run.Sites[Each.Site]);
    const auto [It, IsNew] =
        Known.try_emplace({Line.File, Line.Line}, Lines.size());
    if (IsNew)
      Lines.push_back({Line, {}, 0, 0});
    LineMemory &To = Lines[It->second];
    To.Sites.push_back(Each.Site);
    To.Bytes += Bytes;
    To.Nodes += Each.Nodes;
  }
  std::stable_sort(Lines.begin(), Lines.end(),
                   [](const LineMemory &A, const LineMemory &B) {
                     return A.Bytes > B.Bytes;
                   });
  if (Lines.size() > MostLines)
    Lines.resize(MostLines);
  return Lines;
}

} // namespace

std::optional<PeakProfile> peakOf(const Recording &Run,
                                  const std::vector<SiteProfile> &Sites,
                                  MomentKind Kind) {
  const bool IsCuda = Kind == MomentKind::CudaPeak;
  PeakProfile Result;
  bool Found = false;
  for (size_t I = 0; I < Run.Moments.size(); ++I) {
    const Moment &Each = Run.Moments[I];
    const int64_t Bytes = IsCuda ? Each.CudaBytes : Each.CpuBytes;
    if (Bytes <= Result.Bytes)
      continue;
    Found = true;
    Result.Bytes = Bytes;
    Result.Moment = I;
    Result.Seconds = Each.Seconds;
  }
  if (!Found)
    return std::nullopt;
  Result.Highest =
      std::max(Result.Bytes, IsCuda ? Run.PeakCudaBytes : Run.PeakCpuBytes);
  const Moment &At = Run.Moments[Result.Moment];
  for (const Held &Each : At.By) {
    if (Each.Site >= Sites.size())
      continue;
    const int64_t Bytes = IsCuda ? Each.CudaBytes : Each.CpuBytes;
    Result.ByKind[size_t(Sites[Each.Site].Memory)] += Bytes;
    Result.ByPhase[size_t(Sites[Each.Site].Phase)] += Bytes;
  }
  Result.Lines = linesOf(Run, At, IsCuda);
  return Result;
}

} // namespace torchtidy::confirm

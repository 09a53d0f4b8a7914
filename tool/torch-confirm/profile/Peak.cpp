// Who holds what when most is alive.
#include "profile/Parts.h"
#include <algorithm>

namespace torchtidy::confirm {
namespace {

/// Lines of the report, and of a page; the rest is a sum.
constexpr size_t MostLinesAtPeak = 200;

} // namespace

std::vector<LineMemory> linesOf(const Recording &Run,
                                const std::vector<Held> &By,
                                int64_t (*BytesOf)(const Held &)) {
  std::vector<LineMemory> Lines;
  std::map<std::pair<std::string, unsigned>, size_t> Known;
  for (const Held &Each : By) {
    const int64_t Bytes = BytesOf(Each);
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
  if (Lines.size() > MostLinesAtPeak)
    Lines.resize(MostLinesAtPeak);
  return Lines;
}

std::string moduleOf(const std::vector<SourceLine> &Stack) {
  for (const SourceLine &Each : Stack) {
    const size_t At = Each.Function.find("::forward(");
    if (At == std::string::npos || Each.Function.find('(') < At)
      continue;
    // Of a template the result stands before it: "at::Tensor Net<3>::forward".
    size_t Begin = At, Depth = 0;
    for (; Begin > 0; --Begin) {
      const char C = Each.Function[Begin - 1];
      Depth += C == '>';
      if (C == ' ' && Depth == 0)
        break;
      Depth -= C == '<' && Depth > 0;
    }
    return Each.Function.substr(Begin, At - Begin);
  }
  return {};
}

static void addModule(PeakProfile &To, const std::string &Module,
                      int64_t Bytes) {
  for (auto &[Name, Sum] : To.ByModule)
    if (Name == Module) {
      Sum += Bytes;
      return;
    }
  To.ByModule.emplace_back(Module, Bytes);
}

static std::vector<VaryingLine> varyingLines(const Recording &Run) {
  // As many as are told apart (Site::Shapes).
  constexpr size_t Many = 4;
  std::vector<VaryingLine> Result;
  for (const Site &Each : Run.Sites)
    if (Each.CudaAllocatedBytes > 0 && Each.Shapes.size() >= Many)
      Result.push_back({lineOf(Each),
                        Each.Shapes.size() + (Each.OtherShapes > 0),
                        Each.CudaAllocatedBytes});
  std::stable_sort(Result.begin(), Result.end(),
                   [](const VaryingLine &A, const VaryingLine &B) {
                     return A.Bytes > B.Bytes;
                   });
  return Result;
}

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
    const std::string Module = moduleOf(Run.Sites[Each.Site].Stack);
    if (Bytes > 0 && !Module.empty() &&
        Sites[Each.Site].Memory == MemoryKind::Activations)
      addModule(Result, Module, Bytes);
  }
  std::stable_sort(
      Result.ByModule.begin(), Result.ByModule.end(),
      [](const auto &A, const auto &B) { return A.second > B.second; });
  if (IsCuda)
    Result.Varying = varyingLines(Run);
  Result.Lines = linesOf(
      Run, At.By,
      IsCuda ? +[](const Held &Of) { return Of.CudaBytes; }
             : +[](const Held &Of) { return Of.CpuBytes; });
  return Result;
}

} // namespace torchtidy::confirm

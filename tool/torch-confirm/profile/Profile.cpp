#include "profile/Profile.h"
#include "profile/Parts.h"
#include <algorithm>
#include <cmath>

namespace torchtidy::confirm {

SourceLine lineOf(const Site &Of) {
  return Of.Stack.empty() ? SourceLine() : Of.Stack.front();
}

bool isSameLine(const SourceLine &A, const SourceLine &B) {
  return A.Line == B.Line && A.File == B.File;
}

bool isHolder(const Site &Of) {
  // Of its nodes that are alive, so many are held by no other node, or are led
  // to by the newest one.
  constexpr double Share = 0.3;
  const double Nodes = double(Of.SweptNodes);
  return Nodes >= 4 && (double(Of.SweptRoots) >= Share * Nodes ||
                        double(Of.SweptChain) >= Share * Nodes);
}

bool runsBackward(const Recording &Run) {
  return std::any_of(Run.Sites.begin(), Run.Sites.end(),
                     [](const Site &S) { return S.Operation == "backward"; });
}

size_t commonFrames(const std::vector<SourceLine> &A,
                    const std::vector<SourceLine> &B) {
  size_t N = 0;
  while (N < A.size() && N < B.size() &&
         isSameLine(A[A.size() - 1 - N], B[B.size() - 1 - N]))
    ++N;
  return N;
}

std::string textOf(const SourceLine &Line) {
  if (Line.File.empty())
    return "(no line of the program's)";
  const size_t Slash = Line.File.rfind('/');
  return (Slash == std::string::npos ? Line.File
                                     : Line.File.substr(Slash + 1)) +
         ":" + std::to_string(Line.Line);
}

std::string memoryText(double Bytes) {
  const char *const Units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  size_t Unit = 0;
  double Value = std::abs(Bytes);
  while (Value >= 1024 && Unit + 1 < std::size(Units)) {
    Value /= 1024;
    ++Unit;
  }
  char Text[64];
  std::snprintf(Text, sizeof(Text),
                Unit && Value < 100 ? "%s%.1f %s" : "%s%.0f %s",
                Bytes < 0 ? "-" : "", Value, Units[Unit]);
  return Text;
}

Profile profileOf(const Recording &Run) {
  Profile Result;
  Result.Sites = classify(Run);
  Result.CpuPeak = peakOf(Run, Result.Sites, MomentKind::CpuPeak);
  Result.CudaPeak = peakOf(Run, Result.Sites, MomentKind::CudaPeak);
  const Growth Grown = growthOf(Run);
  Result.Memory = Grown.Memory;
  Result.Grown = Grown.Bytes + (Grown.Nodes > 0 ? Grown.BytesBeside : 0);
  Result.Unit = Grown.CountsIterations ? "iteration" : "second";
  if (Grown.Units > 0) {
    Result.BytesPerUnit = double(Result.Grown) / Grown.Units;
    Result.NodesPerUnit = double(Grown.Nodes) / Grown.Units;
  }
  Result.Failure = failureOf(Run);
  addTables(Run, Result);
  addChecked(Run, Result);
  Result.Causes = causesOf(Run, Result, Grown);
  Result.Headline = headlineOf(Run, Result, Grown);
  return Result;
}

} // namespace torchtidy::confirm

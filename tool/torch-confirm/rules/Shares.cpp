#include "rules/Shares.h"
#include "rules/Places.h"
#include <algorithm>
#include <cmath>

namespace torchtidy::confirm {
namespace {

bool isSameLine(const DiagnosedFinding &A, const DiagnosedFinding &B) {
  return A.Statement.File == B.Statement.File &&
         A.Statement.First == B.Statement.First;
}

/// Whether both were hit in the same time, as lines of one loop are.
bool overlap(const CallPath &A, const CallPath &B) {
  if (!A.Clock || !B.Clock || A.Clock->Series.empty() ||
      B.Clock->Series.empty())
    return false;
  const auto &First = A.Clock->Series, &Second = B.Clock->Series;
  return First.front().Seconds <= Second.back().Seconds &&
         Second.front().Seconds <= First.back().Seconds;
}

/// Whether they have measured the same growth: called from one function, at the
/// same time.
bool shareGrowth(const JudgedFinding &A, const JudgedFinding &B) {
  const auto &First = A.Result.Grows, &Second = B.Result.Grows;
  return First && Second && overlap(*First, *Second) &&
         distanceToShared(*First, *Second->Clock).has_value();
}

/// "line 12", "lines 12 and 15", "lines 12, 15 and 2 others"
std::string linesText(std::vector<unsigned> Lines) {
  std::sort(Lines.begin(), Lines.end());
  if (Lines.size() == 1)
    return "line " + std::to_string(Lines[0]);
  std::string Result = "lines " + std::to_string(Lines[0]) +
                       (Lines.size() == 2 ? " and " : ", ") +
                       std::to_string(Lines[1]);
  if (Lines.size() > 2)
    Result += " and " + countText(double(Lines.size() - 2), "other");
  return Result;
}

} // namespace

void splitShares(std::vector<JudgedFinding> &All) {
  // All are looked at before one is changed.
  std::vector<double> Shares(All.size(), 1);
  std::vector<std::vector<unsigned>> Others(All.size());
  for (size_t I = 0; I < All.size(); ++I) {
    if (!All[I].Result.Grows)
      continue;
    // Two findings of one line are one line.
    std::vector<size_t> Lines{I};
    double Sum = All[I].Result.OwnNodes;
    for (size_t J = 0; J < All.size(); ++J)
      if (std::none_of(Lines.begin(), Lines.end(),
                       [&](size_t Known) {
                         return isSameLine(All[Known].Finding, All[J].Finding);
                       }) &&
          shareGrowth(All[I], All[J])) {
        Lines.push_back(J);
        Sum += All[J].Result.OwnNodes;
        Others[I].push_back(All[J].Finding.Line);
      }
    if (Sum > 0)
      Shares[I] = All[I].Result.OwnNodes / Sum;
  }
  for (size_t I = 0; I < All.size(); ++I) {
    if (Others[I].empty())
      continue;
    Verdict &V = All[I].Result;
    V.Sentence += "; it shares that with " + linesText(Others[I]) + ", and " +
                  numberText(std::round(Shares[I] * 100)) +
                  " % of the nodes are its own";
    if (V.Number)
      *V.Number *= Shares[I];
    V.CostAmount *= Shares[I];
    if (V.GrownBytes > 0)
      V.CostText = bytesText(V.GrownBytes * Shares[I]) + " of " +
                   bytesText(V.GrownBytes) + " in this run";
  }
}

} // namespace torchtidy::confirm

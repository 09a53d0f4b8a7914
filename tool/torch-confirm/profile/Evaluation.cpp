// Evaluations that record a graph, which no backward() ever runs.
#include "profile/Parts.h"
#include <algorithm>
#include <set>

namespace torchtidy::confirm {
namespace {

/// Of the peak; less is no reason for it.
constexpr double LeastShare = 0.2;
/// Of what is recorded for nothing, a statement that is named has so much below
/// it.
constexpr double ShareOfStatement = 0.6;

using Frame = std::tuple<std::string, unsigned, std::string>;
Frame frameOf(const SourceLine &Line) {
  return {Line.File, Line.Line, Line.Function};
}

bool isForNothing(const Site &S) {
  return S.NodesMade > 0 && S.NodesRun == 0 && S.NodesRunOnce == 0;
}

/// Lines that a training runs, too: what is called by both.
std::set<Frame> framesOfTraining(const Recording &Run) {
  std::set<Frame> Result;
  for (const Site &S : Run.Sites)
    if (S.NodesRun > 0 || S.NodesRunOnce > 0)
      for (const SourceLine &Each : S.Stack)
        Result.insert(frameOf(Each));
  return Result;
}

/// The statement of the evaluation that most of it is recorded below, with its
/// callers.
std::vector<SourceLine> statementOf(const Recording &Run, const Moment &At,
                                    const std::vector<size_t> &Sites,
                                    int64_t Bytes) {
  const std::set<Frame> OfTraining = framesOfTraining(Run);
  std::vector<SourceLine> Result;
  std::set<size_t> Below(Sites.begin(), Sites.end());
  for (size_t Depth = 1;; ++Depth) {
    std::map<Frame, int64_t> ByFrame;
    std::map<Frame, SourceLine> Lines;
    for (const Held &Each : At.By) {
      const auto &Stack = Run.Sites[Each.Site].Stack;
      if (!Below.count(Each.Site) || Stack.size() < Depth)
        continue;
      const SourceLine &Line = Stack[Stack.size() - Depth];
      ByFrame[frameOf(Line)] += bytesOf(Each);
      Lines[frameOf(Line)] = Line;
    }
    const auto Most =
        std::max_element(ByFrame.begin(), ByFrame.end(),
                         [](const auto &A, const auto &B) {
                           return A.second < B.second;
                         });
    if (Most == ByFrame.end() ||
        double(Most->second) < ShareOfStatement * double(Bytes) ||
        OfTraining.count(Most->first))
      break;
    Result.insert(Result.begin(), Lines[Most->first]);
    for (auto It = Below.begin(); It != Below.end();) {
      const auto &Stack = Run.Sites[*It].Stack;
      const bool IsBelow = Stack.size() >= Depth &&
                           frameOf(Stack[Stack.size() - Depth]) == Most->first;
      It = IsBelow ? std::next(It) : Below.erase(It);
    }
  }
  return Result;
}

} // namespace

std::optional<Cause> recordedEvaluation(const Recording &Run,
                                        const PeakProfile &Peak) {
  if (std::none_of(Run.Sites.begin(), Run.Sites.end(), [](const Site &S) {
        return S.Operation == "backward";
      }))
    return std::nullopt;
  Cause Result;
  Result.Kind = CauseKind::RecordedEvaluation;
  const Moment &At = Run.Moments[Peak.Moment];
  for (const Held &Each : At.By)
    if (isForNothing(Run.Sites[Each.Site]) && bytesOf(Each) > 0) {
      Result.Sites.push_back(Each.Site);
      Result.Bytes += bytesOf(Each);
      Result.Nodes += Each.Nodes;
    }
  if (Result.Sites.empty() ||
      double(Result.Bytes) < LeastShare * double(Peak.Bytes))
    return std::nullopt;
  Result.Stack = statementOf(Run, At, Result.Sites, Result.Bytes);
  if (Result.Stack.empty())
    return std::nullopt;
  Result.Line = Result.Stack.front();
  Result.Share = double(Result.Bytes) / double(Peak.Bytes);
  Result.PeakWithout = Peak.Highest - Result.Bytes;
  Result.Check = "torch-missing-no-grad";
  Result.Cure = "no backward() runs what is recorded there: put "
                "torch::NoGradGuard (or c10::InferenceMode) before it";
  return Result;
}

} // namespace torchtidy::confirm

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
constexpr size_t MostStatements = 4;

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

/// It is the training's own: a view that is assigned to has a node that no
/// backward meets.
bool isOfTraining(const Site &S, const std::set<Frame> &OfTraining) {
  return std::all_of(S.Stack.begin(), S.Stack.end(), [&](const auto &Each) {
    return OfTraining.count(frameOf(Each)) > 0;
  });
}

/// Of sites that record for nothing, how much each weighs.
using Weights = std::map<size_t, int64_t>;

int64_t sumOf(const Weights &Of) {
  int64_t Sum = 0;
  for (const auto &[Site, Weight] : Of)
    Sum += Weight;
  return Sum;
}

/// The statement of the evaluation that most of it is recorded below, with its
/// callers; Below: then only the sites that are below it.
std::vector<SourceLine> statementOf(const Recording &Run,
                                    const std::set<Frame> &OfTraining,
                                    Weights &Below) {
  std::vector<SourceLine> Result;
  const int64_t All = sumOf(Below);
  for (size_t Depth = 1;; ++Depth) {
    std::map<Frame, int64_t> ByFrame;
    std::map<Frame, SourceLine> Lines;
    for (const auto &[Site, Weight] : Below) {
      const auto &Stack = Run.Sites[Site].Stack;
      if (Stack.size() < Depth)
        continue;
      const SourceLine &Line = Stack[Stack.size() - Depth];
      ByFrame[frameOf(Line)] += Weight;
      Lines[frameOf(Line)] = Line;
    }
    const auto Most = std::max_element(
        ByFrame.begin(), ByFrame.end(),
        [](const auto &A, const auto &B) { return A.second < B.second; });
    if (Most == ByFrame.end() ||
        double(Most->second) < ShareOfStatement * double(All) ||
        OfTraining.count(Most->first))
      return Result;
    Result.insert(Result.begin(), Lines[Most->first]);
    for (auto It = Below.begin(); It != Below.end();) {
      const auto &Stack = Run.Sites[It->first].Stack;
      const bool IsBelow = Stack.size() >= Depth &&
                           frameOf(Stack[Stack.size() - Depth]) == Most->first;
      It = IsBelow ? std::next(It) : Below.erase(It);
    }
  }
}

} // namespace

std::optional<Cause> recordedEvaluation(const Recording &Run,
                                        const PeakProfile &Peak) {
  if (!runsBackward(Run))
    return std::nullopt;
  Cause Result;
  Result.Kind = CauseKind::RecordedEvaluation;
  Weights Below;
  const Moment &At = Run.Moments[Peak.Moment];
  for (const Held &Each : At.By)
    if (isForNothing(Run.Sites[Each.Site]) && bytesOf(Each) > 0) {
      Result.Sites.push_back(Each.Site);
      Below[Each.Site] = bytesOf(Each);
      Result.Bytes += bytesOf(Each);
      Result.Nodes += Each.Nodes;
    }
  if (Result.Sites.empty() ||
      double(Result.Bytes) < LeastShare * double(Peak.Bytes))
    return std::nullopt;
  Result.Stack = statementOf(Run, framesOfTraining(Run), Below);
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

std::vector<RecordedStatement> recordedForNothing(const Recording &Run) {
  std::vector<RecordedStatement> Result;
  if (!runsBackward(Run))
    return Result;
  const std::set<Frame> OfTraining = framesOfTraining(Run);
  Weights Left;
  for (size_t I = 0; I < Run.Sites.size(); ++I)
    if (isForNothing(Run.Sites[I]) && !isOfTraining(Run.Sites[I], OfTraining))
      Left[I] = int64_t(Run.Sites[I].NodesMade);
  while (!Left.empty() && Result.size() < MostStatements) {
    Weights Below = Left;
    const auto Stack = statementOf(Run, OfTraining, Below);
    if (Stack.empty())
      break;
    // One statement may be reached in several ways.
    const auto Known = std::find_if(
        Result.begin(), Result.end(), [&](const RecordedStatement &Each) {
          return isSameLine(Each.Stack.front(), Stack.front());
        });
    if (Known == Result.end())
      Result.push_back({Stack, uint64_t(sumOf(Below))});
    else
      Known->Nodes += uint64_t(sumOf(Below));
    for (const auto &[Site, Weight] : Below)
      Left.erase(Site);
  }
  return Result;
}

} // namespace torchtidy::confirm

// The iterations between evaluations: what a training calls an epoch, as far as
// it evaluates after each.
//
// Iterations are recorded every n-th, and hits of a site, too, so that where an
// evaluation stood is known to a few iterations.
#include "profile/Parts.h"
#include <algorithm>

namespace torchtidy::confirm {
namespace {

/// In order.
std::vector<double> timesOfEvaluation(const Recording &Run, const Profile &Of) {
  std::vector<double> Result;
  for (size_t I = 0; I < Run.Sites.size(); ++I)
    if (Of.Sites[I].Phase == WorkPhase::Evaluation)
      for (const Sample &Each : Run.Sites[I].Series)
        Result.push_back(Each.Seconds);
  std::sort(Result.begin(), Result.end());
  return Result;
}

bool hasBetween(const std::vector<double> &Times, double From, double To) {
  const auto It = std::lower_bound(Times.begin(), Times.end(), From);
  return It != Times.end() && *It < To;
}

} // namespace

std::vector<EpochRow> epochsOf(const Recording &Run, const Profile &Of) {
  const std::vector<double> Times = timesOfEvaluation(Run, Of);
  std::vector<EpochRow> Result;
  double Before = 0;
  for (const Iteration &Each : Run.Iterations) {
    // It goes from the end of a step to that of the next one, so that what an
    // epoch ends with is in the first iteration of the next one.
    const double Starts =
        Each.BackwardBegin > 0 ? Each.BackwardBegin : Each.End;
    if (Result.empty() || hasBetween(Times, Before, Starts)) {
      Result.emplace_back();
      Result.back().First = Each.Number;
      Result.back().Begin = Result.size() > 1 ? Before : Each.Begin;
    }
    EpochRow &To = Result.back();
    To.Last = Each.Number;
    To.End = Each.End;
    To.Peak = std::max(To.Peak, Each.Peak);
    To.BytesAfter = Each.BytesAfter;
    Before = Each.End;
  }
  // Of a program that looks at something without a graph in each iteration they
  // are none, nor of one that never does.
  if (Result.size() < 2 || 2 * Result.size() > Run.Iterations.size())
    return {};
  return Result;
}

} // namespace torchtidy::confirm

// The usual mistakes, looked for in any run.
#include "profile/Parts.h"
#include <algorithm>

namespace torchtidy::confirm {
namespace {

/// A loop has the graph of an iteration or two; so many at once are kept.
constexpr double FewestGraphs = 4;
constexpr double ShareForNothing = 0.5;
constexpr uint64_t FewestTimes = 8;

std::string number(uint64_t N) { return std::to_string(N); }

/// The most of each line is told; or that it is fine, where there is nothing.
void tell(const char *What, bool IsLookedFor, std::vector<Checked> Found,
          Profile &To) {
  if (Found.empty() && IsLookedFor)
    Found.emplace_back();
  for (size_t I = 0; I < Found.size(); ++I) {
    const bool IsTold =
        std::any_of(Found.begin(), Found.begin() + std::ptrdiff_t(I),
                    [&](const Checked &Each) {
                      return isSameLine(Each.Line, Found[I].Line);
                    });
    if (IsTold)
      continue;
    Checked Each = Found[I];
    Each.What = What;
    To.Looked.push_back(std::move(Each));
  }
}

void lookForGradients(const Recording &Run, Profile &To) {
  uint64_t Steps = 0;
  std::vector<Checked> Found;
  for (const Site &S : Run.Sites) {
    if (S.Operation.rfind("step:", 0) == 0)
      Steps += S.Hits;
    if (S.UnclearedSteps)
      Found.push_back({"", false,
                       number(S.UnclearedSteps) + " of " + number(S.Hits) +
                           " steps left gradients that the next one applied "
                           "again",
                       lineOf(S), "torch-missing-zero-grad"});
  }
  tell("gradients are cleared between steps", Steps > 0, std::move(Found), To);
}

/// Graphs of so many iterations that are alive at once, for nothing.
double graphsKept(const Site &S) {
  if (!S.Hits || !S.NodesMade || S.MostNodesAlive < 0)
    return 0;
  const double Each = double(S.NodesMade) / double(S.Hits);
  const double ForNothing =
      double(S.NodesMade - std::min(S.NodesMade, S.NodesRunOnce)) +
      double(S.NodesStale);
  if (!isHolder(S) || ForNothing < ShareForNothing * double(S.NodesMade))
    return 0;
  return double(S.MostNodesAlive) / Each;
}

void lookForGraphs(const Recording &Run, Profile &To) {
  std::vector<Checked> Found;
  for (const Site &S : Run.Sites)
    if (const double Graphs = graphsKept(S); Graphs >= FewestGraphs)
      Found.push_back({"", false,
                       "graphs of up to " + number(uint64_t(Graphs)) +
                           " passes are kept at once",
                       lineOf(S), "torch-retained-graph"});
  tell("graphs go with their iteration", runsBackward(Run), std::move(Found),
       To);
}

void lookForEvaluations(const Recording &Run, Profile &To) {
  // What leads to a graph that is kept has that cause.
  const auto LeadsToKept = [&](const SourceLine &Line) {
    for (const Site &S : Run.Sites)
      if (graphsKept(S) >= FewestGraphs)
        for (const SourceLine &Frame : S.Stack)
          if (isSameLine(Frame, Line))
            return true;
    return false;
  };
  std::vector<Checked> Found;
  for (const RecordedStatement &Each : recordedForNothing(Run))
    if (!LeadsToKept(Each.Stack.front()))
      Found.push_back(
          {"", false,
           number(Each.Nodes) + " graph nodes recorded that no backward() runs",
           Each.Stack.front(), "torch-missing-no-grad"});
  tell("what is recorded is run backward", runsBackward(Run), std::move(Found),
       To);
}

void lookForCopies(const Recording &Run, Profile &To) {
  bool HasCopies = false;
  std::vector<Checked> Found;
  for (const Site &S : Run.Sites) {
    HasCopies |= !S.Copies.empty();
    if (S.CopiedAgain >= FewestTimes && 2 * S.CopiedAgain >= S.Hits)
      Found.push_back({"", false,
                       number(S.CopiedAgain) + " of " + number(S.Hits) +
                           " copies were of what was copied the time before",
                       lineOf(S), "torch-repeated-transfer"});
  }
  tell("nothing is copied twice", HasCopies, std::move(Found), To);
}

} // namespace

void addChecked(const Recording &Run, Profile &To) {
  lookForGradients(Run, To);
  lookForGraphs(Run, To);
  lookForEvaluations(Run, To);
  lookForCopies(Run, To);
}

} // namespace torchtidy::confirm

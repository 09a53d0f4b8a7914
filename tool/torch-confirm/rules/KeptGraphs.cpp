#include "rules/KeptGraphs.h"
#include "rules/Operations.h"
#include <algorithm>

namespace torchtidy::confirm {
namespace {

/// Of the nodes of a place, so many are held by itself.
constexpr double ShareHeld = 0.5;
constexpr uint64_t FewestToTellHolder = 3;
/// A graph that so many backwards run is run again for nothing: what is new in
/// each is at its end.
constexpr double RunsForNothing = 3;

uint64_t nodesMade(const std::vector<CallPath> &Paths) {
  uint64_t Result = 0;
  for (const Site *S : sitesOf(Paths))
    Result += S->NodesMade;
  return Result;
}

/// One tensor holds all nodes that the place makes in an iteration: layers of a
/// list are called at one place.
bool isHeldByTensors(const Site &S, uint64_t Iterations) {
  const double NodesOfOne = std::max(
      1.0, double(S.NodesMade) / double(std::max<uint64_t>(Iterations, 1)));
  return double(S.SweptRoots) * NodesOfOne >= ShareHeld * double(S.SweptNodes);
}

/// Its tensors do, or the chain of its own results.
bool holdsGraphs(const Site &S, uint64_t Iterations) {
  return isHeldByTensors(S, Iterations) ||
         double(S.SweptChain) >= ShareHeld * double(S.SweptNodes);
}

} // namespace

Kept longestKept(const std::vector<CallPath> &Paths) {
  Kept Result;
  for (const CallPath &Path : Paths)
    for (const Site *S : Path.Sites) {
      if (!S->NodesMade || !Path.Iterations)
        continue;
      const int64_t Most = std::max(S->MostNodesAlive, S->NodesAlive);
      const double Graphs =
          double(Most) / (double(S->NodesMade) / double(Path.Iterations));
      if (!Result.Builder || Graphs > Result.Graphs)
        Result = {&Path, S, Graphs};
    }
  return Result;
}

std::vector<CallPath> recording(std::vector<CallPath> Paths) {
  Paths.erase(std::remove_if(
                  Paths.begin(), Paths.end(),
                  [](const CallPath &Path) { return nodesMade({Path}) == 0; }),
              Paths.end());
  return Paths;
}

double shareForNothing(const CallPath &Path) {
  uint64_t Made = 0, ForNothing = 0;
  for (const Site *S : Path.Sites) {
    Made += S->NodesMade;
    if (S->NodesRunOnce &&
        double(S->NodesRun) >= RunsForNothing * double(S->NodesRunOnce)) {
      ForNothing += S->NodesMade;
      continue;
    }
    ForNothing += S->NodesMade - std::min(S->NodesMade, S->NodesRunOnce);
    ForNothing += S->NodesStale;
    // Run, and alive at the end.
    ForNothing += S->NodesRunOnce - std::min(S->NodesRunOnce, S->NodesRunGone);
  }
  return Made ? double(ForNothing) / double(Made) : 0;
}

double iterationsOfUnit(const Kept &Most) {
  return double(Most.Path->Iterations) /
         double(std::max<uint64_t>(Most.Builder->NodesAllGone, 1));
}

/// Of the operations that are nearest to the place: the others are of functions
/// that it calls, and what they keep is their own.
Holder holderOf(const CallPath &Path) {
  size_t Nearest = SIZE_MAX;
  for (const Site *S : Path.Sites)
    if (S->NodesMade)
      Nearest = std::min(Nearest, S->Stack.size());
  // Sites are in the order of their first hits. An own operation that comes
  // last and records nothing makes the result of the statement: what its
  // callees keep is not in it.
  if (const Site *Last = Path.Sites.back();
      !Last->NodesMade && Last->Stack.size() < Nearest && !handsOn(*Last))
    return Holder::Another;
  bool IsKnown = false;
  for (const Site *S : Path.Sites) {
    if (!S->NodesMade || S->Stack.size() != Nearest ||
        S->SweptNodes < FewestToTellHolder)
      continue;
    IsKnown = true;
    if (holdsGraphs(*S, Path.Iterations))
      return Holder::Itself;
  }
  return IsKnown ? Holder::Another : Holder::NotKnown;
}

bool areHeldByTensors(const Places &Where, const Kept &Most) {
  const auto Holds = [&](const Site &S) {
    return S.SweptNodes >= FewestToTellHolder &&
           isHeldByTensors(S, Most.Path->Iterations) &&
           double(std::max(S.MostNodesAlive, S.NodesAlive)) >=
               ShareHeld * Most.Graphs;
  };
  if (Where.Finding.Loop.isKnown())
    return std::any_of(Where.Loop.begin(), Where.Loop.end(),
                       [&](const Site *S) { return Holds(*S); });
  return std::any_of(Where.Run.Sites.begin(), Where.Run.Sites.end(),
                     [&](const Site &S) {
                       return Holds(S) && distanceToShared(*Most.Path, S) == 0;
                     });
}

std::string otherHolder(const Recording &Run, const CallPath &Than) {
  const Site *Most = nullptr;
  for (const Site &S : Run.Sites)
    if (S.SweptNodes >= FewestToTellHolder && !S.Stack.empty() &&
        holdsGraphs(S, Than.Iterations) && distanceToShared(Than, S) &&
        (!Most || S.SweptNodes > Most->SweptNodes))
      Most = &S;
  if (!Most)
    return "something else";
  const SourceLine &Line = Most->Stack.front();
  return Line.File == Than.Callers.front().File
             ? "line " + std::to_string(Line.Line)
             : Line.File.substr(Line.File.rfind('/') + 1) + ":" +
                   std::to_string(Line.Line);
}

} // namespace torchtidy::confirm

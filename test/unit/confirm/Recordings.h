// Recordings made by hand, in few words.
#ifndef TORCHTIDY_TEST_CONFIRM_RECORDINGS_H
#define TORCHTIDY_TEST_CONFIRM_RECORDINGS_H

#include "findings/Finding.h"
#include "recording/Recording.h"
#include "rules/Judge.h"
#include <functional>

namespace torchtidy::confirm {

constexpr const char *File = "/work/app/train.cpp";

/// A frame of a function in train.cpp.
inline SourceLine at(unsigned Line, const std::string &Function = "train") {
  return {File, Line, Function};
}

struct Hits {
  uint64_t Number = 0;
};

/// A run in which everything is measured.
class MadeRecording {
public:
  MadeRecording() {
    for (const char *Name :
         {"operations", "cpu-memory", "graph-nodes", "gradients", "copies",
          "synchronisations", "exceptions", "call-stacks", "line-numbers",
          "wrapped-memory", "members", "casts"})
      Run.Capabilities[Name].IsAvailable = true;
    Run.Command = {"./train"};
    Run.ExitCode = 0;
    Run.LibTorch = "2.11.0";
    Run.Sites.reserve(100);
  }

  /// An operation below these frames, innermost first.
  Site &site(const std::string &Operation, std::vector<SourceLine> Stack,
             uint64_t Hits) {
    Site &S = Run.Sites.emplace_back();
    S.Operation = Operation;
    S.Stack = std::move(Stack);
    S.Hits = Hits;
    S.MostNodesAlive = 0;
    return S;
  }

  /// An operation of a graph: so many nodes at each hit, of which so many are
  /// alive at once (those of a whole number of units, each of which ends with
  /// none), and all or none are run. Tensors of its own hold them.
  Site &graph(const std::string &Operation, std::vector<SourceLine> Stack,
              uint64_t Hits, uint64_t Nodes, int64_t MostAlive, bool IsRun) {
    Site &S = site(Operation, std::move(Stack), Hits);
    S.NodesMade = Hits * Nodes;
    S.MostNodesAlive = MostAlive;
    S.NodesRun = S.NodesRunOnce = S.NodesRunGone = IsRun ? S.NodesMade : 0;
    S.NodesAllGone = S.NodesMade / uint64_t(MostAlive);
    S.SweptNodes = S.SweptRoots = uint64_t(MostAlive);
    S.SweptChain = 1;
    S.Stretches = {{IsRun ? Hits : 1, S.NodesMade, S.NodesRun}};
    return S;
  }

  /// A graph that a backward runs at once and that stays all the same.
  Site &kept(const std::string &Operation, std::vector<SourceLine> Stack,
             uint64_t Hits, uint64_t Nodes) {
    Site &S = graph(Operation, std::move(Stack), Hits, Nodes,
                    int64_t(Hits * Nodes), true);
    S.NodesStale = S.NodesMade;
    return S;
  }

  Recording Run;
};

/// One sample for each hit.
inline void sample(Site &S,
                   const std::function<void(uint64_t, Sample &)> &Set) {
  for (uint64_t Hit = 1; Hit <= S.Hits; ++Hit) {
    Sample Each;
    Each.Hit = Hit;
    Set(Hit, Each);
    S.Series.push_back(Each);
  }
}

/// The nodes of the process when the site is hit.
inline void sampleNodes(Site &S,
                        const std::function<int64_t(uint64_t)> &Nodes) {
  sample(S, [&](uint64_t Hit, Sample &Each) { Each.Nodes = Nodes(Hit); });
}

inline DiagnosedFinding finding(const std::string &Evidence, unsigned First,
                                unsigned Last = 0) {
  DiagnosedFinding Result;
  Result.Check = "torch-some-check";
  Result.Message = "message";
  Result.Evidence = Evidence;
  Result.Line = First;
  Result.Statement = {File, First, Last ? Last : First};
  return Result;
}

/// At line 12.
inline DiagnosedFinding ofKind(FindingKind Kind,
                               const char *Evidence = "value") {
  DiagnosedFinding Result = finding(Evidence, 12);
  Result.Kind = Kind;
  return Result;
}

inline Verdict judgeOne(const DiagnosedFinding &Finding, const Recording &Run) {
  return judge({Finding}, Run).front().Result;
}

} // namespace torchtidy::confirm

#endif

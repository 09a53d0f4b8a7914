// graph-nodes-per-iteration: autograd graphs that stay alive from iteration to
// iteration.
//
// The nodes of the whole process would tell that something in a loop is kept,
// but not what. So the rule looks at the nodes that were made at the flagged
// line itself; where it makes none (`losses.push_back(loss)` is no operation),
// at those of the line that built the graph. Three things have to be so:
//
//   they stay      as many graphs are alive at once as a unit of the loop (an
//                  epoch, an episode, the whole run) has iterations, or half
//                  of them;
//   for nothing    no backward ran them, or they outlived further ones;
//   because of it  what holds them is a tensor of this line, or the chain that
//                  the line makes of its own results.
//
// Totals only give the number.
#include "rules/KeptGraphs.h"
#include "rules/Messages.h"
#include "rules/Operations.h"
#include "rules/Rule.h"
#include "rules/Series.h"
#include <algorithm>
#include <cmath>

namespace torchtidy::confirm {
namespace {

/// Up to so many are what any loop has: one, and two where a variable still
/// holds the last one.
constexpr double GraphsThatAreUsual = 3;
/// In between, this share of all iterations or less is a window that does not
/// grow.
constexpr double ShareOfWindow = 0.05;
/// Of all nodes that the place makes, so many have to be kept for nothing. (Not
/// all lead to a parameter, and the last ones are alive at the end.)
constexpr double ShareForNothing = 0.5;
/// A unit that ends with all graphs gone needs so many iterations to be told
/// from a loop that keeps its last graph or two.
constexpr double FewestOfUnit = 5;
/// Of the iterations of a unit, so many are alive at its end.
constexpr double ShareOfUnit = 0.5;
class GraphNodes : public Rule {
public:
  std::string evidence() const override { return "graph-nodes-per-iteration"; }
  std::vector<std::string> needs() const override { return {"graph-nodes"}; }
  Verdict judge(const Places &Where) const override;
  /// A store runs no operation, and a text names neither a loop nor a builder.
  std::optional<Verdict> judgeUnseen(const Places &Where) const override {
    const bool Ran = Where.ran().State == LineState::Ran;
    if (!Ran && !Where.isAmongLinesThatRan())
      return std::nullopt;
    Verdict V;
    V.Sentence =
        (Ran ? std::string("the line ran, but no operation of it was seen")
             : "no operation of this line was seen, and it may have none: the "
               "lines around it ran") +
        "; the finding does not say which line builds the graph (torch-tidy's "
        "SARIF does)";
    V.Rule = "no operation to count by";
    return V;
  }

private:
  /// \param AreOwn the flagged statement makes the nodes itself.
  Verdict judgeBuilders(const Places &Where,
                        const std::vector<CallPath> &Builders,
                        bool AreOwn) const;
  /// Of graphs that stay.
  Verdict judgeKept(const Places &Where, const Kept &Most, bool AreOwn) const;
  std::optional<Verdict> ofException(const Places &Where) const;
  Verdict confirmed(const Kept &Most) const;
};

std::optional<Verdict> GraphNodes::ofException(const Places &Where) const {
  if (Where.Finding.Kind != FindingKind::StateThrows ||
      !Where.Run.has("exceptions"))
    return std::nullopt;
  const auto &Paths =
      Where.Statement.empty() ? Where.IterationSite : Where.Statement;
  for (const CallPath &Path : Paths)
    for (const Site &S : Where.Run.Sites)
      if (const uint64_t Thrown = countMeant(Where.Finding.Kind, S);
          S.Operation == "backward" && Thrown && distanceToShared(Path, S)) {
        Verdict V;
        V.Result = Outcome::Confirmed;
        V.Sentence =
            "backward() threw: " + countText(double(Thrown), "exception") +
            " in " + countText(double(S.Hits), "call");
        V.Number = double(Thrown);
        V.Unit = "exceptions";
        V.Iterations = S.Hits;
        V.Rule = "exception of backward()";
        V.Cost = CostKind::WrongResult;
        V.CostAmount = double(Thrown);
        V.CostText = "the gradients are not computed";
        return V;
      }
  return std::nullopt;
}

Verdict GraphNodes::confirmed(const Kept &Most) const {
  const CallPath &Path = *Most.Path;
  const double Iterations = double(Path.Iterations);
  // Made there and kept; of the whole loop it is more.
  double Nodes = 0;
  for (const Site *S : Path.Sites)
    if (double(S->MostNodesAlive) * Iterations >=
        ShareOfUnit * Most.Graphs * double(S->NodesMade))
      Nodes += double(S->NodesMade) / Iterations;
  const double OwnNodes = Nodes * Iterations;
  double Bytes = 0;
  std::string Memory = "tensor memory";
  bool HasBytes = false;
  if (Path.Clock) {
    const auto &Series = Path.Clock->Series;
    if (const auto Growth = growthPerHit(Series, &Sample::Nodes))
      Nodes = std::max(Nodes, *Growth);
    const auto Heap = heapGrowthPerHit(Series);
    const auto Cpu = growthPerHit(Series, &Sample::CpuBytes);
    const auto Cuda = growthPerHit(Series, &Sample::CudaBytes);
    HasBytes = Cpu.has_value();
    Bytes = Cpu.value_or(0);
    // The heap holds the tensors of the CPU as well.
    if (Heap && *Heap > 0 && Series.back().HeapBytes >= 0) {
      Bytes = std::max(Bytes, *Heap);
      Memory = "host memory";
    }
    if (Cuda && *Cuda > Bytes) {
      Bytes = *Cuda;
      Memory = "device memory";
    }
    Bytes = std::max(Bytes, 0.0);
  }
  Verdict V;
  V.Result = Outcome::Confirmed;
  V.Sentence = (HasBytes ? bytesText(Bytes) + " of " + Memory + " and " : "") +
               countText(std::round(Nodes * 10) / 10, "graph node") +
               " kept per iteration, " + countText(Iterations, "iteration");
  if (Most.Graphs < 0.9 * Iterations)
    V.Sentence += ", the graphs of up to " +
                  numberText(std::round(Most.Graphs)) + " at once";
  V.Number = Nodes;
  V.Unit = "graph nodes per iteration";
  V.Iterations = Path.Iterations;
  V.Rule = "nodes made at line " + std::to_string(Path.Callers.front().Line) +
           " stay alive";
  V.Cost = CostKind::Growth;
  // What was held at once at the worst moment; nodes alone count a little, so
  // that findings without bytes are in order too.
  V.CostAmount = (Bytes + Nodes) * Most.Graphs;
  if (Bytes > 0)
    V.CostText = bytesText(Bytes * Most.Graphs) + " in this run";
  V.Grows = std::make_shared<CallPath>(Path);
  V.OwnNodes = OwnNodes;
  V.GrownBytes = Bytes * Most.Graphs;
  return V;
}

Verdict GraphNodes::judgeKept(const Places &Where, const Kept &Most,
                              bool AreOwn) const {
  const CallPath &Path = *Most.Path;
  const Holder By = holderOf(Path);
  if (By == Holder::Itself || (!AreOwn && areHeldByTensors(Where, Most)))
    return confirmed(Most);
  Verdict V;
  V.Iterations = Path.Iterations;
  V.Number = Most.Graphs;
  V.Unit = "graphs alive at once";
  V.Rule = "who holds the nodes";
  const std::string During =
      ", " + countText(double(Path.Iterations), "iteration");
  const std::string Line = std::to_string(Path.Callers.front().Line);
  if (By == Holder::NotKnown) {
    V.Sentence = "graphs stay, but there were too many nodes to find out what "
                 "holds them" +
                 During;
    return V;
  }
  const std::string Other = otherHolder(Where.Run, Path);
  if (AreOwn) {
    V.Result = Outcome::Refuted;
    V.Sentence = "line " + Line + " builds graphs that stay, but it is " +
                 Other + " that holds them" + During;
  } else {
    V.Sentence = "the graphs built at line " + Line + " are held by " + Other +
                 "; whether this line would hold them too shows when that is "
                 "mended" +
                 During;
  }
  return V;
}

Verdict GraphNodes::judgeBuilders(const Places &Where,
                                  const std::vector<CallPath> &Builders,
                                  bool AreOwn) const {
  const Kept Most = longestKept(Builders);
  const uint64_t Iterations = Most.Path->Iterations;
  const std::string Line = std::to_string(Most.Path->Callers.front().Line);
  const std::string AtOnce =
      "the graphs of at most " +
      countText(std::max(1.0, std::round(Most.Graphs * 10) / 10), "iteration") +
      " were alive at once, " + countText(double(Iterations), "iteration");
  auto Finish = [&](Verdict V, const char *Rule) {
    V.Iterations = Iterations;
    V.Number = V.Number ? V.Number : Most.Graphs;
    V.Unit = V.Unit.empty() ? "graphs alive at once" : V.Unit;
    V.Rule = Rule;
    return V;
  };

  if (Most.Builder->MostNodesAlive < 0)
    return Finish(verdict(Outcome::NotMeasurable,
                          "the recording does not say how many of the nodes of "
                          "line " +
                              Line + " were alive at once"),
                  "no count of nodes by line");
  if (Where.Finding.Kind == FindingKind::GraphOverwritten) {
    if (Iterations < 3)
      return Finish(
          verdict(Outcome::NotMeasurable,
                  "too few iterations: " + numberText(double(Iterations))),
          "needs 3 iterations");
    const bool IsExtra = Most.Graphs >= 1.5;
    return Finish(
        verdict(IsExtra ? Outcome::Confirmed : Outcome::Refuted, AtOnce),
        "an extra graph is alive");
  }
  if (Iterations < FewestForTrend)
    return Finish(
        verdict(Outcome::NotMeasurable,
                "too few iterations: " + numberText(double(Iterations)) +
                    ", and growth needs " + std::to_string(FewestForTrend)),
        "needs 20 iterations");

  const double PerUnit = iterationsOfUnit(Most);
  const bool FillsUnit = PerUnit >= FewestOfUnit &&
                         Most.Graphs > GraphsThatAreUsual &&
                         Most.Graphs >= ShareOfUnit * PerUnit;
  if (Most.Graphs > GraphsThatAreUsual &&
      shareForNothing(*Most.Path) < ShareForNothing) {
    // Graphs that a backward() after some iterations runs are kept for it.
    const uint64_t Backwards = backwardsNear(*Most.Path, Where.Run);
    const double Period =
        Backwards ? double(Iterations) / double(Backwards) : 0;
    return Finish(
        verdict(Outcome::Refuted,
                (Period > 1.5 ? "a backward() runs the graphs of " +
                                    numberText(std::round(Period)) +
                                    " iterations together and frees them: "
                              : "a backward() runs the graphs and frees "
                                "them: ") +
                    AtOnce),
        "kept until their backward()");
  }
  if (FillsUnit)
    return judgeKept(Where, Most, AreOwn);
  if (Most.Graphs <= GraphsThatAreUsual ||
      Most.Graphs <= ShareOfWindow * double(Iterations))
    return Finish(verdict(Outcome::Refuted, "the graph built at line " + Line +
                                                " does not stay: " + AtOnce),
                  "nodes do not stay alive");
  return Finish(
      verdict(Outcome::NotMeasurable,
              "too few iterations to tell a window from growth: " + AtOnce),
      "between a window and growth");
}

Verdict GraphNodes::judge(const Places &Where) const {
  if (auto V = ofException(Where))
    return *V;
  const std::vector<CallPath> Own = recording(Where.Statement);
  if (!Own.empty())
    return judgeBuilders(Where, Own, /*AreOwn=*/true);

  const auto OwnSites = sitesOf(Where.Statement);
  const bool OnlyHandsOn =
      std::all_of(OwnSites.begin(), OwnSites.end(),
                  [](const Site *S) { return handsOn(*S); });
  if (!OnlyHandsOn) {
    Verdict V = verdict(Outcome::Refuted,
                        "the operations of this line record no graph, " +
                            countText(double(Where.iterations()), "iteration"));
    V.Iterations = Where.iterations();
    V.Number = 0;
    V.Unit = "graph nodes per iteration";
    V.Rule = "no nodes made at the line";
    return V;
  }

  const std::vector<CallPath> Builders = recording(Where.IterationSite);
  if (!Builders.empty())
    return judgeBuilders(Where, Builders, /*AreOwn=*/false);
  Verdict V;
  V.Iterations = Where.iterations();
  const bool IsAnyMade =
      std::any_of(Where.Loop.begin(), Where.Loop.end(),
                  [](const Site *S) { return S->NodesMade > 0; });
  if (!Where.IterationSite.empty() || (!Where.Loop.empty() && !IsAnyMade)) {
    V.Result = Outcome::Refuted;
    V.Sentence = "no graph is recorded there, " +
                 countText(double(V.Iterations), "iteration");
    V.Number = 0;
    V.Unit = "graph nodes per iteration";
    V.Rule = "no nodes made";
    return V;
  }
  V.Result = Outcome::NotMeasurable;
  V.Sentence =
      "the line runs no operation of its own, and the finding does not "
      "say which line builds the graph (torch-tidy's SARIF does)";
  V.Rule = "no operation to count by";
  return V;
}

const RegisterRule<GraphNodes> RegisterGraphNodes;

} // namespace
} // namespace torchtidy::confirm

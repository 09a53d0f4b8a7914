// needless-backward: a backward() goes through a graph for gradients that no
// step() uses. What it goes through is counted, and what becomes of the
// gradients: also of those that only pass through it.
#include "rules/Rule.h"
#include <algorithm>
#include <climits>
#include <set>

namespace torchtidy::confirm {
namespace {

/// The share of created nodes that a backward must run for the graph to count
/// as gone through.
constexpr double ShareRunOnPurpose = 0.1;
/// Nodes that are run so often each are run by two backwards.
constexpr double RunsOfTwo = 1.5;
/// Of their gradients, so many are those of one of the two.
constexpr double ShareOfOne = 0.4;

/// In so many passes a step has to apply one of the gradients.
constexpr double ShareOfPasses = 0.5;

/// What becomes of gradients.
struct Ends {
  uint64_t Applied = 0, Dropped = 0, Read = 0;

  void add(const Site &S) {
    Applied += S.GradientsApplied;
    Dropped += S.GradientsDropped;
    Read += S.GradientsRead;
  }
};

/// The sites to whose nodes a backward goes on from these, and what becomes of
/// the gradients of the leaves there.
Ends behind(const std::vector<const Site *> &From, const Recording &Run) {
  Ends Result;
  std::set<const Site *> Seen(From.begin(), From.end());
  std::vector<const Site *> Left = From;
  while (!Left.empty()) {
    const Site *S = Left.back();
    Left.pop_back();
    for (const size_t Next : S->FlowsInto)
      if (Next < Run.Sites.size() && Seen.insert(&Run.Sites[Next]).second) {
        Left.push_back(&Run.Sites[Next]);
        Result.add(Run.Sites[Next]);
      }
  }
  return Result;
}

class NeedlessBackward : public Rule {
public:
  std::string evidence() const override { return "needless-backward"; }
  std::vector<std::string> needs() const override { return {"graph-nodes"}; }

  Verdict judge(const Places &Where) const override {
    const LineRange &Built = builder(Where.Finding);
    const std::vector<CallPath> Paths =
        Built.isKnown() ? nearest(Where.paths(Where.known(Built)), Where)
                        : Where.Statement;
    Verdict V;
    V.Rule = "nodes that a backward() runs";
    V.Unit = "graph nodes";
    if (Paths.empty()) {
      V.Result = Outcome::NotReached;
      V.Sentence = Where.unseenText();
      return V;
    }
    uint64_t Made = 0, Run = 0;
    for (const Site *S : sitesOf(Paths)) {
      Made += S->NodesMade;
      Run += S->NodesRun;
    }
    V.Iterations = iterationsOf(Paths);
    const std::string Line = std::to_string(
        Built.isKnown() ? Built.First : Where.Finding.Statement.First);
    V.Number = double(Run);
    if (double(Run) < ShareRunOnPurpose * double(Made) || !Run) {
      V.Result = Outcome::Refuted;
      V.Sentence = (Made ? "no backward() goes through the graph of line "
                         : "no graph is recorded at line ") +
                   Line + ", " + countText(double(V.Iterations), "time");
      return V;
    }
    Ends Own;
    for (const Site *S : sitesOf(Paths))
      Own.add(*S);
    const uint64_t Applied = Own.Applied, Dropped = Own.Dropped;
    // Of two backwards through one graph, each has its own use.
    const bool IsTwice = double(Run) >= RunsOfTwo * double(Made);
    const bool IsOneDropped =
        IsTwice && double(Dropped) >= ShareOfOne * double(Applied + Dropped);
    const double Passes = double(std::max<uint64_t>(V.Iterations, 1));
    const bool AreApplied =
        Applied > Dropped || double(Applied) >= ShareOfPasses * Passes;
    if (AreApplied && !IsOneDropped) {
      // That another step applies them is what the finding says.
      if (Where.Finding.Kind != FindingKind::GeneratorIsSpoiled)
        V.Result = Outcome::Refuted;
      V.Rule = "gradients of the leaves behind the graph";
      V.Number = double(Applied);
      V.Sentence = "a step applies gradients that come through the graph of "
                   "line " +
                   Line + ": " + numberText(double(Applied)) + " applied, " +
                   numberText(double(Dropped)) + " dropped";
      return V;
    }
    const Ends Further = behind(sitesOf(Paths), Where.Run);
    if (isUsedOnTheWay(V, Where.Finding, Further, Passes, Line) ||
        isRead(V, Own.Read + Further.Read, Line))
      return V;
    V.Result = Outcome::Confirmed;
    // A graph that is retained is run again.
    V.Sentence =
        "line " + Line + " makes " + countText(double(Made), "graph node") +
        ", and a backward() runs one of them " + countText(double(Run), "time");
    if (Applied > Dropped)
      V.Sentence += "; " + numberText(double(Dropped)) + " of " +
                    numberText(double(Applied + Dropped)) +
                    " gradients that come through it are dropped";
    V.Cost = CostKind::Calls;
    V.CostAmount = double(Run);
    V.CostText = countText(double(Run), "node") + " gone through in this run";
    return V;
  }

private:
  /// What gets gradients from behind the graph is trained through it. That a
  /// generator is trained through its discriminator says nothing of this pass.
  static bool isUsedOnTheWay(Verdict &V, const DiagnosedFinding &Finding,
                             const Ends &Further, double Passes,
                             const std::string &Line) {
    if (Finding.Kind != FindingKind::UnusedGradients ||
        double(Further.Applied) < ShareOfPasses * Passes)
      return false;
    V.Result = Outcome::Refuted;
    V.Rule = "gradients of the leaves that are reached through the graph";
    V.Number = double(Further.Applied);
    V.Sentence = "the backward() goes on from the graph of line " + Line +
                 " to leaves whose gradients a step applies: " +
                 numberText(double(Further.Applied)) + " applied, " +
                 numberText(double(Further.Dropped)) + " dropped";
    return true;
  }

  /// Whether a number that the program makes of a gradient is wanted, only its
  /// author knows.
  static bool isRead(Verdict &V, uint64_t Read, const std::string &Line) {
    if (!Read)
      return false;
    V.Rule = "gradients that operations of the program are given";
    V.Number = double(Read);
    V.Sentence = "no step applies the gradients that come through the graph "
                 "of line " +
                 Line + ", but the program itself gives " +
                 countText(double(Read), "gradient") + " to operations";
    return true;
  }

  /// A function that builds it may be called for several passes: meant is the
  /// call that is nearest to the flagged statement, and in the same function
  /// the last one before it.
  static std::vector<CallPath> nearest(std::vector<CallPath> Builders,
                                       const Places &Where) {
    using Rank = std::pair<size_t, unsigned>;
    std::vector<Rank> Ranks(Builders.size(), Rank(SIZE_MAX, 0));
    for (size_t I = 0; I < Builders.size(); ++I)
      for (const CallPath &Flagged : Where.Statement)
        if (const auto Away = rankOf(Flagged, *Builders[I].Sites.front()))
          Ranks[I] = std::min(Ranks[I], *Away);
    const auto Least = std::min_element(Ranks.begin(), Ranks.end());
    if (Least == Ranks.end() || Least->first == SIZE_MAX)
      return Builders;
    std::vector<CallPath> Result;
    for (size_t I = 0; I < Builders.size(); ++I)
      if (Ranks[I] == *Least)
        Result.push_back(Builders[I]);
    return Result;
  }

  /// Calls up to the function that both were called from, and lines from the
  /// one down to the other in it; what comes behind the flagged line is last.
  static std::optional<std::pair<size_t, unsigned>>
  rankOf(const CallPath &Flagged, const Site &Builder) {
    const auto Shared = distanceToShared(Flagged, Builder);
    if (!Shared || *Shared >= Flagged.Callers.size())
      return std::nullopt;
    const size_t Outside = Flagged.Callers.size() - *Shared;
    if (Outside > Builder.Stack.size())
      return std::pair<size_t, unsigned>(*Shared, 0);
    const unsigned Here = Flagged.Callers[*Shared].Line;
    const unsigned There = Builder.Stack[Builder.Stack.size() - Outside].Line;
    return std::pair<size_t, unsigned>(*Shared,
                                       There <= Here ? Here - There : UINT_MAX);
  }

  /// Where the graph is built, where that is not the flagged statement.
  static const LineRange &builder(const DiagnosedFinding &Finding) {
    static const LineRange None;
    for (const FindingNote &Note : Finding.Notes)
      if (Note.Role == NoteRole::GraphBuilt)
        return Note.Place;
    // What the other network has made is the operation that is told of.
    const auto &Kind = Finding.Kind;
    if (Kind == FindingKind::GeneratorInVain ||
        Kind == FindingKind::GeneratorIsSpoiled)
      return Finding.IterationSite;
    return None;
  }
};

const RegisterRule<NeedlessBackward> RegisterNeedlessBackward;

} // namespace
} // namespace torchtidy::confirm

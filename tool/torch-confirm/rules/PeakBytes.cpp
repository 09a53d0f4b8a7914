// peak-bytes: a forward pass records a graph that no backward runs, and so
// holds the activations of all layers at once; or gradients are kept through
// it.
#include "rules/Rule.h"
#include "rules/Series.h"
#include <algorithm>
#include <cmath>

namespace torchtidy::confirm {
namespace {

/// A stretch between two backwards is a training pass, or several of which one
/// is chosen; passes beyond so many times the usual stretch belong to none.
constexpr double LongStretch = 4;
/// Where the usual stretch runs all of its nodes but so many, there is nothing
/// to choose from.
constexpr double ShareLeftOver = 0.1;
constexpr double SeveralPasses = 1.5;
/// Of the nodes of a path, so many have to be of such passes.
constexpr double ShareUnused = 0.02;

/// The usual stretch of a site between two backwards.
struct UsualStretch {
  double Nodes = 0;
  /// Of these, not run: they lead to no parameter, or belong to passes that are
  /// not chosen.
  double ShareLeft = 0;
  /// It has several passes, and not all of them are run.
  bool IsChosen = false;
};

std::optional<UsualStretch> usualStretch(const Site &S) {
  const Stretch *Usual = nullptr;
  for (const Stretch &Each : S.Stretches)
    if (Each.NodesRun && (!Usual || Each.Count > Usual->Count))
      Usual = &Each;
  if (!Usual)
    return std::nullopt;
  UsualStretch Result;
  Result.Nodes = double(Usual->NodesMade) / double(Usual->Count);
  Result.ShareLeft =
      1 - std::min(1.0, double(Usual->NodesRun) / double(Usual->NodesMade));
  const double NodesOfPass =
      double(S.NodesMade) / double(std::max<uint64_t>(S.Hits, 1));
  Result.IsChosen = Result.Nodes >= SeveralPasses * NodesOfPass &&
                    Result.ShareLeft > ShareLeftOver;
  return Result;
}

/// Nodes of a site in passes that no backward came for, though it comes for
/// others of the same site: the function is called for evaluation as well.
double unusedBeside(const Site &S) {
  const std::optional<UsualStretch> Usual = usualStretch(S);
  if (!Usual)
    return double(S.NodesMade);
  double Result = 0;
  for (const Stretch &Each : S.Stretches) {
    const double Made = double(Each.NodesMade);
    const double Left = std::max(0.0, Made - double(Each.NodesRun));
    const bool IsLong = Made > LongStretch * Usual->Nodes * double(Each.Count);
    if (Usual->IsChosen && IsLong)
      Result += Left;
    else if (!Usual->IsChosen)
      Result += std::max(0.0, Left - Usual->ShareLeft * Made);
  }
  return Result;
}

/// A pass is chosen of several, which only shows when all are there.
bool isOneChosen(const CallPath &Path) {
  return std::any_of(Path.Sites.begin(), Path.Sites.end(), [](const Site *S) {
    const auto Usual = usualStretch(*S);
    return Usual && Usual->IsChosen;
  });
}

/// What a path makes in vain.
struct Unused {
  const CallPath *Path = nullptr;
  double Nodes = 0, Passes = 0;
};

Unused unusedOn(const CallPath &Path) {
  double Made = 0, Beside = 0, Used = 0;
  for (const Site *S : Path.Sites) {
    Made += double(S->NodesMade);
    if (S->NodesRun) {
      Used += double(S->NodesMade);
      Beside += unusedBeside(*S);
    }
  }
  const double Passes = double(std::max<uint64_t>(Path.Iterations, 1));
  if (Made && !Used)
    return {&Path, Made, Passes};
  if (Used && Beside >= ShareUnused * Used)
    return {&Path, Beside * Made / Used, Passes * Beside / Used};
  return {};
}

/// By how much the live bytes rise from the first operation of a pass to where
/// they are highest, typically.
double rise(const CallPath &Path, int64_t Sample::*Bytes) {
  std::optional<double> Least, Most;
  for (const Site *S : Path.Sites)
    if (const auto Here = typical(S->Series, Bytes)) {
      Least = std::min(Least.value_or(*Here), *Here);
      Most = std::max(Most.value_or(*Here), *Here);
    }
  return Least ? *Most - *Least : 0;
}

class PeakBytes : public Rule {
public:
  std::string evidence() const override { return "peak-bytes"; }
  std::vector<std::string> needs() const override { return {"graph-nodes"}; }

  Verdict judge(const Places &Where) const override {
    Verdict V;
    V.Rule = "nodes made and never run";
    if (Where.Statement.empty()) {
      V.Result = Outcome::NotReached;
      V.Sentence = Where.unseenText();
      return V;
    }
    // A function may be called for training and for evaluation; one call
    // path on which it records graphs without a use is enough.
    if (Where.Finding.Kind == FindingKind::RetainGraphInLoop)
      return ofKept(std::move(V), Where);
    if (Where.Finding.Kind == FindingKind::ZeroGradInPlace)
      return ofZeros(std::move(V), Where);
    if (std::optional<Verdict> Asked = ofAskedMode(V, Where))
      return *std::move(Asked);
    Unused Most;
    uint64_t Made = 0, Run = 0, Passes = 0;
    bool IsChosen = false;
    for (const CallPath &Path : Where.Statement) {
      for (const Site *S : Path.Sites) {
        Made += S->NodesMade;
        Run += S->NodesRun;
      }
      Passes += Path.Iterations;
      IsChosen |= isOneChosen(Path);
      const Unused Here = unusedOn(Path);
      if (Here.Path && (!Most.Path || Here.Passes > Most.Passes))
        Most = Here;
    }
    V.Iterations = Passes;
    V.Number = 0;
    V.Unit = "graph nodes per pass";
    if (!Made) {
      V.Result = Outcome::Refuted;
      V.Sentence = "no graph is recorded in " + passes(Passes);
      return V;
    }
    if (!Most.Path) {
      V.Number = double(Made) / double(std::max<uint64_t>(Passes, 1));
      V.Result = IsChosen ? Outcome::NotMeasurable : Outcome::Refuted;
      V.Sentence = "a backward pass runs " + numberText(double(Run)) + " of " +
                   countText(double(Made), "graph node") + ", " +
                   passes(Passes);
      if (IsChosen)
        V.Sentence += "; whether it is known before which ones are needed, the "
                      "run does not tell";
      return V;
    }
    V.Iterations = Most.Path->Iterations;
    const double Nodes = std::round(Most.Nodes / Most.Passes);
    const double Cpu = rise(*Most.Path, &Sample::CpuBytes);
    const double Cuda = rise(*Most.Path, &Sample::CudaBytes);
    const double Bytes = std::max(Cpu, Cuda);
    V.Result = Outcome::Confirmed;
    V.Number = Nodes;
    // Nodes are counted, not estimated: one pass is enough.
    V.Sentence = countText(Nodes, "graph node") +
                 " made per pass and run by no backward";
    if (Bytes > 0)
      V.Sentence += ", live " + std::string(Cuda > Cpu ? "device" : "tensor") +
                    " memory rises by " + bytesText(Bytes) + " in it";
    V.Sentence += ", " + passes(uint64_t(std::round(Most.Passes)));
    if (std::round(Most.Passes) < double(Most.Path->Iterations))
      V.Sentence += " of " + numberText(double(Most.Path->Iterations));
    V.Cost = CostKind::Peak;
    V.CostAmount = Bytes + Nodes;
    if (Bytes > 0)
      V.CostText = "up to " + bytesText(Bytes) + " of peak memory";
    return V;
  }

private:
  /// A thread that sets the mode itself has no need of the guard of another.
  static std::optional<Verdict> ofAskedMode(Verdict V, const Places &Where) {
    if (Where.Finding.Kind != FindingKind::ThreadUnguarded &&
        Where.Finding.Kind != FindingKind::ThreadStaticGuard)
      return std::nullopt;
    uint64_t Hits = 0, Asked = 0;
    for (const Site *S : sitesOf(Where.Statement)) {
      Hits += S->Hits;
      Asked += S->HitsAskedGrad;
    }
    if (!Asked)
      return std::nullopt;
    V.Iterations = Where.iterations();
    V.Rule = "threads that ask for a graph";
    V.Number = double(Asked);
    V.Unit = "operations";
    V.Sentence = "the thread has itself asked for grad mode to be on, " +
                 numberText(double(Asked)) + " of " +
                 countText(double(Hits), "operation");
    if (Asked == Hits)
      V.Result = Outcome::Refuted;
    return V;
  }

  /// What a backward() frees unless it is told not to is what goes with the
  /// graph later.
  static Verdict ofKept(Verdict V, const Places &Where) {
    uint64_t Hits = 0, Bytes = 0, Again = 0;
    for (const Site *S : sitesOf(Where.Statement))
      if (S->Operation == "backward") {
        Hits += S->Hits;
        Bytes += S->BytesKept;
        Again += S->NodesRunAgain;
      }
    V.Iterations = Where.iterations();
    V.Rule = "bytes that go with a graph when the next one is there";
    V.Unit = "bytes per pass";
    if (Again) {
      V.Result = Outcome::Refuted;
      V.Number = 0;
      V.Sentence = "another backward() goes through " +
                   countText(double(Again), "graph node") + " again, " +
                   passes(V.Iterations);
      return V;
    }
    if (!Bytes || Hits < 2) {
      V.Sentence = "nothing that a graph had kept went after the next one was "
                   "made, " +
                   passes(V.Iterations);
      return V;
    }
    V.Result = Outcome::Confirmed;
    // The last graph has no next one.
    V.Number = std::round(double(Bytes) / double(Hits - 1));
    V.Sentence = bytesText(*V.Number) +
                 " per pass are kept with a graph that no other backward() "
                 "goes through, until the next one is there, " +
                 passes(V.Iterations);
    V.Cost = CostKind::Peak;
    V.CostAmount = *V.Number;
    V.CostText = "up to " + bytesText(*V.Number) + " of peak memory";
    return V;
  }

  /// Each gradient that is filled with zeros was kept until here. What that
  /// comes to at the peak is another run's to tell.
  static Verdict ofZeros(Verdict V, const Places &Where) {
    uint64_t Filled = 0, Parts = 0;
    for (const Site *S : sitesOf(Where.Statement))
      if (S->Operation == "aten::zero_") {
        Filled += S->Hits;
        Parts += S->PartsWritten;
      }
    V.Iterations = Where.iterations();
    V.Rule = "gradients filled with zeros";
    V.Number = double(Filled);
    V.Unit = "gradients filled";
    V.Result = Filled ? Outcome::Confirmed : Outcome::Refuted;
    V.Sentence = Filled ? countText(double(Filled), "gradient") +
                              " kept and filled with zeros in this run"
                        : "no gradient was there to be filled with zeros";
    // They are wanted at their place, or that is where they are by chance.
    if (Parts && 2 * Parts >= Filled) {
      V.Result = Outcome::NotMeasurable;
      V.Rule = "gradients that are parts of larger memory";
      V.Sentence += "; " + numberText(double(Parts)) +
                    " of them are parts of larger memory, where they may have "
                    "to stay";
    }
    return V;
  }

  static std::string passes(uint64_t Count) {
    return numberText(double(Count)) + (Count == 1 ? " pass" : " passes");
  }
};

const RegisterRule<PeakBytes> RegisterPeakBytes;

} // namespace
} // namespace torchtidy::confirm

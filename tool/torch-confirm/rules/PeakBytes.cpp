// peak-bytes: a forward pass records a graph that no backward runs, and so
// holds the activations of all layers at once; or gradients are kept through
// it.
#include "rules/Rule.h"
#include "rules/Series.h"
#include <algorithm>

namespace torchtidy::confirm {
namespace {

/// The share of created nodes that a backward must run for the graph to count
/// as used.
constexpr double ShareRunOnPurpose = 0.1;

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
      return needsAnother(std::move(V), Where);
    if (Where.Finding.Kind == FindingKind::ZeroGradInPlace)
      return ofZeros(std::move(V), Where);
    const CallPath *Unused = nullptr;
    uint64_t Made = 0, Run = 0, UnusedMade = 0, Passes = 0;
    for (const CallPath &Path : Where.Statement) {
      uint64_t PathMade = 0, PathRun = 0;
      for (const Site *S : Path.Sites) {
        PathMade += S->NodesMade;
        PathRun += S->NodesRun;
      }
      Made += PathMade;
      Run += PathRun;
      Passes += Path.Iterations;
      const bool IsUnused =
          PathMade && double(PathRun) < ShareRunOnPurpose * double(PathMade);
      if (IsUnused && (!Unused || Path.Iterations > Unused->Iterations)) {
        Unused = &Path;
        UnusedMade = PathMade;
      }
    }
    V.Iterations = Passes;
    V.Number = 0;
    V.Unit = "graph nodes per pass";
    if (!Made) {
      V.Result = Outcome::Refuted;
      V.Sentence = "no graph is recorded in " + passes(Passes);
      return V;
    }
    if (!Unused) {
      V.Result = Outcome::Refuted;
      V.Number = double(Made) / double(std::max<uint64_t>(Passes, 1));
      V.Sentence = "a backward pass runs " + numberText(double(Run)) + " of " +
                   countText(double(Made), "graph node") + ", " +
                   passes(Passes);
      return V;
    }
    V.Iterations = Unused->Iterations;
    const double Nodes = double(UnusedMade) / double(Unused->Iterations);
    const double Cpu = rise(*Unused, &Sample::CpuBytes);
    const double Cuda = rise(*Unused, &Sample::CudaBytes);
    const double Bytes = std::max(Cpu, Cuda);
    V.Result = Outcome::Confirmed;
    V.Number = Nodes;
    // Nodes are counted, not estimated: one pass is enough.
    V.Sentence = countText(Nodes, "graph node") +
                 " made per pass and run by no backward";
    if (Bytes > 0)
      V.Sentence += ", live " + std::string(Cuda > Cpu ? "device" : "tensor") +
                    " memory rises by " + bytesText(Bytes) + " in it";
    V.Sentence += ", " + passes(Unused->Iterations);
    V.Cost = CostKind::Peak;
    V.CostAmount = Bytes + Nodes;
    if (Bytes > 0)
      V.CostText = "up to " + bytesText(Bytes) + " of peak memory";
    return V;
  }

private:
  /// A backward() that keeps its graph runs the same nodes as one that does
  /// not.
  static Verdict needsAnother(Verdict V, const Places &Where) {
    V.Iterations = Where.iterations();
    V.Rule = "needs a run without the argument";
    V.Sentence = "what the backward() would have freed shows only beside a run "
                 "without 'retain_graph', as in 'torch-confirm scenarios "
                 "--check " +
                 Where.Finding.Check + "', " + passes(V.Iterations);
    return V;
  }

  /// Each gradient that is filled with zeros was kept until here. What that
  /// comes to at the peak is another run's to tell.
  static Verdict ofZeros(Verdict V, const Places &Where) {
    uint64_t Filled = 0;
    for (const Site *S : sitesOf(Where.Statement))
      if (S->Operation == "aten::zero_")
        Filled += S->Hits;
    V.Iterations = Where.iterations();
    V.Rule = "gradients filled with zeros";
    V.Number = double(Filled);
    V.Unit = "gradients filled";
    V.Result = Filled ? Outcome::Confirmed : Outcome::Refuted;
    V.Sentence = Filled ? countText(double(Filled), "gradient") +
                              " kept and filled with zeros in this run"
                        : "no gradient was there to be filled with zeros";
    return V;
  }

  static std::string passes(uint64_t Count) {
    return numberText(double(Count)) + (Count == 1 ? " pass" : " passes");
  }
};

const RegisterRule<PeakBytes> Register;

} // namespace
} // namespace torchtidy::confirm

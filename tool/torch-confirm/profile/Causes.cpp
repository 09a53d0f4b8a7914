// Why memory grows: which line holds what stays.
//
// A kept graph is held by what no other node leads to: the look that the probe
// takes at all graphs (Site::SweptRoots, SweptChain) says at which site that is
// made. All other sites of the graph, and what they have saved, are there
// because of it. Tensors without a graph are there because somebody keeps them;
// the line that made them is what can be told.
#include "profile/Parts.h"
#include <algorithm>

namespace torchtidy::confirm {
namespace {

constexpr size_t MostCauses = 8;

double lastSeen(const Site &S) {
  return S.Series.empty() ? 0 : S.Series.back().Seconds;
}

class CausesOfGrowth {
public:
  CausesOfGrowth(const Recording &Run, const Profile &Of, const Growth &Grown)
      : Run(Run), Of(Of), Grown(Grown) {}

  std::vector<Cause> find() {
    split();
    addGraphs();
    addOptimizers();
    for (const SiteGrowth &Each : Tensors)
      addTo(causeAt(CauseKind::KeptTensors, Each.Site), Each);
    finish();
    return std::move(Result);
  }

private:
  const Recording &Run;
  const Profile &Of;
  const Growth &Grown;
  std::vector<SiteGrowth> Graphs, Tensors;
  std::vector<Cause> Result;

  const Site &at(const SiteGrowth &Each) const { return Run.Sites[Each.Site]; }

  void split() {
    for (const SiteGrowth &Each : Grown.Sites)
      (Each.Nodes > 0 ? Graphs : Tensors).push_back(Each);
    // What a graph has saved of tensors that have none grows as it does.
    if (Graphs.empty())
      return;
    const auto IsSaved = [&](const SiteGrowth &Each) {
      const MemoryKind Kind = Of.Sites[Each.Site].Memory;
      return Kind != MemoryKind::Parameters && isBesideGraph(Each);
    };
    const auto End = std::stable_partition(
        Tensors.begin(), Tensors.end(),
        [&](const SiteGrowth &Each) { return !IsSaved(Each); });
    Graphs.insert(Graphs.end(), End, Tensors.end());
    Tensors.erase(End, Tensors.end());
  }

  /// One block of it for each graph that is kept.
  bool isBesideGraph(const SiteGrowth &Each) const {
    const Site &S = at(Each);
    if (!S.Allocations && !S.CudaAllocations)
      return false;
    const double Size =
        double(S.AllocatedBytes + S.CudaAllocatedBytes) /
        double(std::max<uint64_t>(1, S.Allocations + S.CudaAllocations));
    const double Blocks = Size > 0 ? double(Each.Bytes) / Size : 0;
    return std::any_of(Graphs.begin(), Graphs.end(),
                       [&](const SiteGrowth &Graph) {
                         const double Nodes = double(Graph.Nodes);
                         return Graph.Nodes > 0 && Blocks > 0.8 * Nodes &&
                                Blocks < 1.25 * Nodes;
                       });
  }

  Cause &causeAt(CauseKind Kind, size_t Site) {
    const SourceLine Line = lineOf(Run.Sites[Site]);
    for (Cause &Each : Result)
      if (Each.Kind == Kind && isSameLine(Each.Line, Line))
        return Each;
    Cause New;
    New.Kind = Kind;
    New.Line = Line;
    New.Stack = Run.Sites[Site].Stack;
    Result.push_back(std::move(New));
    return Result.back();
  }

  void addTo(Cause &To, const SiteGrowth &Each) const {
    To.Sites.push_back(Each.Site);
    To.Bytes += Each.Bytes;
    To.Nodes += Each.Nodes;
  }

  void addGraphs() {
    if (Graphs.empty())
      return;
    std::vector<size_t> Holders;
    for (const SiteGrowth &Each : Graphs)
      if (Each.Nodes > 0 && isHolder(at(Each)))
        Holders.push_back(Each.Site);
    if (Holders.empty()) {
      // What is made last leads to all the others.
      const auto Last =
          std::max_element(Graphs.begin(), Graphs.end(),
                           [&](const SiteGrowth &A, const SiteGrowth &B) {
                             return lastSeen(at(A)) < lastSeen(at(B));
                           });
      Holders.push_back(Last->Site);
    }
    for (const SiteGrowth &Each : Graphs)
      addTo(causeAt(CauseKind::KeptGraphs, holderOf(Each.Site, Holders)), Each);
  }

  /// The holder with which it shares most of its way; of several the last one.
  size_t holderOf(size_t Site, const std::vector<size_t> &Holders) const {
    size_t Best = Holders.front();
    size_t Most = 0;
    for (const size_t Each : Holders) {
      const size_t Common = Each == Site ? SIZE_MAX
                                         : commonFrames(Run.Sites[Each].Stack,
                                                        Run.Sites[Site].Stack);
      if (Common > Most || (Common == Most && lastSeen(Run.Sites[Each]) >
                                                  lastSeen(Run.Sites[Best]))) {
        Best = Each;
        Most = Common;
      }
    }
    return Best;
  }

  /// Parameters that stay have gradients and state that stay with them.
  void addOptimizers() {
    const auto IsOf = [&](MemoryKind Kind) {
      return [this, Kind](const SiteGrowth &Each) {
        return Of.Sites[Each.Site].Memory == Kind;
      };
    };
    if (std::none_of(Tensors.begin(), Tensors.end(),
                     IsOf(MemoryKind::OptimizerState)))
      return;
    const std::optional<size_t> Made = optimizerMadeOften();
    const auto Parameters = std::find_if(Tensors.begin(), Tensors.end(),
                                         IsOf(MemoryKind::Parameters));
    if (!Made && Parameters == Tensors.end())
      return;
    Cause &To =
        causeAt(CauseKind::KeptTensors, Made ? *Made : Parameters->Site);
    for (const MemoryKind Kind :
         {MemoryKind::OptimizerState, MemoryKind::Gradients,
          MemoryKind::Parameters})
      for (const SiteGrowth &Each : Tensors)
        if (Of.Sites[Each.Site].Memory == Kind)
          addTo(To, Each);
    To.Cure = "parameters stay in an optimizer that has no use for them any "
              "more: make a new optimizer for those that are left, or make it "
              "once";
    const auto IsTold = [&](const SiteGrowth &Each) {
      return std::find(To.Sites.begin(), To.Sites.end(), Each.Site) !=
             To.Sites.end();
    };
    Tensors.erase(std::remove_if(Tensors.begin(), Tensors.end(), IsTold),
                  Tensors.end());
  }

  /// Where optimizers, or groups of parameters for them, are made again and
  /// again.
  std::optional<size_t> optimizerMadeOften() const {
    std::optional<size_t> Most;
    for (size_t I = 0; I < Run.Sites.size(); ++I)
      if (Run.Sites[I].Operation == "optimizer" && Run.Sites[I].Hits >= 3 &&
          (!Most || Run.Sites[I].Hits > Run.Sites[*Most].Hits))
        Most = I;
    return Most;
  }

  void finish() {
    const double Units = std::max(Grown.Units, 1e-9);
    addNodesOfGraphs();
    const int64_t Peak = (Of.CpuPeak ? Of.CpuPeak->Highest : 0) +
                         (Of.CudaPeak ? Of.CudaPeak->Highest : 0);
    for (Cause &Each : Result) {
      Each.BytesPerUnit = double(Each.Bytes) / Units;
      Each.NodesPerUnit = double(Each.Nodes) / Units;
      Each.Share = Of.Grown > 0 ? double(Each.Bytes) / double(Of.Grown) : 1;
      Each.PeakWithout = std::max<int64_t>(0, Peak - keptAtPeak(Each));
      addAdvice(Each);
    }
    std::stable_sort(
        Result.begin(), Result.end(), [](const Cause &A, const Cause &B) {
          return A.Bytes != B.Bytes ? A.Bytes > B.Bytes : A.Nodes > B.Nodes;
        });
    if (Result.size() > MostCauses)
      Result.resize(MostCauses);
  }

  /// Nodes take memory that is no tensor's: what the process grew by beside
  /// tensors while they did.
  void addNodesOfGraphs() {
    if (Grown.Nodes <= 0)
      return;
    for (Cause &Each : Result)
      Each.Bytes += int64_t(double(Grown.BytesBeside) * double(Each.Nodes) /
                            double(Grown.Nodes));
  }

  /// What its sites held just before most was alive, between two iterations:
  /// what an iteration needs itself is not in it. But for what one unit leaves.
  int64_t keptAtPeak(const Cause &Kept) const {
    const auto Highest =
        std::max_element(Run.Moments.begin(), Run.Moments.end(),
                         [](const Moment &A, const Moment &B) {
                           return bytesOf(A) < bytesOf(B);
                         });
    if (Highest == Run.Moments.end())
      return 0;
    const MomentKind Between =
        Grown.CountsIterations ? MomentKind::AfterStep : MomentKind::Regular;
    const Moment *Before = &*Highest;
    for (const Moment &Each : Run.Moments)
      if (Each.Kind == Between && Each.Seconds <= Highest->Seconds)
        Before = &Each;
    int64_t Bytes = 0;
    for (const Held &Each : Before->By)
      if (std::find(Kept.Sites.begin(), Kept.Sites.end(), Each.Site) !=
          Kept.Sites.end())
        Bytes += bytesOf(Each);
    return std::max<int64_t>(0, Bytes - int64_t(Kept.BytesPerUnit));
  }

  static void addAdvice(Cause &To) {
    if (To.Kind == CauseKind::KeptGraphs) {
      To.Check = "torch-retained-graph";
      To.Cure = "what is kept there holds a graph: keep a number "
                "(.item<float>()), or .detach() what is kept";
    } else if (To.Cure.empty()) {
      To.Cure = "the tensors that are made there are kept: drop those that are "
                "not used any more, or give what keeps them a bound";
    }
  }
};

/// The statement of the loop that leads to it.
std::optional<SourceLine> callerInLoop(const Recording &Run, const Cause &Of) {
  if (!Run.IterationSite || *Run.IterationSite >= Run.Sites.size())
    return std::nullopt;
  for (const SourceLine &Frame : Of.Stack) {
    const auto &Loop = Run.Sites[*Run.IterationSite].Stack;
    const bool IsInLoop =
        std::any_of(Loop.begin(), Loop.end(), [&](const SourceLine &Each) {
          return Each.File == Frame.File && Each.Function == Frame.Function;
        });
    if (IsInLoop)
      return isSameLine(Frame, Of.Line) ? std::nullopt
                                        : std::make_optional(Frame);
  }
  return std::nullopt;
}

std::vector<Cause> allCauses(const Recording &Run, const Profile &Of,
                             const Growth &Grown) {
  std::vector<Cause> Result;
  if (Of.Memory == Trend::Grows)
    Result = CausesOfGrowth(Run, Of, Grown).find();
  const auto &Peak = Of.CudaPeak ? Of.CudaPeak : Of.CpuPeak;
  if (!Peak)
    return Result;
  if (auto Recorded = recordedEvaluation(Run, *Peak);
      Recorded && Of.Memory != Trend::Grows)
    Result.push_back(std::move(*Recorded));
  if (Of.Memory != Trend::Grows && !Peak->Lines.empty())
    Result.push_back(causeOfPeak(Run, *Peak, Of.CudaPeak.has_value()));
  return Result;
}

} // namespace

std::vector<Cause> causesOf(const Recording &Run, const Profile &Of,
                            const Growth &Grown) {
  std::vector<Cause> Result = allCauses(Run, Of, Grown);
  for (Cause &Each : Result)
    Each.Caller = callerInLoop(Run, Each);
  return Result;
}

} // namespace torchtidy::confirm

// A run with a timeline, made by hand: a training loop that keeps the graph of
// every loss.
#ifndef TORCHTIDY_TEST_CONFIRM_REPORTRECORDING_H
#define TORCHTIDY_TEST_CONFIRM_REPORTRECORDING_H

#include "Recordings.h"
#include "profile/Profile.h"
#include <algorithm>

namespace torchtidy::confirm {

/// Bytes are in KiB, times in milliseconds.
struct MadeTraining {
  static constexpr uint64_t Iterations = 40;
  static constexpr uint32_t Main = 4711, Autograd = 4712;
  enum : size_t { Weight, Batch, Forward, Loss, Backward, Step };

  /// \param HasCuda activations and weights are on a CUDA device.
  explicit MadeTraining(bool HasCuda = false) : OnCuda(HasCuda) {
    Recording &R = Made.Run;
    R.Process = Main;
    R.Seconds = 0.5;
    R.Command = {"build/train", "--epochs", "1"};
    if (HasCuda) {
      R.Capabilities["cuda-memory"].IsAvailable = true;
      R.CudaDevice = "NVIDIA H100";
    }
    site("aten::randn", {at(5, "make"), at(30, "main")}, MemoryKind::Parameters,
         WorkPhase::Other, 1);
    site("aten::rand", {at(10, "batch"), at(12)}, MemoryKind::Other,
         WorkPhase::Data, Iterations);
    site("aten::linear",
         {{"/work/app/net \"wide\".h", 7, "Net::forward"}, at(13)},
         MemoryKind::Activations, WorkPhase::Forward, Iterations);
    site("aten::mse_loss", {at(14)}, MemoryKind::Activations,
         WorkPhase::Forward, Iterations);
    site("backward", {at(15)}, MemoryKind::Gradients, WorkPhase::Backward,
         Iterations);
    site("step:SGD", {at(16)}, MemoryKind::OptimizerState, WorkPhase::Step,
         Iterations);
    R.Sites[Forward].Shapes = {{"Float[32,3] on cpu", Iterations}};
    for (uint64_t I = 1; I <= Iterations; ++I)
      iteration(I);
    R.IterationCount = Iterations;
    R.IterationSite = Step;
    growth();
  }

  Recording &run() { return Made.Run; }

  Profile What;

private:
  static constexpr int64_t KiB = 1024;

  void site(const std::string &Operation, std::vector<SourceLine> Stack,
            MemoryKind Memory, WorkPhase Phase, uint64_t Hits) {
    Made.site(Operation, std::move(Stack), Hits);
    What.Sites.push_back({Phase, Memory});
  }

  void event(size_t Site, uint32_t Thread, double Begin, double End) {
    Made.Run.Events.push_back({Site, Thread, Begin / 1e3, End / 1e3});
  }

  Moment &moment(MomentKind Kind, double Begin, uint64_t Ended,
                 std::vector<Held> By) {
    Moment &Each = Made.Run.Moments.emplace_back();
    Each.Kind = Kind;
    Each.Seconds = Begin / 1e3;
    Each.Iterations = Ended;
    for (Held &Part : By) {
      if (OnCuda && Part.Site != Batch)
        std::swap(Part.CpuBytes, Part.CudaBytes);
      Each.CpuBytes += Part.CpuBytes;
      Each.CudaBytes += Part.CudaBytes;
      Each.Nodes += Part.Nodes;
    }
    // Memory that no site is known for.
    Each.CpuBytes += 3 * KiB;
    Each.CudaReserved = OnCuda ? Each.CudaBytes + 100 * KiB : 0;
    Each.ResidentBytes = Each.CpuBytes + 5000 * KiB;
    Each.By = std::move(By);
    return Each;
  }

  void iteration(uint64_t I) {
    const double Begin = 10 * double(I);
    const auto Kept = int64_t(I);
    event(Batch, Main, Begin + 0.5, Begin + 1);
    event(Forward, Main, Begin + 1, Begin + 3);
    event(Loss, Main, Begin + 3, Begin + 4);
    event(Backward, Main, Begin + 4, Begin + 7);
    // What the other thread runs overlaps with its neighbour, as clocks have
    // it.
    event(Forward, Autograd, Begin + 4.5, Begin + 6);
    event(Loss, Autograd, Begin + 5, Begin + 6.00001);
    event(Step, Main, Begin + 8, Begin + 9);
    const std::vector<Held> After = {{Weight, 64 * KiB, 0, 0},
                                     {Batch, 8 * KiB, 0, 0},
                                     {Loss, 2 * Kept * KiB, 0, Kept},
                                     {Backward, 64 * KiB, 0, 0}};
    std::vector<Held> Full = After;
    Full.push_back({Forward, 200 * KiB, 0, 5});
    moment(MomentKind::CpuPeak, Begin + 4, I - 1, Full);
    moment(MomentKind::AfterStep, Begin + 9, I, After);
    Iteration &Each = Made.Run.Iterations.emplace_back();
    Each.Number = I;
    Each.Begin = Begin / 1e3;
    Each.End = (Begin + 9) / 1e3;
    Each.BackwardBegin = (Begin + 4) / 1e3;
    Each.BackwardEnd = (Begin + 7) / 1e3;
    Each.StepBegin = (Begin + 8) / 1e3;
    Each.Peak = 400 * KiB;
  }

  void growth() {
    Cause Graphs;
    Graphs.Kind = CauseKind::KeptGraphs;
    Graphs.Line = at(14);
    Graphs.Stack = {at(14), at(30, "main")};
    Graphs.Sites = {Loss};
    Graphs.Bytes = 2 * int64_t(Iterations) * KiB;
    Graphs.Nodes = Iterations;
    Graphs.BytesPerUnit = 2 * KiB;
    Graphs.NodesPerUnit = 1;
    Graphs.Share = 1;
    Graphs.PeakWithout = 340 * KiB;
    Graphs.Check = "torch-retained-graph";
    Graphs.Cure = "keep loss.item<float>() or loss.detach()";
    Cause Peak;
    Peak.Kind = CauseKind::Peak;
    Peak.Line = {"/work/app/net \"wide\".h", 7, "Net::forward"};
    Peak.Stack = {Peak.Line, at(13)};
    Peak.Sites = {Forward};
    Peak.Bytes = 200 * KiB;
    Peak.Share = 0.5;
    What.Memory = Trend::Grows;
    What.Headline = "memory grows by 2.0 KiB per iteration";
    What.Causes = {Graphs, Peak};
    What.CpuPeak = peakAt(&Moment::CpuBytes);
    if (OnCuda)
      What.CudaPeak = peakAt(&Moment::CudaBytes);
  }

  PeakProfile peakAt(int64_t Moment::*Of) const {
    const auto &Moments = Made.Run.Moments;
    const auto It = std::max_element(
        Moments.begin(), Moments.end(),
        [&](const Moment &A, const Moment &B) { return A.*Of < B.*Of; });
    PeakProfile Result;
    Result.Seconds = It->Seconds;
    Result.Bytes = Result.Highest = (*It).*Of;
    Result.Moment = size_t(It - Moments.begin());
    return Result;
  }

  const bool OnCuda;
  MadeRecording Made;
};

} // namespace torchtidy::confirm

#endif

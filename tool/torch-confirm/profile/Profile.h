// What a run did with memory and time, and why: what `torch-confirm report`
// says, before it is put into words, a page or a file.
//
// Made of a Recording with a timeline by profileOf(). Nothing in here needs a
// finding of torch-tidy's.
#ifndef TORCHTIDY_CONFIRM_PROFILE_PROFILE_H
#define TORCHTIDY_CONFIRM_PROFILE_PROFILE_H

#include "recording/Recording.h"

namespace torchtidy::confirm {

/// What part of a program's work a site belongs to.
enum class WorkPhase { Data, Forward, Backward, Step, Evaluation, Other };
constexpr size_t WorkPhaseCount = 6;
/// "data", "forward", "backward", "step", "evaluation", "other"
const char *nameOf(WorkPhase Of);

/// What the memory is that a site takes.
enum class MemoryKind {
  Parameters,
  Gradients,
  OptimizerState,
  /// What a graph has saved, and results that are part of one.
  Activations,
  /// Made without a graph: batches, datasets, metrics.
  Other,
};
constexpr size_t MemoryKindCount = 5;
/// "parameters", "gradients", "optimizer state", "activations", "other"
const char *nameOf(MemoryKind Of);

/// What is known of a site besides what was recorded; Profile::Sites has one
/// for each of Recording::Sites, in their order.
struct SiteProfile {
  WorkPhase Phase = WorkPhase::Other;
  MemoryKind Memory = MemoryKind::Other;
};

/// Sites at one line of the user's, together.
struct LineMemory {
  SourceLine Line;
  /// Those of them that hold most, with their call chains.
  std::vector<size_t> Sites;
  int64_t Bytes = 0, Nodes = 0;
};

enum class CauseKind {
  /// Graphs are kept from one iteration to the next.
  KeptGraphs,
  /// Tensors without a graph are kept.
  KeptTensors,
  /// No growth: most of the peak is there at once.
  Peak,
  /// A graph is recorded in an evaluation.
  RecordedEvaluation,
};

/// One reason why memory grows or is as high as it is.
struct Cause {
  CauseKind Kind = CauseKind::KeptTensors;
  /// The line that holds it, as far as that can be told: where the newest node
  /// of a kept graph is made, or where the kept tensors come from.
  SourceLine Line;
  /// The call chain, innermost first; Line is one of it.
  std::vector<SourceLine> Stack;
  /// The one of its callers that is in the function of the training's loop;
  /// none where that is Line, or where it is not known.
  std::optional<SourceLine> Caller;
  /// Sites whose memory it is, the largest first.
  std::vector<size_t> Sites;
  /// What it held when most was alive, with what lives because of it.
  int64_t Bytes = 0, Nodes = 0;
  /// Per iteration of Profile::Unit; 0 for a peak.
  double BytesPerUnit = 0, NodesPerUnit = 0;
  /// Of what has grown, or of the peak: 0 to 1.
  double Share = 0;
  /// What the run would have needed at most without it, in tensor bytes.
  int64_t PeakWithout = 0;
  /// A check of torch-tidy's that knows it; empty for none.
  std::string Check;
  /// What to do, in one sentence.
  std::string Cure;
};

/// How memory went over the run.
enum class Trend {
  /// It grew until the end.
  Grows,
  /// It does not grow.
  Level,
  /// The run is too short to tell.
  Unknown,
};

struct IterationRow {
  /// "first", "typical", "last", "worst"
  std::string Which;
  Iteration Of;
};

/// Iterations between two evaluations, of those that were recorded.
struct EpochRow {
  uint64_t First = 0, Last = 0;
  double Begin = 0, End = 0;
  /// The most at once, and what was alive when its last iteration had ended.
  int64_t Peak = 0, BytesAfter = 0;
};

/// A share of the time of operations.
struct TimeRow {
  std::string Operation;
  SourceLine Line;
  std::vector<size_t> Sites;
  double Seconds = 0;
  /// Of the run.
  double Share = 0;
  uint64_t Hits = 0;
  /// The host waits for what it reads, or would on a device.
  uint64_t Waits = 0;
};

struct CopyRow {
  SourceLine Line;
  size_t Site = 0;
  CopyCount Copies;
  /// Copies of the tensor of the time before, with the same contents.
  uint64_t Again = 0;
};

/// Parameters and buffers of one module of the network, its children's not
/// among them.
struct ModuleRow {
  /// "encoder.0"; empty: the network itself.
  std::string Path;
  int64_t ParameterBytes = 0, BufferBytes = 0;
  uint64_t Parameters = 0, Buffers = 0, WithGradient = 0;
  /// A gradient has the size and the type of its parameter.
  int64_t GradientBytes = 0;
  /// What an optimizer keeps for the parameters.
  int64_t StateBytes = 0;
  /// "Float on cuda:0", each once.
  std::vector<std::string> Kinds;
};

/// Something of the census that is worth a look: "buffer 'mean' is on cpu, 211
/// others on cuda:0".
struct Oddity {
  std::string Text;
  std::string Name;
};

/// A line whose blocks on the device are of many sizes, which the caching
/// allocator cannot reuse for each other.
struct VaryingLine {
  SourceLine Line;
  /// Kinds of tensors that it was given: so many at least.
  uint64_t Kinds = 0;
  /// Taken in all.
  uint64_t Bytes = 0;
};

/// Where all was alive that was alive at once.
struct PeakProfile {
  double Seconds = 0;
  /// What was seen by site; the highest ever was at most a 64th more.
  int64_t Bytes = 0, Highest = 0;
  int64_t ByKind[MemoryKindCount] = {};
  int64_t ByPhase[WorkPhaseCount] = {};
  /// Activations, by the class whose forward() made them ("net::EncoderImpl":
  /// the innermost one of the user's), the largest first.
  std::vector<std::pair<std::string, int64_t>> ByModule;
  /// Those that hold most first.
  std::vector<LineMemory> Lines;
  /// Only of a device: those that take most first.
  std::vector<VaryingLine> Varying;
  /// Index of Recording::Moments.
  size_t Moment = 0;
};

/// Memory was asked for that there was not, and the program was told so.
struct FailedAllocation {
  /// Index of Recording::Sites.
  size_t Site = 0;
  double Seconds = 0;
  /// "c10::Error", and the first line of what it says.
  std::string Type, Message;
  /// As the message has it.
  std::optional<int64_t> Asked;
  /// It was memory of a CUDA device that there was not.
  bool IsOnDevice = false;
  /// All of the run; what else is here is of the last one.
  uint64_t Count = 0;
  /// Index of Recording::Moments: what was alive then.
  std::optional<size_t> Moment;
};

/// A usual mistake: looked for, and there or not.
struct Checked {
  /// "gradients are cleared before each step"
  std::string What;
  bool IsFine = true;
  /// What was seen, and where, as far as it is not fine.
  std::string Seen;
  SourceLine Line;
  /// A check of torch-tidy's that knows it.
  std::string Check;
};

struct Profile {
  Trend Memory = Trend::Unknown;
  /// What iterations are counted by: "iteration" (steps of an optimizer, or a
  /// mark of the program's), or "second" where there are none.
  std::string Unit = "iteration";
  /// Of the whole run; the smallest that was alive at the same phase.
  double BytesPerUnit = 0, NodesPerUnit = 0;
  /// Of the part that grows, in bytes.
  int64_t Grown = 0;
  /// One line: what the report begins with.
  std::string Headline;
  /// The gravest first.
  std::vector<Cause> Causes;

  std::vector<SiteProfile> Sites;
  std::vector<IterationRow> Iterations;
  /// Empty where the program does not evaluate between iterations, or in each.
  std::vector<EpochRow> Epochs;
  /// Most bytes at once while evaluating (grad mode off, or modules in eval
  /// mode), and of how many operations that was; 0 where nothing evaluated.
  int64_t EvaluationPeak = 0;
  uint64_t EvaluationHits = 0;
  std::optional<FailedAllocation> Failure;
  /// Absent where no moment was recorded.
  std::optional<PeakProfile> CpuPeak, CudaPeak;
  /// By line and operation, the longest first.
  std::vector<TimeRow> Times;
  /// Seconds in operations, backwards and steps, by phase; of all threads.
  double SecondsByPhase[WorkPhaseCount] = {};
  std::vector<CopyRow> Copies;
  /// The devices that the program used, as far as that is known.
  std::vector<DeviceBusy> Devices;
  std::vector<ModuleRow> Modules;
  std::vector<Oddity> Oddities;
  std::vector<Checked> Looked;
};

/// \param Run a recording with a timeline.
Profile profileOf(const Recording &Run);

} // namespace torchtidy::confirm

#endif

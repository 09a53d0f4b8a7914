// Reads a trace (Trace.h) into plain data, checked: whatever the file holds,
// the result is consistent or there is an error that says what is wrong with
// it. Addresses are still those of the process; names of lines are another's
// work.
#ifndef TORCHTIDY_CONFIRM_TRACE_TRACEFILE_H
#define TORCHTIDY_CONFIRM_TRACE_TRACEFILE_H

#include "Trace.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace torchtidy::confirm::trace {

struct ModuleData {
  std::string Path;
  bool IsUser = false;
  uint64_t LoadBase = 0, Begin = 0, End = 0;
  /// Lower-case hexadecimal digits; empty where the file has none.
  std::string BuildId;
};

struct ValueData {
  std::string Name;
  uint64_t Number = 0;
  double First = 0, Last = 0, Sum = 0, Least = 0, Most = 0;
  /// Of every n-th call, in order.
  std::vector<double> Samples;
};

struct ThrownData {
  /// As the compiler names it: "N3c105ErrorE".
  std::string Type;
  std::string Message;
  uint64_t Number = 0, LastAt = 0;
};

struct ShapeData {
  std::string Text;
  uint64_t Number = 0;
};

struct StretchData {
  uint64_t Number = 0, NodesMade = 0, NodesRun = 0;
};

struct CopyData {
  CopyKind Kind = CopyKinds[0];
  uint64_t Number = 0, Bytes = 0;
};

struct SiteData {
  SiteKind Kind = SiteKind::Operation;
  std::string Operation;
  /// Return addresses, innermost first; see Site::Frames.
  std::vector<uint64_t> Frames;
  bool IsShortened = false;
  uint64_t Hits = 0;
  uint64_t Allocations = 0, AllocatedBytes = 0;
  uint64_t CudaAllocations = 0, CudaAllocatedBytes = 0;
  int64_t LiveBytes = 0, CudaLiveBytes = 0;
  int64_t MostOwnBytes = 0, MostOwnCudaBytes = 0;
  int64_t OwnAtSecond = 0, MostOwnAtHit = 0;
  uint64_t DiedAtOnce = 0;
  uint64_t NodesMade = 0, NodesRun = 0;
  int64_t NodesAlive = 0, MostNodesAlive = 0;
  uint64_t NodesRunOnce = 0, NodesRunGone = 0, NodesStale = 0, NodesAllGone = 0;
  uint64_t SweptNodes = 0, SweptRoots = 0, SweptChain = 0;
  /// Only those that there are, from short to long; the last one may still go
  /// on, and then has run nothing.
  std::vector<StretchData> Stretches;
  uint64_t LeavesTrained = 0, LeavesStepped = 0, MadeAgain = 0;
  uint64_t CopiedAgain = 0, AskedAgain = 0;
  uint64_t OfOneElement = 0, ResultsUsed = 0, UsedLater = 0;
  uint64_t GradientsApplied = 0, GradientsDropped = 0;
  uint64_t InTraining = 0, InEvaluation = 0;
  uint64_t GivenShares = 0, GivenFractions = 0, GivenLogarithms = 0,
           GivenNumbers = 0;
  uint64_t WrapsOutlived = 0, WrapsOnStack = 0, WrapsGone = 0, UsesOfGone = 0,
           WrapsBeyond = 0;
  /// Indices of TraceData::Sites; None where there is none.
  uint32_t GoneAt = None, UsedAt = None;
  uint64_t StaleCasts = 0, FreshCasts = 0, MembersReplaced = 0;
  uint64_t CallsInOtherMode = 0, CallsInEvalMode = 0;
  int64_t MostListed = 0;
  uint64_t SharedWrites = 0;
  uint64_t BytesKept = 0, NodesRunAgain = 0;
  uint64_t WritesInto = 0, ElementsAsked = 0, HeldByView = 0, NotStretched = 0;
  /// As GoneAt.
  uint32_t FreedBehind = None;
  uint64_t FreedThere = 0, FreedElsewhere = 0, OperandsFreed = 0;
  uint64_t WholeLater = 0, GradientsRead = 0;
  std::vector<uint32_t> FlowsInto;
  uint64_t SavedWrites = 0, StaleLeaves = 0;
  uint64_t HitsUnderAutocast = 0, HalvesOfAutocast = 0, OtherHalves = 0;
  uint64_t HitsAskedGrad = 0, HookedAgain = 0, PartsWritten = 0;
  uint64_t GivenParts = 0;
  uint64_t Synchronisations = 0, Exceptions = 0, UnclearedSteps = 0;
  int64_t LeastLive = 0, MostLive = 0;
  uint64_t Nanoseconds = 0, HitsWithoutGrad = 0;
  int64_t PeakBytes = 0, PeakCpuBytes = 0, PeakCudaBytes = 0;
  /// Only kinds that happened.
  std::vector<CopyData> Copies;
  /// In the order in which they came first; of hits with others, the number.
  std::vector<ShapeData> Shapes;
  uint64_t OtherShapes = 0;
  /// In order of hits, without doubles; the first and the last hit are there.
  std::vector<Sample> Series;
  std::vector<ValueData> Values;
  /// Of the exceptions, those whose type and message were kept.
  std::vector<ThrownData> Thrown;
};

struct HeldData {
  /// Index of TraceData::Sites.
  uint32_t Site = 0;
  HeldBySite Bytes = {};
};

struct MomentData {
  MomentKind Kind = MomentKind::Regular;
  uint64_t Nanoseconds = 0, Iterations = 0;
  int64_t CpuBytes = 0, CudaBytes = 0, CudaReserved = 0, Nodes = 0;
  int64_t ResidentBytes = -1;
  /// Only sites that held something.
  std::vector<HeldData> Held;
};

struct IterationData {
  uint64_t Number = 0;
  uint64_t Begin = 0, End = 0, BackwardBegin = 0, BackwardEnd = 0,
           StepBegin = 0;
  int64_t BytesBefore = 0, BytesAtBackward = 0, BytesAfterBackward = 0,
          BytesAfter = 0, Peak = 0, NodesAfter = 0;
};

struct EventData {
  /// Index of TraceData::Sites.
  uint32_t Site = 0;
  uint32_t Thread = 0;
  uint64_t Begin = 0, End = 0;
};

struct NetworkData {
  std::string Name, Type, Device, Shape;
  int64_t Bytes = 0;
  /// Index of TraceData::Sites; None where there is none.
  uint32_t Site = None;
  bool IsBuffer = false, NeedsGradient = false, HasGradient = false;
  int64_t StateBytes = 0;
};

/// What is recorded with TORCH_CONFIRM_TIMELINE=1.
struct TimelineData {
  /// In order of time; of each kind of peak the highest.
  std::vector<MomentData> Moments;
  /// In order, each once.
  std::vector<IterationData> Iterations;
  /// The step or backward that ends them; None where there is none.
  uint32_t IterationSite = None;
  uint64_t IterationCount = 0;
  /// In order of their begins.
  std::vector<EventData> Events;
  uint64_t EventCount = 0;
  std::vector<NetworkData> Network;
};

struct CapabilityData {
  bool IsAvailable = false;
  std::string Reason;
};

struct TraceData {
  uint32_t ProcessId = 0, ForkedFrom = 0;
  std::vector<std::string> Command;
  std::string WorkingFolder;
  std::string LibTorch, CudaDevice, Unwinder;
  bool SamplesHeap = false;
  int64_t StartedAt = 0;
  /// By QuantityNames; all of them are there.
  std::map<std::string, CapabilityData> Capabilities;

  uint64_t TopOperations = 0, Operations = 0;
  int64_t LiveCpuBytes = 0, LiveCudaBytes = 0;
  int64_t PeakCpuBytes = 0, PeakCudaBytes = 0, PeakCudaReserved = 0;
  int64_t NodesAlive = 0, PeakNodes = 0;
  uint64_t NodesMade = 0, NodesRun = 0;
  uint64_t Allocations = 0, AllocatedBytes = 0;
  uint64_t Copies = 0, CopiedBytes = 0;
  uint64_t Synchronisations = 0, Exceptions = 0;
  uint64_t Backwards = 0, Steps = 0, UnclearedSteps = 0;
  uint64_t Unattributed = 0;
  uint64_t StackWalks = 0, StackChecks = 0, StackCheckFailures = 0;
  uint64_t UnknownFrees = 0;
  /// Of the last hit of any site, since the probe started.
  double Seconds = 0;
  std::map<std::string, uint64_t> RuntimeCalls;

  std::vector<ModuleData> Modules;
  std::vector<SiteData> Sites;
  std::optional<TimelineData> Timeline;

  /// The module that an address is in; null where there is none.
  const ModuleData *moduleOf(uint64_t Address) const;
};

/// \returns nothing when the file cannot be used; \p Error then says why in one
/// line that begins with the file's name.
std::optional<TraceData> readTrace(const std::string &Path, std::string &Error);

/// The traces that a run left: \p Path itself, and those of processes that it
/// forked or started with the same environment, <Path>.<process id>. Sorted by
/// name, \p Path first; only names of files that exist.
std::vector<std::string> tracesOf(const std::string &Path);

} // namespace torchtidy::confirm::trace

#endif

// The layout of the trace: a file of fixed size that the probe maps shared and
// writes while the program runs.
//
// Nothing is written at the end: whatever ends the program (exit, a signal,
// SIGKILL, an out-of-memory kill), the kernel keeps what the mapping holds. How
// it ended is known to the process that started it, so it is not in here.
//
// The file is sparse; only pages that were touched take space. Everything is
// little endian and aligned naturally. A reader of another version refuses the
// file: there is no compatibility between versions, since both sides are built
// from one source tree.
//
// Plain data and no LibTorch, so that both the probe and the reader include it.
#ifndef TORCHTIDY_CONFIRM_TRACE_TRACE_H
#define TORCHTIDY_CONFIRM_TRACE_TRACE_H

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace torchtidy::confirm::trace {

constexpr char Magic[8] = {'T', 'O', 'R', 'C', 'H', 'C', 'N', 'F'};
constexpr uint32_t Version = 9;

using Count = std::atomic<uint64_t>;
using Gauge = std::atomic<int64_t>;
static_assert(sizeof(Count) == 8 && Count::is_always_lock_free,
              "counters are shared with another process by their memory");

constexpr uint32_t MaxSites = 16384;
constexpr uint32_t MaxFrames = 24;
constexpr uint32_t MaxModules = 512;
constexpr uint32_t MaxSamples = 128;
constexpr uint32_t MaxSeries = 8192;
constexpr uint32_t MaxValues = 256;
constexpr uint32_t MaxThrown = 512;
constexpr uint32_t MaxShapes = 4;
constexpr uint32_t MaxFlows = 6;
/// Of so many operations one is looked at for Site::WholeLater.
constexpr uint32_t WholeStride = 7;
constexpr uint32_t MaxRuntimeCalls = 32;
constexpr uint32_t MaxStretches = 20;
constexpr uint32_t TextSize = 1 << 20;
// Of a timeline.
constexpr uint32_t MaxMoments = 64;
/// Rows behind those: two for each kind of peak, and one for a failure.
constexpr uint32_t OtherMoments = 5;
constexpr uint32_t MaxIterations = 256;
/// Events: the first ones are kept, and of the others the last ones.
constexpr uint32_t FirstEvents = 8192, LastEvents = 24576;
constexpr uint32_t MaxNetwork = 2048;
constexpr uint32_t None = 0xffffffff;

/// An offset into the text section, where a string ends with a zero byte.
/// 0 is the empty string.
using TextOffset = uint32_t;

/// What is measured, in the order of Header::Capabilities. The names are those
/// of Recording::Capabilities.
enum class Quantity : uint32_t {
  Operations,
  CpuMemory,
  CudaMemory,
  GraphNodes,
  Gradients,
  Copies,
  Synchronisations,
  CudaRuntime,
  Exceptions,
  CallStacks,
  Heap,
  WrappedMemory,
  Members,
  Casts,
};
constexpr uint32_t QuantityCount = 14;
constexpr const char *QuantityNames[QuantityCount] = {
    "operations",       "cpu-memory",   "cuda-memory",
    "graph-nodes",      "gradients",    "copies",
    "synchronisations", "cuda-runtime", "exceptions",
    "call-stacks",      "heap",         "wrapped-memory",
    "members",          "casts"};

struct Capability {
  /// Counters of a quantity that is not available stay 0 and mean nothing.
  std::atomic<uint32_t> Available;
  /// Why not; or, where it is available, a limit worth telling.
  std::atomic<TextOffset> Reason;
};

/// A file that is mapped into the process: to turn addresses into lines.
struct Module {
  TextOffset Path;
  /// Whether frames in it are the user's.
  uint32_t IsUser;
  /// What to subtract from an address to get that of the file (0 for a
  /// program that is not position independent).
  uint64_t LoadBase;
  /// Where its executable segments were, [Begin, End).
  uint64_t Begin, End;
  uint32_t BuildIdSize;
  uint8_t BuildId[36];
};

/// A copy between devices or element types; one inside a device that does not
/// convert is not counted.
enum class Place : uint8_t { Cpu, Cuda, Other };
struct CopyKind {
  Place From, To;
  bool Converts, Pinned;
};
constexpr uint32_t CopyKindCount = 12;
constexpr CopyKind CopyKinds[CopyKindCount] = {
    {Place::Cpu, Place::Cpu, true, false},
    {Place::Cuda, Place::Cuda, true, false},
    // From one device to another.
    {Place::Cuda, Place::Cuda, false, false},
    {Place::Cpu, Place::Cuda, false, false},
    {Place::Cpu, Place::Cuda, false, true},
    {Place::Cpu, Place::Cuda, true, false},
    {Place::Cpu, Place::Cuda, true, true},
    {Place::Cuda, Place::Cpu, false, false},
    {Place::Cuda, Place::Cpu, false, true},
    {Place::Cuda, Place::Cpu, true, false},
    {Place::Cuda, Place::Cpu, true, true},
    // One of the two is another kind of device.
    {Place::Other, Place::Other, false, false},
};

/// The state of the whole process when a site was hit; see Recording's Sample.
struct Sample {
  uint64_t Hit;
  /// Since the probe started.
  uint64_t Nanoseconds;
  int64_t CpuBytes, CudaBytes, Nodes;
  /// -1 where not asked for (TORCH_CONFIRM_HEAP=1).
  int64_t HeapBytes;
  uint64_t Allocations, AllocatedBytes, Copies, CopiedBytes, NodesMade,
      Synchronisations;
};

/// Samples of a site in the order of hits: of every Stride-th hit, from the
/// first on. When it is full, every second one is dropped and Stride doubles.
struct Series {
  /// Those below this index are complete. 0 while samples are moved about,
  /// which a program that is killed just then may leave so.
  std::atomic<uint32_t> Size;
  uint32_t Unused;
  uint64_t Stride;
  Sample Samples[MaxSamples];
};

enum class SiteKind : uint32_t {
  Operation,
  Backward,
  Step,
  Mark,
  /// Memory that LibTorch took outside of any operation.
  Allocation,
  /// An exception that LibTorch threw outside of any operation.
  Throw,
  /// A call of the CUDA runtime outside of any operation.
  RuntimeCall,
  /// An optimizer is made.
  Optimizer,
  /// A tensor is laid over memory of the program's: from_blob().
  Wrap,
  /// Memory that such a tensor lies over is freed.
  Free,
  /// The elements of a tensor are asked for by their address.
  Elements,
  /// A module is made.
  Module,
  /// A tensor is given a hook.
  Hook,
};

struct CopyCounts {
  Count Number, Bytes;
};

/// What the tensors are like that an operation is given.
struct ShapeCounts {
  /// Of all of them; 0 where the row is free.
  std::atomic<uint64_t> Hash;
  /// "float[32,3,8,8], float[16,3,3,3] on cuda:0"; empty where the text section
  /// has no room.
  std::atomic<TextOffset> Text;
  uint32_t Unused;
  Count Number;
};

/// Nodes that a site made between two backwards that ran some of its nodes. Row
/// I holds the stretches of 2^I nodes or more, and of fewer than 2^(I+1).
struct StretchCounts {
  Count Number, NodesMade, NodesRun;
};

/// One operation, called by one stack of the user's. Counts of operations that
/// it calls itself are in here, and they have no sites of their own.
struct Site {
  /// 0 free, 1 being made, 2 complete.
  std::atomic<uint32_t> State;
  SiteKind Kind;
  /// "aten::add"; "backward"; "step:SGD"; "mark:<name>"; "allocate"; "throw".
  TextOffset Operation;
  uint32_t FrameCount;
  /// Of the stack nothing was kept, or only its innermost frames: the table
  /// was nearly full.
  uint32_t IsShortened;
  /// Index into the series section, None before the second hit or when that
  /// section is full.
  std::atomic<uint32_t> Series;
  /// Return addresses in modules of the user's, innermost first: the call is
  /// at the address less 1. The program's inlined copies of functions in
  /// LibTorch's and the standard library's headers are among them.
  uint64_t Frames[MaxFrames];

  Count Hits;
  Count Allocations, AllocatedBytes;
  Count CudaAllocations, CudaAllocatedBytes;
  /// Of what was allocated here: alive now, and the most that was at once.
  Gauge LiveBytes, CudaLiveBytes;
  Gauge MostOwnBytes, MostOwnCudaBytes;
  /// Alive when the site was hit for the second time, and the most at any hit:
  /// what an operation takes and gives back itself is not among them.
  Gauge OwnAtSecond, MostOwnAtHit;
  /// Blocks that were freed when the thread had begun no other operation since:
  /// nothing has used what is in them.
  Count DiedAtOnce;
  Count NodesMade;
  Gauge NodesAlive, MostNodesAlive;
  /// Each time that a backward ran one.
  Count NodesRun;
  /// Nodes that a backward ran at all; of these, those that are gone; and of
  /// these, those that outlived two further backwards of each thread that runs
  /// any: nothing went through them again.
  Count NodesRunOnce, NodesRunGone, NodesStale;
  /// How often the last one alive went.
  Count NodesAllGone;
  /// Of the last look at all graphs that are alive: nodes of this site; those
  /// that no other node leads to, so that a tensor holds them; and those that
  /// the newest one of this site leads to.
  Count SweptNodes, SweptRoots, SweptChain;
  StretchCounts Stretches[MaxStretches];
  /// Since the last stretch ended.
  Count MadeSince, RunSince;
  Count Synchronisations;
  Count Exceptions;
  /// Of a step (or a write to a parameter by hand): hits whose gradients a
  /// later step applied once more, since a backward had added to them and
  /// nothing had cleared them in between.
  Count UnclearedSteps;
  /// Leaves whose memory was taken here and that got gradients; of these, those
  /// that an optimizer or a write by hand has changed.
  Count LeavesTrained, LeavesStepped;
  /// Of an optimizer: made for parameters that another one had stepped which
  /// was made here, too.
  Count MadeAgain;
  /// Copies, and calls of to() whether they copied or not, of the tensor that
  /// this site was given before, with the same contents.
  Count CopiedAgain, AskedAgain;
  /// Hits whose first tensor is one element of the tensor of the hit before.
  Count OfOneElement;
  /// Results of an operation that makes tensors from sizes: those that another
  /// operation was given when the next one was there.
  Count UsedLater;
  /// Gradients of leaves that a backward reached through nodes of this site:
  /// those that a step has applied, and those that were dropped unused.
  Count GradientsApplied, GradientsDropped;
  /// For the probe: the memory of the last element, and of the last result.
  Count LastMemory, LastBlock;
  /// Of an operation that has two modes (dropout, batch_norm): hits in each.
  Count InTraining, InEvaluation;
  /// Of a loss or a logarithm: hits that were given shares of one, other
  /// numbers between zero and one, logarithms of shares, and others.
  Count GivenShares, GivenFractions, GivenLogarithms, GivenNumbers;
  /// Results of an operation that joins tensors: those that another operation
  /// was given before the next one was made here.
  Count ResultsUsed;
  /// Of tensors that were laid over memory of the program's: those that were
  /// gone before the memory; those over memory on the thread's stack; those
  /// whose memory was freed, or whose frame was left, while they were there;
  /// operations that were given one of these; and those that have twice as many
  /// bytes as the block (or 4 or 8 times as many), to the element.
  Count WrapsOutlived, WrapsOnStack, WrapsGone, UsesOfGone, WrapsBeyond;
  /// Sites: what freed the first memory that went too early, and the first
  /// operation that was given its tensor since.
  std::atomic<uint32_t> GoneAt, UsedAt;
  /// Of a step: weights that it had changed, and that a pass under autocast
  /// took a copy of from before; and those that it took a new copy of.
  Count StaleCasts, FreshCasts;
  /// Tensors whose memory was taken here, that are a module's member in place
  /// of the one that is registered.
  Count MembersReplaced;
  /// Of modules that were made here and are a member of another one, which has
  /// not registered them: calls in another mode than the other's, and in eval
  /// mode as the other.
  Count CallsInOtherMode, CallsInEvalMode;
  /// How often one parameter whose memory was taken here is among those of a
  /// module, at most.
  Gauge MostListed;
  /// In-place writes to tensors whose memory was taken here, through another
  /// handle nearby than the time before.
  Count SharedWrites;
  /// Of a backward that keeps its graph: bytes that went with that when the
  /// next one was there already; and nodes that another backward ran again.
  Count BytesKept, NodesRunAgain;
  /// Of blocks whose memory was taken here: those that an operation wrote into
  /// in place, those whose elements were asked for by their address, and those
  /// of which a view was made that other layouts do not have (view()).
  Count WritesInto, ElementsAsked, HeldByView;
  /// Of an operation that repeats a tensor: hits with a dimension that is not
  /// of size one, which no operation would stretch.
  Count NotStretched;
  /// The site behind which a block of this one was freed first (the operation
  /// of the thread that began last); how often it was that one, and others.
  std::atomic<uint32_t> FreedBehind;
  Count FreedThere, FreedElsewhere;
  /// Hits whose operand was freed before the thread began another operation.
  Count OperandsFreed;
  /// Operations that were given all of a block which an earlier hit of this
  /// site had taken, of every seventh one; and for the probe, the last hit.
  Count WholeLater, LastTaken;
  /// As GradientsApplied: those that an operation of the program was given.
  Count GradientsRead;
  /// The sites whose nodes a backward comes to from nodes of this one, the
  /// first ones.
  std::atomic<uint32_t> FlowsInto[MaxFlows];
  /// Exceptions about a tensor that was written in place, after it had been
  /// saved: those of what this site has written; and of a backward, those about
  /// a leaf of its graph.
  Count SavedWrites, StaleLeaves;
  /// Hits under autocast; and those outside of it that were given numbers in
  /// half precision beside others: made under autocast, and made elsewhere.
  Count HitsUnderAutocast, HalvesOfAutocast, OtherHalves;
  /// Hits on a thread that has itself asked for grad mode to be on.
  Count HitsAskedGrad;
  /// Hooks for a tensor that this site had given one before.
  Count HookedAgain;
  /// In-place writes to a part of larger memory.
  Count PartsWritten;
  /// As GivenNumbers: logarithms of parts of one, whose rows sum to less.
  Count GivenParts;
  /// Tensor bytes of the process at hits: CPU and CUDA together.
  Gauge LeastLive, MostLive;
  /// Only with a timeline: between begins and ends, and hits while grad mode
  /// was off.
  Count Nanoseconds, HitsWithoutGrad;
  /// Of a mark, above the bytes at its begin; each is the largest of all times
  /// that the loop ran.
  Gauge PeakBytes, PeakCpuBytes, PeakCudaBytes;
  CopyCounts Copies[CopyKindCount];
  /// The first kinds of arguments that it had, and hits with others.
  ShapeCounts Shapes[MaxShapes];
  Count OtherShapes;

  Sample First;
  /// The last hit's sample is Last[LastIndex & 1]; the other one may be torn.
  std::atomic<uint32_t> LastIndex;
  /// A hit that finds another thread in here leaves no sample.
  std::atomic<uint32_t> SampleLock;
  Sample Last[2];
};

/// A number that the program itself reports at a mark: torch_confirm_value().
struct Value {
  /// 0 free, 1 being made, 2 complete.
  std::atomic<uint32_t> State;
  /// The mark that was open on the thread, or "mark:" where none was.
  uint32_t Site;
  TextOffset Name;
  std::atomic<uint32_t> Lock;
  uint64_t Number;
  double First, Last, Sum, Least, Most;
  /// As in Series.
  uint64_t Stride;
  uint32_t SampleCount;
  uint32_t Unused;
  double Samples[MaxSamples];
};

/// Exceptions of one type with one message that left a site. A site has a few
/// rows at most; what has none is counted in Site::Exceptions alone.
struct Thrown {
  /// 0 free, 1 being made, 2 complete.
  std::atomic<uint32_t> State;
  uint32_t Site;
  /// As the compiler names it: "N3c105ErrorE".
  TextOffset Type;
  /// The first line, without LibTorch's own stack.
  TextOffset Message;
  Count Number;
  /// Only with a timeline: when the last one was thrown, in nanoseconds.
  Count LastAt;
};

/// Why somebody looked at what is alive; see Recording's MomentKind.
enum class MomentKind : uint32_t {
  Regular,
  AfterStep,
  CpuPeak,
  CudaPeak,
  Failure,
};

/// What was alive at a moment; what each site held of it is in the row of the
/// same number of the held section.
struct Moment {
  /// 0 free, 1 being made, 2 complete.
  std::atomic<uint32_t> State;
  MomentKind Kind;
  /// Sites 1 to this one have a place in the row.
  uint32_t SiteCount;
  uint32_t Unused;
  /// Since the probe started.
  uint64_t Nanoseconds;
  uint64_t Iterations;
  int64_t CpuBytes, CudaBytes, CudaReserved, Nodes;
  /// -1 where not known.
  int64_t ResidentBytes;
};

struct HeldBySite {
  int64_t CpuBytes, CudaBytes, Nodes;
};

/// From the end of a step to the end of the next one at the same site; see
/// Recording's Iteration. Times in nanoseconds.
struct Iteration {
  /// 0 while it is written.
  std::atomic<uint64_t> Number;
  uint64_t Begin, End, BackwardBegin, BackwardEnd, StepBegin;
  int64_t BytesBefore, BytesAtBackward, BytesAfterBackward, BytesAfter, Peak,
      NodesAfter;
};

/// Every Stride-th, as in Series; and the one with the highest peak.
struct Iterations {
  /// The step that ends them; 0 where there are none yet.
  std::atomic<uint32_t> Site;
  std::atomic<uint32_t> Size;
  uint64_t Stride;
  Count Number;
  Iteration Rows[MaxIterations];
  Iteration Last, Worst;
};

struct Event {
  /// 0 where the row is free, or being written.
  std::atomic<uint32_t> Site;
  uint32_t Thread;
  uint64_t Begin, End;
};

/// A parameter or buffer; see Recording's NetworkTensor.
struct NetworkTensor {
  TextOffset Name, Type, Device, Shape;
  int64_t Bytes, StateBytes;
  uint64_t Memory;
  /// Where its memory was taken; 0 where that is not known.
  uint32_t Site;
  uint8_t IsBuffer, NeedsGradient, HasGradient, Unused;
};

struct RuntimeCall {
  /// Set once; a row is complete when this is not 0.
  std::atomic<TextOffset> Name;
  uint32_t Unused;
  Count Number;
};

struct Header {
  char Magic[8];
  uint32_t Version;
  uint32_t HeaderSize;
  uint64_t FileSize;
  // Where the sections begin.
  uint64_t ModulesAt, SitesAt, SeriesAt, ValuesAt, ThrownAt, TextAt,
      IterationsAt, MomentsAt, NetworkAt, EventsAt, HeldAt;

  /// 0 while the probe starts; 1 once all of the fields up to Totals hold.
  std::atomic<uint32_t> IsComplete;
  uint32_t ProcessId;
  /// Of a process that was forked without exec: the one it came from. Its
  /// counters start at 0 but for what was alive.
  uint32_t ForkedFrom;
  /// Words of the command, each after the other in the text section.
  uint32_t ArgumentCount;
  TextOffset Arguments;
  TextOffset WorkingFolder;
  /// "2.11.0"; what the probe was compiled against.
  TextOffset LibTorch;
  std::atomic<TextOffset> CudaDevice;
  /// How stacks are captured: "memo", "libunwind", "unwind".
  TextOffset Unwinder;
  uint32_t SamplesHeap;
  /// Whether moments, iterations, events and times of sites are recorded
  /// (TORCH_CONFIRM_TIMELINE=1).
  uint32_t HasTimeline;
  /// Tensors of the network that are there; 0 while they are written.
  std::atomic<uint32_t> NetworkSize;
  Count EventCount;
  /// Seconds since the epoch when the probe started.
  int64_t StartedAt;

  Capability Capabilities[QuantityCount];

  std::atomic<uint32_t> ModuleCount, SiteCount, SeriesCount, ValueCount,
      TextUsed;
  uint32_t Unused;

  // Totals of the process.
  /// Operations that the user's code calls, and all of them.
  Count TopOperations, Operations;
  Gauge LiveCpuBytes, LiveCudaBytes, PeakCpuBytes, PeakCudaBytes;
  Gauge PeakCudaReserved;
  Gauge NodesAlive, PeakNodes;
  Count NodesMade, NodesRun;
  Count Allocations, AllocatedBytes;
  Count Copies, CopiedBytes;
  Count Synchronisations;
  Count Exceptions;
  Count Backwards, Steps, UnclearedSteps;
  /// Hits for which there was no room in the table of sites.
  Count Unattributed;
  // About the probe itself.
  Count StackWalks, StackChecks, StackCheckFailures;
  /// Frees of memory that was allocated before the probe started.
  Count UnknownFrees;
  /// Nanoseconds after the start when something was last counted at a site.
  Count LastHit;

  RuntimeCall RuntimeCalls[MaxRuntimeCalls];
};

constexpr uint64_t aligned(uint64_t Offset) {
  return (Offset + 4095) / 4096 * 4096;
}
constexpr uint64_t ModulesAt = aligned(sizeof(Header));
constexpr uint64_t TextAt = aligned(ModulesAt + sizeof(Module) * MaxModules);
constexpr uint64_t ValuesAt = aligned(TextAt + TextSize);
constexpr uint64_t ThrownAt = aligned(ValuesAt + sizeof(Value) * MaxValues);
constexpr uint64_t SitesAt = aligned(ThrownAt + sizeof(Thrown) * MaxThrown);
constexpr uint64_t SeriesAt = aligned(SitesAt + sizeof(Site) * MaxSites);
constexpr uint64_t IterationsAt =
    aligned(SeriesAt + sizeof(Series) * MaxSeries);
constexpr uint64_t MomentsAt = aligned(IterationsAt + sizeof(Iterations));
constexpr uint32_t AllMoments = MaxMoments + OtherMoments;
constexpr uint64_t NetworkAt = aligned(MomentsAt + sizeof(Moment) * AllMoments);
constexpr uint64_t EventsAt =
    aligned(NetworkAt + sizeof(NetworkTensor) * MaxNetwork);
constexpr uint64_t HeldAt =
    aligned(EventsAt + sizeof(Event) * (FirstEvents + LastEvents));
constexpr uint64_t HeldRow = aligned(sizeof(HeldBySite) * MaxSites);
constexpr uint64_t FileSize = HeldAt + HeldRow * AllMoments;

} // namespace torchtidy::confirm::trace

#endif

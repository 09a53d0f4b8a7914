// What one run of a program under the probe came to, in terms of its sources.
//
// The probe writes a binary trace (trace/Trace.h); reading it and symbolising
// its addresses gives a Recording. Rules read recordings and nothing else, so
// they are tested on recordings that were kept as JSON.
#ifndef TORCHTIDY_CONFIRM_RECORDING_H
#define TORCHTIDY_CONFIRM_RECORDING_H

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace torchtidy::confirm {

/// A line of the user's sources.
struct SourceLine {
  /// As the debug information has it; absolute where it says so.
  std::string File;
  unsigned Line = 0;
  /// Demangled; empty where it is not known.
  std::string Function;
};

/// The state of the whole process when a site was hit.
struct Sample {
  /// Which hit of the site it was, from 1.
  uint64_t Hit = 0;
  /// Since the probe started.
  double Seconds = 0;
  /// Tensor bytes that are alive.
  int64_t CpuBytes = 0, CudaBytes = 0;
  /// Nodes of autograd graphs that are alive (AccumulateGrad not among them).
  int64_t Nodes = 0;
  /// Bytes of malloc in use, all of the process; -1 where not asked for.
  int64_t HeapBytes = -1;
  // Since the start of the program: these only grow.
  uint64_t Allocations = 0, AllocatedBytes = 0;
  uint64_t Copies = 0, CopiedBytes = 0;
  uint64_t NodesMade = 0;
  uint64_t Synchronisations = 0;
};

/// Copies of one kind that a site made. A copy within a device that does not
/// convert is not counted.
struct CopyCount {
  /// "cpu", "cuda"; without the index of the device.
  std::string From, To;
  /// The element type changes.
  bool Converts = false;
  /// The memory of the host is pinned; only between devices.
  bool Pinned = false;
  uint64_t Count = 0, Bytes = 0;
};

/// Exceptions of one type with one message.
struct ThrownCount {
  /// "c10::Error"
  std::string Type;
  /// The first line; cut at 255 bytes.
  std::string Message;
  uint64_t Count = 0;
  /// When the last one was thrown; 0 without a timeline.
  double Seconds = 0;
};

/// Hits of an operation whose tensors are alike.
struct ShapeCount {
  /// "Float[32,3,8,8], Float[16,3,3,3] on cuda:0": the first four tensors that
  /// it is given. "[64,3]": there are none, but sizes.
  std::string Text;
  uint64_t Count = 0;
};

/// Nodes that a site made between two backwards that ran some of its nodes:
/// stretches of about the same length, together.
struct Stretch {
  uint64_t Count = 0, NodesMade = 0, NodesRun = 0;
};

/// What happened at one place: an operation, called from one line of the
/// user's. Counts include what the operation calls itself.
struct Site {
  /// "aten::add"; "backward"; "step:SGD"; "optimizer"; "mark:<name>" for a loop
  /// that the program itself announces (probe/torch_confirm.h).
  std::string Operation;
  /// The user's frames, innermost first, inlined calls among them; frames of
  /// the headers of LibTorch and of the standard library are left out. Empty
  /// where no frame of the user's was found.
  std::vector<SourceLine> Stack;

  uint64_t Hits = 0;
  uint64_t Allocations = 0, AllocatedBytes = 0;
  uint64_t CudaAllocations = 0, CudaAllocatedBytes = 0;
  /// Of the bytes allocated here, those alive at the end.
  int64_t LiveBytes = 0;
  /// The most that were alive at once; -1 where it was not counted.
  int64_t MostLiveBytes = -1;
  /// Alive when it was hit for the second time (what one iteration leaves), and
  /// the most at any hit.
  int64_t OwnAtSecond = 0, MostOwnAtHit = 0;
  /// Blocks that were freed before the thread began another operation: nothing
  /// has used the result.
  uint64_t DiedAtOnce = 0;
  uint64_t NodesMade = 0;
  /// Of those, alive at the end, and run by a backward.
  int64_t NodesAlive = 0;
  uint64_t NodesRun = 0;
  /// And the most that were alive at once: it tells the line whose graphs stay
  /// from its neighbours in the same loop, also where they go before the end.
  /// -1 where it was not counted.
  int64_t MostNodesAlive = -1;
  /// Nodes that a backward ran at all; of these, those that are gone, and those
  /// that outlived further backwards for nothing.
  uint64_t NodesRunOnce = 0, NodesRunGone = 0, NodesStale = 0;
  /// How often the last one alive went.
  uint64_t NodesAllGone = 0;
  /// When all graphs alive were looked at last: nodes of this site, those that
  /// a tensor holds and no other node, and those that the newest one leads to.
  uint64_t SweptNodes = 0, SweptRoots = 0, SweptChain = 0;
  /// In no order; the last one may go on.
  std::vector<Stretch> Stretches;
  std::vector<CopyCount> Copies;
  /// The first four kinds of arguments, and hits with others.
  std::vector<ShapeCount> Shapes;
  uint64_t OtherShapes = 0;
  /// The host waited for the device, or would have on CUDA: item(), nonzero(),
  /// a mask as an index. Known on the CPU too.
  uint64_t Synchronisations = 0;
  /// Exceptions of LibTorch that left it.
  uint64_t Exceptions = 0;
  /// What they were: the first four kinds.
  std::vector<ThrownCount> Thrown;
  /// Of an optimizer's step: hits whose gradients a later step applied once
  /// more, since a backward had added to them and nothing had cleared them. Of
  /// a step by hand (a write to a parameter), each parameter is a hit.
  uint64_t UnclearedSteps = 0;
  /// Leaves whose memory was taken here and that got gradients; of these, those
  /// that an optimizer or a write by hand has changed.
  uint64_t LeavesTrained = 0, LeavesStepped = 0;
  /// Of an optimizer ("optimizer"): those made for parameters that an earlier
  /// one of this place had stepped.
  uint64_t MadeAgain = 0;
  /// Copies, and calls of to() whether they copied or not, of the tensor that
  /// the site was given the time before, with the same contents.
  uint64_t CopiedAgain = 0, AskedAgain = 0;
  /// Hits whose first tensor is one element of the tensor of the hit before.
  uint64_t OfOneElement = 0;
  /// Of an operation that has two modes (dropout, batch_norm): hits in each.
  uint64_t InTraining = 0, InEvaluation = 0;
  /// Of a loss or a logarithm: hits that were given shares of one (rows of
  /// softmax), other numbers between zero and one, logarithms of shares, and
  /// others. On the CPU alone.
  uint64_t GivenShares = 0, GivenFractions = 0, GivenLogarithms = 0,
           GivenNumbers = 0;
  /// Of an operation that joins tensors: results that another operation was
  /// given before the next one was made.
  uint64_t ResultsUsed = 0;
  /// Of an operation that makes tensors from sizes: results that another one
  /// was given when the next one was there.
  uint64_t UsedLater = 0;
  /// Gradients of leaves that a backward reached through nodes of this site:
  /// those that a step has applied, and those that were dropped unused.
  uint64_t GradientsApplied = 0, GradientsDropped = 0;
  /// Of a place where tensors are laid over memory of the program's
  /// ("from_blob"): those that were gone before the memory; those over memory
  /// on the thread's stack; those whose memory was freed, or whose frame was
  /// left, while they were there; operations that were given one of these
  /// since; and those that have 2, 4 or 8 times as many bytes as their block
  /// has.
  uint64_t WrapsOutlived = 0, WrapsOnStack = 0, WrapsGone = 0, UsesOfGone = 0,
           WrapsBeyond = 0;
  /// Where the first memory was freed that went too early, and where and by
  /// what its tensor was used first: stacks, empty where that is not known.
  std::vector<SourceLine> GoneAt, UsedAt;
  std::string UsedBy;
  /// Of a step: weights that it had changed, of which a pass under autocast
  /// took a copy from before; and those of which it took a new one.
  uint64_t StaleCasts = 0, FreshCasts = 0;
  /// Tensors whose memory was taken here that are a module's member in place of
  /// the one that is registered.
  uint64_t MembersReplaced = 0;
  /// Of modules that are made here ("module") and are a member of another one
  /// that has not registered them: calls in another mode than the other's, and
  /// in eval mode as the other.
  uint64_t CallsInOtherMode = 0, CallsInEvalMode = 0;
  /// How often one parameter whose memory was taken here is among those of a
  /// module, at most.
  int64_t MostListed = 0;
  /// In-place writes to tensors whose memory was taken here, through another
  /// handle nearby than the time before.
  uint64_t SharedWrites = 0;
  /// Of a backward that keeps its graph: bytes that went with that when the
  /// next one was there already; and nodes that another backward ran again.
  uint64_t BytesKept = 0, NodesRunAgain = 0;
  /// Of blocks whose memory was taken here: those that an operation wrote into
  /// in place, those whose elements were asked for by their address, and those
  /// of which a view was made that other layouts do not have.
  uint64_t WritesInto = 0, ElementsAsked = 0, HeldByView = 0;
  /// Of an operation that repeats a tensor: hits with a dimension that is not
  /// of size one, which no operation would stretch.
  uint64_t NotStretched = 0;
  /// The stack of the operation behind which a block of this site was freed
  /// first; how often it was that one, and others.
  std::vector<SourceLine> FreedBehind;
  uint64_t FreedThere = 0, FreedElsewhere = 0;
  /// Hits whose operand was freed before the next operation began.
  uint64_t OperandsFreed = 0;
  /// About how many operations were given all of a block which an earlier hit
  /// of this site had taken: some of them are looked at.
  uint64_t WholeLater = 0;
  /// As GradientsApplied: those that an operation of the program was given.
  uint64_t GradientsRead = 0;
  /// Indices of Recording::Sites: to whose nodes a backward comes from nodes of
  /// this one.
  std::vector<size_t> FlowsInto;
  /// Exceptions about a tensor that was written in place after it had been
  /// saved: those of what this site has written; and of a backward, those about
  /// a leaf of its graph.
  uint64_t SavedWrites = 0, StaleLeaves = 0;
  /// Hits outside of autocast that were given numbers in half precision beside
  /// others: made under autocast, and made elsewhere.
  uint64_t HalvesOfAutocast = 0, OtherHalves = 0;
  /// Hits on a thread that has itself asked for grad mode to be on.
  uint64_t HitsAskedGrad = 0;
  /// Of a place that registers hooks ("register_hook"): those for a tensor that
  /// it had given one before.
  uint64_t HookedAgain = 0;
  /// In-place writes to a part of larger memory.
  uint64_t PartsWritten = 0;
  /// As GivenNumbers: logarithms of parts of one, whose rows sum to less.
  uint64_t GivenParts = 0;
  /// Tensor bytes alive when it was hit, the least and the most.
  int64_t LeastLive = 0, MostLive = 0;
  /// Of a mark: the most tensor bytes while the loop ran, above those at its
  /// begin.
  int64_t PeakBytes = 0;
  /// Of a mark: what the program itself reports ("loss").
  std::map<std::string, double> Values;

  /// In order of hits; of long runs every n-th, with the first and the last.
  std::vector<Sample> Series;

  // Only of a run with a timeline.
  /// Between its begins and ends, on whatever threads; what it calls itself is
  /// in it. 0 where an exception left it.
  double Seconds = 0;
  /// Hits while grad mode was off (NoGradGuard, InferenceMode).
  uint64_t HitsWithoutGrad = 0;
};

/// What was alive at a moment of what one site had made.
struct Held {
  /// Index of Recording::Sites.
  size_t Site = 0;
  int64_t CpuBytes = 0, CudaBytes = 0;
  /// Nodes of autograd graphs.
  int64_t Nodes = 0;
};

/// Why somebody looked at what is alive.
enum class MomentKind {
  /// Now and then, when little was alive.
  Regular,
  /// A step had just ended.
  AfterStep,
  /// More was alive than ever before; at most a 64th more was later.
  CpuPeak,
  CudaPeak,
  /// Memory was asked for that there was not.
  Failure,
};

/// What was alive at a moment, by the sites that had made it.
struct Moment {
  MomentKind Kind = MomentKind::Regular;
  double Seconds = 0;
  /// How many iterations (Iteration) had ended.
  uint64_t Iterations = 0;
  /// Of the whole process.
  int64_t CpuBytes = 0, CudaBytes = 0, CudaReserved = 0, Nodes = 0;
  /// Resident bytes of the process, tensors and all else; -1 where not known.
  int64_t ResidentBytes = -1;
  /// Sites that held something.
  std::vector<Held> By;
};

/// From the end of an optimizer's step to the end of the next one of the same
/// place. Bytes are those of all tensors, CPU and CUDA together.
struct Iteration {
  /// From 1.
  uint64_t Number = 0;
  double Begin = 0, End = 0;
  /// When the last backward() of it began and ended, and its step began; 0
  /// where there was none.
  double BackwardBegin = 0, BackwardEnd = 0, StepBegin = 0;
  int64_t BytesBefore = 0, BytesAtBackward = 0, BytesAfterBackward = 0,
          BytesAfter = 0, Peak = 0;
  int64_t NodesAfter = 0;
};

/// An operation, a backward or a step while it ran.
struct Event {
  /// Index of Recording::Sites.
  size_t Site = 0;
  /// The kernel's number of the thread.
  uint32_t Thread = 0;
  double Begin = 0, End = 0;
};

/// A parameter or a buffer of a network, as its module was last asked for them.
struct NetworkTensor {
  /// "encoder.0.weight"
  std::string Name;
  /// "Float", "cuda:0"
  std::string Type, Device;
  std::string Shape;
  int64_t Bytes = 0;
  /// Where its memory was taken: index of Recording::Sites.
  std::optional<size_t> Site;
  bool IsBuffer = false, NeedsGradient = false, HasGradient = false;
  /// What an optimizer keeps for it: of LibTorch's own ones.
  int64_t StateBytes = 0;
};

/// A device while the program ran, as NVIDIA's management library samples it.
struct DeviceBusy {
  unsigned Index = 0;
  /// "NVIDIA H100 80GB HBM3"
  std::string Name;
  /// Of the time that it was looked at: how much of it some kernel was running,
  /// be it one that uses a part of the device only.
  double Share = 0;
  /// For how long it was looked at, in seconds: from when the program was first
  /// seen on it, or all the time where it never was.
  double Seconds = 0;
  /// The program or one of its children was seen on it. In a container NVML
  /// knows processes by other numbers.
  bool IsUsed = false;
  /// And others were.
  bool IsShared = false;
};

/// What AddressSanitizer reported of a program that is built with it.
struct SanitizerReport {
  /// "heap-use-after-free"
  std::string Kind;
  /// "read of 4 bytes"; empty where it is no access.
  std::string Access;
  /// The user's frames, innermost first: of the access, of what freed the
  /// memory, and of what allocated it. Of a local variable the last one is its
  /// line, where that is known, in the function that holds it; of a global one
  /// its definition.
  std::vector<SourceLine> Use, Freed, Allocated;
};

enum class LineState {
  DidNotRun,
  Ran,
  /// Optimised code: of the line only instructions ran that the compiler may
  /// have moved, and none of those that begin it.
  MayHaveRun,
  Unknown,
};

/// A line whose hits were wanted, and that has code.
struct LineHits {
  std::string File;
  unsigned Line = 0;
  LineState State = LineState::Unknown;
  /// Places in the code where it begins, or where code of it is.
  uint64_t Places = 0;
  /// Why its state is unknown; of a line that did not run, what else there is
  /// to say.
  std::string Reason;
};

/// Whether a quantity was measured.
struct Capability {
  bool IsAvailable = false;
  /// Where it is not: why. "libc10's allocator is bound symbolically"
  std::string Reason;
};

struct Recording {
  // How the program ended.
  std::vector<std::string> Command;
  /// Its number, of the process that was recorded.
  uint32_t Process = 0;
  std::optional<int> ExitCode;
  std::optional<int> Signal;
  /// It was ended because it took longer than it was given.
  bool TimedOut = false;
  /// The kernel ended it since there was no memory left.
  bool WasKilledForMemory = false;
  double Seconds = 0;

  /// "2.11.0"
  std::string LibTorch;
  /// Name of the CUDA device in use; empty without one.
  std::string CudaDevice;
  /// By quantity: "operations", "cpu-memory", "cuda-memory", "graph-nodes",
  /// "gradients", "copies", "synchronisations", "cuda-runtime", "exceptions",
  /// "call-stacks", "line-numbers", "line-hits", "wrapped-memory", "members",
  /// "casts"; "sanitizer" where there are reports of AddressSanitizer, or a run
  /// under it that ended without any.
  std::map<std::string, Capability> Capabilities;

  // Of the whole process.
  uint64_t Operations = 0;
  int64_t PeakCpuBytes = 0, PeakCudaBytes = 0;
  int64_t LiveCpuBytes = 0, LiveCudaBytes = 0;
  int64_t PeakCudaReserved = 0;
  int64_t NodesAlive = 0;
  uint64_t NodesMade = 0;
  /// cudaDeviceSynchronize and others that the CUDA runtime saw.
  std::map<std::string, uint64_t> RuntimeCalls;
  /// Events whose site did not fit into the table any more.
  uint64_t UnattributedEvents = 0;

  std::vector<Site> Sites;
  // Of a run with a timeline ("torch-confirm report"); empty without.
  /// In order of time.
  std::vector<Moment> Moments;
  /// Every n-th, in order, with the first, the last and the one with the most
  /// bytes at once.
  std::vector<Iteration> Iterations;
  /// Where the step is that ends them; none where there are none.
  std::optional<size_t> IterationSite;
  uint64_t IterationCount = 0;
  /// The first thousands and the last ones, by begin; of so many.
  std::vector<Event> Events;
  uint64_t EventCount = 0;
  /// Of the network with the most parameters.
  std::vector<NetworkTensor> Network;
  /// The most that was resident of the process, as the kernel has it; -1 where
  /// not known.
  int64_t PeakResidentBytes = -1;
  /// Of this machine, where it was asked for.
  std::vector<DeviceBusy> Devices;

  std::vector<SanitizerReport> SanitizerReports;
  /// Of flagged lines, of all processes of the run together.
  std::vector<LineHits> Lines;

  bool has(const std::string &Quantity) const {
    auto It = Capabilities.find(Quantity);
    return It != Capabilities.end() && It->second.IsAvailable;
  }
};

} // namespace torchtidy::confirm

#endif

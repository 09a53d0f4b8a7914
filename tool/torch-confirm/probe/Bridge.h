// Between the two halves of the probe. The preloaded half (preload/) knows no
// LibTorch type; the other half (torch/), compiled against the headers of the
// LibTorch in use, knows no trace. Each gives the other a table of functions.
#ifndef TORCHTIDY_CONFIRM_PROBE_BRIDGE_H
#define TORCHTIDY_CONFIRM_PROBE_BRIDGE_H

#include <cstddef>
#include <cstdint>

namespace torchtidy::confirm::probe {

/// What is to be told of an operation that begins.
enum ToTell : uint32_t {
  /// Written to: it changes its first tensor in place.
  WantsWritten = 1,
  /// Viewed: only a tensor that lies in order has such a view.
  WantsViewed = 2,
  /// Whether it copies the tensor of the time before.
  WantsSame = 4,
  /// Whether what it repeats would be stretched.
  WantsStretched = 8,
};

struct Begun {
  /// Of an operation that the user's code calls, whose shapes are to be told; 0
  /// for all others.
  uint32_t Site;
  /// ToTell.
  uint32_t Wants;
};

/// The memory of a tensor, and whether it has all of it.
struct Operand {
  const void *Memory;
  bool IsWhole;
};

/// What becomes of a gradient that a backward reached.
enum class GradientEnd : uint32_t { Applied, Dropped, Read };

/// What torch/ calls.
struct ProbeSide {
  /// An operation (or a range that the program announces) begins and ends on
  /// this thread. Names need not outlive the call.
  Begun (*operationBegins)(const char *Name);
  void (*operationEnds)(const char *Name);
  /// What the tensors are like that it is given, by a hash that is not 0.
  /// \returns false where that is new: then keepShape() takes it in words.
  bool (*countShape)(uint32_t Site, uint64_t Hash);
  void (*keepShape)(uint32_t Site, uint64_t Hash, const char *Text);
  /// Its first tensor is one element of a larger one in that memory.
  void (*isOfOneElement)(uint32_t Site, const void *Memory);
  /// It has two modes.
  void (*runsInMode)(uint32_t Site, bool IsTraining);
  /// A loss, or a logarithm, is given numbers on that scale: InputScale.
  void (*takesScale)(uint32_t Site, uint32_t Scale);
  /// The memory of the first two tensors that an operation is given, and
  /// whether they have all of it. \returns whether wasGiven() is to be told of
  /// all: memory of the first tensors.
  bool (*operandsAre)(Operand First, Operand Second);
  void (*wasGiven)(uint32_t Site, const void *Memory);
  /// \param Site a step whose gradients were applied once more.
  void (*unclearedStep)(uint32_t Site);
  /// A leaf with that memory got its first gradient. \returns the site where
  /// the memory was taken, 0 where that is not known.
  uint32_t (*leafTrained)(const void *Memory);
  /// And was changed for the first time by a step.
  void (*leafStepped)(uint32_t MadeAt);
  /// A gradient that a backward reached through nodes of that site was applied
  /// by a step, or dropped before any was.
  void (*gradientEnds)(uint32_t Site, GradientEnd How);
  /// A backward comes from a node of that site to another node.
  void (*flowsInto)(uint32_t Site, uint64_t Thread, uint64_t Sequence);
  /// An operation writes in place to memory, all of it or a part.
  void (*writes)(uint32_t Site, const void *Memory, bool IsPart);
  /// It makes a view that only a tensor which lies in order has.
  void (*views)(const void *Memory);
  /// It copies the tensor of the time before, with the same contents.
  void (*copiesAgain)(uint32_t Site);
  /// It repeats more than one row.
  void (*stretchesNot)(uint32_t Site);
  /// It runs under autocast.
  void (*runsUnderAutocast)(uint32_t Site);
  /// It is given that memory in half precision, beside others that are not.
  void (*givenHalf)(uint32_t Site, const void *Memory);
  /// An exception is about what that site has written; or, at the site of a
  /// backward, about a leaf of its graph.
  void (*savedWasWritten)(uint32_t Site);
  void (*leafWasWritten)(uint32_t Site);
  /// An optimizer that is made at this site is for parameters that another one
  /// had stepped which was made there.
  void (*optimizerMadeAgain)(uint32_t Site);
  /// Whether the operation that begins at this site is to run with grad mode
  /// off: an experiment.
  bool (*runsWithoutGrad)(uint32_t Site);
  /// Whether usesStorage() is to be told the storages of what operations are
  /// given, also of those inside of others.
  bool (*isWatchingStorages)();
  void (*usesStorage)(const void *Storage);
  /// A pass under autocast took a copy of a weight that the step of that site
  /// had changed: one from before, or a new one.
  void (*castTaken)(uint32_t Step, bool IsStale);
  /// A tensor with that memory is a module's member in place of the one that is
  /// registered.
  void (*memberReplaced)(const void *Memory);
  /// Where the module was made that is, or was, at that address; 0 where that
  /// is not known.
  uint32_t (*moduleMadeAt)(const void *Module);
  /// A module that was made at that site was called, in the mode of the one
  /// that it is a member of or not.
  void (*memberCalled)(uint32_t MadeAt, bool IsInSameMode);
  /// A parameter with that memory is so many times among those of one module.
  void (*parameterListed)(const void *Memory, uint32_t Times);
  /// The bytes of a block of malloc's that begins there.
  size_t (*bytesOfBlock)(const void *Block);
  /// Grad mode is off at a hit of the site.
  void (*runsUnrecorded)(uint32_t Site);
  /// Whether somebody wants to know what the tensors of a network are, and no
  /// other thread is telling. Then networkEnds() has to follow, and where there
  /// is something to tell, before it networkStarts() and the tensors.
  bool (*networkBegins)();
  void (*networkStarts)();
  /// Type: of its elements; Flags: NetworkFlag; StateBytes: of what an
  /// optimizer keeps for it, as far as it has told.
  void (*networkTensor)(const char *Name, const char *Type, const char *Device,
                        const char *Shape, int64_t Bytes, const void *Memory,
                        uint32_t Flags, int64_t StateBytes);
  void (*networkEnds)();
  /// An optimizer has stepped the parameter with that memory, which has a
  /// gradient or none, and keeps so many bytes for it.
  void (*networkStepped)(const void *Memory, bool HasGradient,
                         int64_t StateBytes);
};

/// Of the numbers that a loss is given. Shares: each row sums to one.
/// Fractions: between zero and one. Logarithms: of shares. Parts: logarithms of
/// what sums to less than one in each row.
enum InputScale : uint32_t {
  UnknownScale,
  Shares,
  Fractions,
  Logarithms,
  Parts,
  AnyNumbers,
};

enum NetworkFlag : uint32_t {
  IsBuffer = 1,
  NeedsGradient = 2,
  HasGradient = 4,
};

/// A node of a graph that is alive, for sweep().
struct AliveNode {
  uint64_t Key;
  /// Null where its address is not known.
  const void *Node;
  uint32_t Site;
};

/// What a look at all graphs tells of the nodes of one site; see trace::Site.
struct SweptSite {
  uint32_t Site, Nodes, Roots, Chain;
};

/// A tensor that was laid over memory of the program's.
struct WrappedFacts {
  const void *Storage;
  uintptr_t Begin;
  uint64_t Bytes, Elements, ElementSize;
};

/// A copy from one tensor to another.
struct CopyFacts {
  /// Whether it counts: it changes the device or the element type, and does not
  /// merely turn a number of an expression into the type that is needed.
  bool Counts;
  /// As trace::Place.
  uint8_t From, To;
  bool Converts, Pinned;
  /// Those that are read.
  uint64_t Bytes;
};

/// What preload/ calls. Arguments that are void pointers point to LibTorch's
/// objects; those of optionals passed by value hold their bytes.
struct TorchSide {
  /// TORCH_VERSION of the headers.
  const char *Version;
  /// Of the libtorch_cpu.so that it was compiled against; 0 where not known.
  /// One of another size is another LibTorch.
  uint64_t LibrarySize;
  /// Begins to observe operations. \returns what is wrong, or null.
  const char *(*observe)(const ProbeSide *Probe);

  /// The thread and sequence number of a torch::autograd::Node.
  void (*nodeKey)(const void *Node, uint64_t *Thread, uint64_t *Sequence);
  /// The node of a gradient edge that is given to a tensor, where it is one
  /// whose end is seen; else null.
  const void *(*nodeOfEdge)(const void *Edge, uint64_t *Thread,
                            uint64_t *Sequence);
  /// Goes through the graphs of nodes that stay alive meanwhile, sorted by key.
  /// KeyOf names a node. \returns how many sites it has told of, at most \p
  /// Room; Visits: how many steps it took.
  uint32_t (*sweep)(const AliveNode *Nodes, uint32_t Count,
                    uint64_t (*KeyOf)(uint64_t Thread, uint64_t Sequence),
                    SweptSite *Into, uint32_t Room, uint64_t *Visits);
  /// A backward runs a node that was made at that site: which leaves it
  /// reaches, and where asked for, which other nodes.
  void (*nodeReaches)(const void *Node, uint32_t Site, bool TellsNodes);
  /// Whether hooks are registered that may be the user's.
  bool (*nodeHasHooks)(const void *Node);

  /// Of copy_(Self, Source).
  CopyFacts (*copyFacts)(const void *Self, const void *Source);
  /// Whether to(...) with these arguments is a cpu() of a tensor that is on the
  /// CPU already.
  bool (*isIdleToCpu)(const void *Self, uint64_t Dtype, uint64_t Layout,
                      uint64_t Device);

  /// Whether the tensor is the one that was told of this key before, with the
  /// same contents as then.
  bool (*isSameAsBefore)(uint64_t Key, const void *Tensor);

  /// Around AccumulateGrad::apply.
  void (*accumulateBegins)(void *AccumulateGrad);
  void (*accumulateEnds)(void *AccumulateGrad);
  /// Around the step of an optimizer.
  void (*stepBegins)(void *Optimizer);
  void (*stepEnds)(void *Optimizer, uint32_t Site);
  /// Makes a std::optional<at::StepCallbacks> without a value, or an empty
  /// at::StepCallbacks: nobody observes.
  void (*makeNoCallbacks)(void *Into);
  void (*makeEmptyCallbacks)(void *Into);
  /// A group of parameters was added to an optimizer at that site.
  void (*groupAdded)(void *Optimizer, uint32_t Site);
  /// Whether the tensor shares the memory of a parameter that has had
  /// gradients; it was then written to at that site, as a step by hand does.
  bool (*parameterWritten)(const void *Tensor, uint32_t Site);
  /// Keeps a weak reference to the tensor's storage in that slot, in place of
  /// another one. \returns false for a tensor without memory on the host.
  bool (*wrapped)(const void *Tensor, uint32_t Slot, WrappedFacts *Facts);
  /// Whether the storage of a slot is still there, with that memory.
  bool (*isWrapAlive)(uint32_t Slot, uintptr_t Begin);
  /// The storage and the memory of a tensor; null where it has none.
  const void *(*storageOf)(const void *Tensor);
  const void *(*memoryOfTensor)(const void *Tensor);
  /// Autocast has given a copy of a tensor, new or kept.
  void (*castGiven)(const void *Of, const void *Copy);
  /// A module was asked for its parameters, or its mode was set: what its
  /// members are.
  void (*moduleAsked)(const void *Module);
  /// It is called.
  void (*moduleCalled)(const void *Module);
  /// A std::vector of all parameters of a module.
  void (*parametersGiven)(const void *Tensors);
  /// What an exception says: the first line, without a stack. Cut where there
  /// is no room, empty where it says nothing. TypeInfo: its std::type_info.
  void (*messageOf)(void *Exception, const void *TypeInfo, char *Into,
                    uint32_t Room);
  /// A backward of that site throws because something was written that had been
  /// saved; Node is the one that it runs.
  void (*modifiedThrown)(const char *Message, const void *Node, uint32_t Site);
  /// The gradient of that tensor's TensorImpl is given to an operation.
  void (*gradientRead)(const void *Impl);
  /// Whether the site has given that tensor a hook before.
  bool (*isHookedAgain)(const void *Tensor, uint32_t Site);
  /// A process was forked: no other thread is in here.
  void (*forked)();
};

/// Slots of wrapped().
constexpr uint32_t WrapSlots = 1024;

/// Exported by libtorch-confirm-torch.so. Counts up when a table changes.
constexpr uint32_t BridgeVersion = 9;
extern "C" const TorchSide *torch_confirm_torch_side(uint32_t Version);
using GetTorchSide = const TorchSide *(*)(uint32_t);

} // namespace torchtidy::confirm::probe

#endif

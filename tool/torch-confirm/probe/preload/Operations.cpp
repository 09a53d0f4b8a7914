// Operations, as LibTorch's own observer (at::RecordFunction) reports them.
// Only the outermost ones become sites; what they call belongs to them.

#include "Operations.h"

#include "Hooks.h"
#include "Sites.h"
#include "Stacks.h"
#include "Timeline.h"
#include "Wrapped.h"

#include <cstring>

namespace torchtidy::confirm::probe {
namespace {

enum Flags : uint16_t {
  /// Not an operation but a range: an optimizer's, or the program's own.
  IsRange = 1,
  /// The user's own operation: what it calls are sites of the user's, too.
  IsTransparent = 2,
  /// The host reads what the device computes.
  IsSynchronising = 4,
  /// What it makes is watched: whether anything uses it.
  IsJoining = 8,
  /// It makes a tensor from sizes.
  IsFactory = 16,
  /// What it calls neither waits for a device nor runs the user's code.
  IsPlain = 32,
  /// It reads and writes no elements itself.
  IsView = 64,
  /// It writes into its first tensor.
  IsInPlace = 128,
  /// It makes a view that only a tensor which lies in order has.
  IsViewOfOrder = 256,
  /// It copies what lies in another order than it is asked for.
  IsLayoutCopy = 512,
  IsRepeating = 1024,
  /// It makes nothing of the numbers that it is given.
  IsIdle = 2048,
};

/// What torch/ is to tell of an operation is said by four of these.
uint32_t wantsOf(uint16_t Flags) {
  constexpr uint16_t All =
      IsInPlace | IsViewOfOrder | IsLayoutCopy | IsRepeating;
  static_assert(IsInPlace / WantsWritten == IsRepeating / WantsStretched &&
                IsViewOfOrder / WantsViewed == IsLayoutCopy / WantsSame &&
                IsInPlace / WantsWritten == IsLayoutCopy / WantsSame);
  return (Flags & All) / IsInPlace;
}

struct Known {
  std::atomic<const char *> Name;
  TextOffset Text;
  uint16_t Flags;
};

// All names of operations; few thousand. Never removed from.
constexpr uint32_t NameCount = 1 << 14;
Known *Names;
SpinLock NameLock;
uint32_t NamesUsed;

/// The name that comes again at the same address is most likely the same one;
/// names of ranges live on the stack, so they are compared.
struct Recent {
  const char *Address;
  const Known *Entry;
};
constexpr uint32_t RecentCount = 128;
TORCH_CONFIRM_TLS Recent RecentNames[RecentCount];

/// Data-dependent results: the tags data_dependent_output and
/// dynamic_output_shape of native_functions.yaml, as far as the operation does
/// not read the device by one of the others. masked_select and equal do on CUDA
/// only, so they are named.
constexpr const char *Synchronising[] = {"_local_scalar_dense",
                                         "nonzero",
                                         "equal",
                                         "masked_select",
                                         "_unique",
                                         "_unique2",
                                         "unique_dim",
                                         "unique_consecutive",
                                         "unique_dim_consecutive",
                                         "bincount"};

constexpr const char *Joining[] = {"cat",          "concat", "concatenate",
                                   "stack",        "hstack", "vstack",
                                   "column_stack", "dstack", "row_stack"};

constexpr const char *Factories[] = {"empty",  "zeros",    "ones",    "full",
                                     "rand",   "randn",    "randint", "normal",
                                     "arange", "linspace", "eye"};

/// Those that are frequent, or call many others.
constexpr char Plain[] =
    " abs add add_ addmm arange avg_pool1d avg_pool2d batch_norm "
    "binary_cross_entropy binary_cross_entropy_with_logits bmm clamp clamp_ "
    "clone contiguous conv1d conv2d conv3d conv_transpose2d cos "
    "cross_entropy_loss detach div div_ dropout einsum elu embedding empty "
    "empty_like exp expand fill_ flatten full gelu group_norm gru "
    "instance_norm kl_div l1_loss layer_norm leaky_relu linear log "
    "log_softmax lstm matmul max_pool1d max_pool2d mean mm mse_loss mul "
    "mul_ neg nll_loss nll_loss_nd norm ones ones_like permute pow rand "
    "rand_like randn randn_like relu relu_ reshape rsqrt rsub "
    "scaled_dot_product_attention select sigmoid silu sin slice "
    "smooth_l1_loss softmax sqrt squeeze std sub sub_ sum t tanh transpose "
    "unsqueeze var view zero_ zeros zeros_like ";

/// What they do not copy themselves they copy by another operation.
constexpr char Views[] =
    " _has_compatible_shallow_copy_type _reshape_alias _unsafe_view alias "
    "as_strided as_strided_ chunk contiguous detach detach_ diagonal "
    "empty_like expand expand_as flatten full_like is_pinned "
    "is_same_size lift_fresh mT movedim narrow new_empty "
    "new_empty_strided new_full new_ones new_zeros numpy_T ones_like "
    "permute rand_like randn_like ravel real requires_grad_ reshape "
    "reshape_as resolve_conj resolve_neg select set_ set_data size slice "
    "split split_with_sizes squeeze squeeze_ stride t t_ tensor_split to "
    "transpose transpose_ type_as unbind unflatten unfold unsqueeze "
    "unsqueeze_ view view_as zeros_like ";

/// Whose kernels are LibTorch's own.
constexpr const char *Namespaces[] = {"aten",           "prim",
                                      "prims",          "quantized",
                                      "_quantized",     "quantized_decomposed",
                                      "sparse",         "mkldnn",
                                      "onednn",         "mkldnn_prepacked",
                                      "prepacked",      "xnnpack",
                                      "c10d",           "_c10d_functional",
                                      "profiler",       "cuda",
                                      "torchvision",    "image",
                                      "static_runtime", "rngprims",
                                      "inductor",       "nvprims",
                                      "higher_order",   "torch_attn"};

bool isAmong(const char *Names, const char *Name) {
  const size_t Size = std::strlen(Name);
  for (const char *At = std::strstr(Names, Name); At;
       At = std::strstr(At + 1, Name))
    if (At[-1] == ' ' && At[Size] == ' ')
      return true;
  return false;
}

/// What each of these is, beside what its list says. Name: behind the colons.
uint16_t layoutFlags(const char *Name, bool IsView) {
  const size_t Size = std::strlen(Name);
  uint16_t Result = 0;
  if (!IsView && Size > 1 && Name[Size - 1] == '_' && Name[Size - 2] != '_')
    Result |= IsInPlace;
  if (isAmong(" view view_as ", Name))
    Result |= IsViewOfOrder;
  if (isAmong(" clone contiguous ", Name))
    Result |= IsLayoutCopy;
  if (isAmong(" repeat repeat_interleave tile ", Name))
    Result |= IsRepeating;
  if (isAmong(" fill_ zero_ ", Name) ||
      (IsView && !isAmong(" contiguous reshape to ", Name)))
    Result |= IsIdle;
  return Result;
}

uint16_t flagsOf(const char *Name, const char *Colons) {
  const size_t Size = static_cast<size_t>(Colons - Name);
  for (const char *Each : Namespaces) {
    if (std::strlen(Each) != Size || std::memcmp(Each, Name, Size) != 0)
      continue;
    for (const char *Waits : Synchronising)
      if (std::strcmp(Colons + 2, Waits) == 0)
        return IsSynchronising;
    for (const char *Joins : Joining)
      if (std::strcmp(Colons + 2, Joins) == 0)
        return IsJoining;
    uint16_t Result = 0;
    for (const char *Makes : Factories)
      if (std::strcmp(Colons + 2, Makes) == 0)
        Result |= IsFactory;
    if (isAmong(Views, Colons + 2))
      Result |= IsView;
    Result |= layoutFlags(Colons + 2, Result & IsView);
    return isAmong(Plain, Colons + 2) ? Result | IsPlain : Result;
  }
  return IsTransparent;
}

const Known Range{{nullptr}, 0, IsRange};

const Known *lookUp(const char *Name, const char *Colons) {
  uint64_t Hash = 14695981039346656037ull;
  for (const char *At = Name; *At; ++At)
    Hash = (Hash ^ static_cast<unsigned char>(*At)) * 1099511628211ull;
  uint32_t I = (Hash ^ Hash >> 32) & (NameCount - 1);
  for (;; I = (I + 1) & (NameCount - 1)) {
    const char *Text = Names[I].Name.load(std::memory_order_acquire);
    if (!Text)
      break;
    if (std::strcmp(Text, Name) == 0)
      return &Names[I];
  }
  Locked Lock(NameLock);
  for (;; I = (I + 1) & (NameCount - 1)) {
    const char *Text = Names[I].Name.load(std::memory_order_relaxed);
    if (!Text)
      break;
    if (std::strcmp(Text, Name) == 0)
      return &Names[I];
  }
  // A program that invents names must not fill the table.
  if (NamesUsed >= NameCount / 2)
    return &Range;
  const TextOffset Text = keepText(Name);
  if (!Text)
    return &Range;
  ++NamesUsed;
  Names[I].Text = Text;
  Names[I].Flags = flagsOf(Name, Colons);
  Names[I].Name.store(textAt(Text), std::memory_order_release);
  return &Names[I];
}

const Known &known(const char *Name) {
  const uintptr_t Address = reinterpret_cast<uintptr_t>(Name);
  Recent &Last = RecentNames[(Address >> 4 ^ Address >> 11) % RecentCount];
  if (Last.Address == Name &&
      std::strcmp(Last.Entry->Name.load(std::memory_order_relaxed), Name) == 0)
    return *Last.Entry;
  // "autograd::engine::evaluate_function: ...", made anew for each node.
  if (std::memcmp(Name, "aten", 4) != 0 &&
      std::strncmp(Name, "autograd::", 10) == 0)
    return Range;
  const char *Colons = std::strstr(Name, "::");
  if (!Colons || std::strchr(Name, ' '))
    return Range;
  const Known *Entry = lookUp(Name, Colons);
  if (Entry != &Range)
    Last = {Name, Entry};
  return *Entry;
}

std::atomic<bool> OthersObserve;
/// Its observer is the probe's own.
TORCH_CONFIRM_TLS bool IsOwnObserver;

using AddCallback = uint64_t(void *);

} // namespace

AddsObserver::AddsObserver() { IsOwnObserver = true; }
AddsObserver::~AddsObserver() { IsOwnObserver = false; }

// A profiler, or the program itself: all operations are theirs to see.
#define HOOK_ADD(Name, Symbol)                                                 \
  static std::atomic<void *> Next##Name;                                       \
  TORCH_CONFIRM_HOOK uint64_t hook##Name(void *Callback) asm(Symbol);          \
  uint64_t hook##Name(void *Callback) {                                        \
    if (!IsOwnObserver)                                                        \
      OthersObserve.store(true, std::memory_order_relaxed);                    \
    return next<AddCallback>(Next##Name, Symbol)(Callback);                    \
  }

HOOK_ADD(AddGlobal, "_ZN2at17addGlobalCallbackENS_22RecordFunctionCallbackE")
HOOK_ADD(AddThreadLocal,
         "_ZN2at22addThreadLocalCallbackENS_22RecordFunctionCallbackE")

// LibTorch asks before each operation, and before each range, who observes it,
// and then makes an object that has its name and arguments, for everybody. That
// is most of what the probe costs; inside of what is told of as a whole nobody
// wants to know.
#define CALLBACKS_OF_OPERATION                                                 \
  "_ZN2at27getStepCallbacksUnlessEmptyENS_11RecordScopeE"
#define CALLBACKS_OF_RANGE "_ZN2at16getStepCallbacksENS_11RecordScopeE"

using Ask = Returned(uint8_t);

static bool isOfNoInterest(uint8_t Scope) {
  constexpr uint8_t Function = 0; // RecordScope::FUNCTION
  return Self.Depth && Scope == Function && stackPointer() < Self.Top &&
         Torch && isRecording() &&
         !OthersObserve.load(std::memory_order_relaxed);
}

// Functions of their own: the variable is then where the caller wants it.
static Returned noCallbacks() {
  Returned Result;
  Torch->makeNoCallbacks(&Result);
  return Result;
}
static Returned emptyCallbacks() {
  Returned Result;
  Torch->makeEmptyCallbacks(&Result);
  return Result;
}

TORCH_CONFIRM_HOOK Returned
hookOperation(uint8_t Scope) asm(CALLBACKS_OF_OPERATION);
Returned hookOperation(uint8_t Scope) {
  static std::atomic<void *> Next;
  if (Self.IsWhole && isOfNoInterest(Scope))
    return noCallbacks();
  return next<Ask>(Next, CALLBACKS_OF_OPERATION)(Scope);
}

// Of ranges no one is of interest that is inside of something: they have names,
// and nothing else.
TORCH_CONFIRM_HOOK Returned hookRange(uint8_t Scope) asm(CALLBACKS_OF_RANGE);
Returned hookRange(uint8_t Scope) {
  static std::atomic<void *> Next;
  if (isOfNoInterest(Scope))
    return emptyCallbacks();
  return next<Ask>(Next, CALLBACKS_OF_RANGE)(Scope);
}

bool prepareOperations() {
  if (!Names)
    Names = static_cast<Known *>(reserve(NameCount * sizeof(Known)));
  return Names != nullptr;
}

void resetOperationLocks() { NameLock.reset(); }

void countSynchronisation(uint32_t Site) {
  bump(Trace->Synchronisations);
  if (Site)
    bump(siteAt(Site).Synchronisations);
}

__attribute__((noinline)) Begun operationBegins(const char *Name) {
  if (!isRecording())
    return {0, 0};
  const Known &Operation = known(Name);
  if (Operation.Flags & IsRange)
    return {0, 0};
  Begun Own = {0, 0};
  Self.IsView = Operation.Flags & IsView;
  bump(Trace->Operations);
  const uintptr_t Here = stackPointer();
  if (Self.Depth && Here >= Self.Top) {
    Self.Depth = 0;
    Self.SyncDepth = 0;
  }
  if (Self.Depth++ == 0) {
    bump(Trace->TopOperations);
    ++Self.Operations;
    const uint32_t Site = siteHere(trace::SiteKind::Operation, Operation.Text);
    Self.Top = Here;
    Self.Site = Self.LastSite = Site;
    Self.SyncDepth = 0;
    Self.IsJoining = Operation.Flags & IsJoining;
    Self.IsFactory = Operation.Flags & IsFactory;
    Self.IsIdle = Operation.Flags & IsIdle;
    Self.Operands[0] = Self.Operands[1] = 0;
    if (Self.AsksForGrad)
      bump(siteAt(Site).HitsAskedGrad);
    Own = {Site, wantsOf(Operation.Flags)};
    const uint64_t Time = hit(Site);
    Self.BeganAt = 0;
    if (hasTimeline()) {
      Self.BeganAt = Time ? Time : timeNow();
      lookAtOperation(Self.BeganAt);
    }
    // What reads memory that is gone may be an operation that it calls.
    Self.IsWhole = Operation.Flags & IsPlain && !isWatchingWraps();
    if (Operation.Flags & IsTransparent) {
      Self.Depth = 0;
      Self.BeganAt = 0;
      return Own;
    }
  } else if (Operation.Flags & IsTransparent) {
    --Self.Depth;
    return {0, 0};
  }
  if (Operation.Flags & IsSynchronising && !Self.SyncDepth) {
    Self.SyncDepth = Self.Depth;
    countSynchronisation(Self.Site);
  }
  return Own;
}

bool countShape(uint32_t Site, uint64_t Hash) {
  trace::Site &At = siteAt(Site);
  for (trace::ShapeCounts &Each : At.Shapes) {
    const uint64_t Known = Each.Hash.load(std::memory_order_relaxed);
    if (Known == Hash) {
      bump(Each.Number);
      return true;
    }
    if (!Known)
      return false;
  }
  bump(At.OtherShapes);
  return true;
}

void keepShape(uint32_t Site, uint64_t Hash, const char *Text) {
  // Half of the text is left to names and messages.
  const bool HasRoom =
      Trace->TextUsed.load(std::memory_order_relaxed) < trace::TextSize / 2;
  const TextOffset Kept = HasRoom ? keepText(Text) : 0;
  trace::Site &At = siteAt(Site);
  for (trace::ShapeCounts &Each : At.Shapes) {
    uint64_t Known = 0;
    // Another thread may have come first, with the same or others.
    if (Each.Hash.compare_exchange_strong(Known, Hash))
      Each.Text.store(Kept, std::memory_order_relaxed);
    else if (Known != Hash)
      continue;
    bump(Each.Number);
    return;
  }
  bump(At.OtherShapes);
}

void isOfOneElement(uint32_t Site, const void *Memory) {
  trace::Site &At = siteAt(Site);
  const auto Word = reinterpret_cast<uintptr_t>(Memory);
  if (At.LastMemory.exchange(Word, std::memory_order_relaxed) == Word)
    bump(At.OfOneElement);
}

void runsInMode(uint32_t Site, bool IsTraining) {
  bump(IsTraining ? siteAt(Site).InTraining : siteAt(Site).InEvaluation);
}

void takesScale(uint32_t Site, uint32_t Scale) {
  trace::Site &At = siteAt(Site);
  bump(Scale == Shares       ? At.GivenShares
       : Scale == Fractions  ? At.GivenFractions
       : Scale == Logarithms ? At.GivenLogarithms
       : Scale == Parts      ? At.GivenParts
                             : At.GivenNumbers);
}

void stretchesNot(uint32_t Site) { bump(siteAt(Site).NotStretched); }

void copiesAgain(uint32_t Site) { bump(siteAt(Site).CopiedAgain); }

void runsUnderAutocast(uint32_t Site) { bump(siteAt(Site).HitsUnderAutocast); }

void operationEnds(const char *Name) {
  if (!Self.Depth || !isRecording() ||
      known(Name).Flags & (IsRange | IsTransparent))
    return;
  if (Self.SyncDepth == Self.Depth)
    Self.SyncDepth = 0;
  if (--Self.Depth)
    return;
  if (Self.BeganAt)
    keepEvent(Self.Site, Self.BeganAt);
  if (Self.IsThrowing)
    settleException(0);
  Self.Site = 0;
}

} // namespace torchtidy::confirm::probe

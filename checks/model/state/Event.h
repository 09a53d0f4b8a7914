// What happens in the program in torch terms, each at a point of it. A kind is
// a class; Execution::events<ForwardEvent>() lists those of one.
#ifndef TORCHTIDY_STATE_EVENT_H
#define TORCHTIDY_STATE_EVENT_H

#include "model/state/Value.h"
#include "clang/AST/Expr.h"
#include "llvm/Support/Casting.h"
#include <memory>

namespace torchtidy::model {

struct Frame;

struct Event {
  enum Kind : uint8_t {
    Forward,
    // Graph uses.
    Backward,
    Grad,
    Inspect,
    /// Beside them: what a backward() has left is read.
    ReadGradient,
    Hook,
    // Updates of places.
    Store,
    Release,
    Step,
    ZeroGrad,
    ModeChange,
    GradModeChange,
    Autocast,
    Cast,
    HalfUse,
    Load,
    Create,
    Escape,
    Allocate,
    Transfer,
    Meet,
    Write,
    Combine,
    Chain,
    Rearrange,
    Mix,
    ScaleUse,
    Discard,
    AddParameters,
    Register,
    Replace,
    Borrow,
    End,
    Touch,
    Hold,
    Fill,
    DefaultDType,
    Compare,
    ReadUnwaited,
    HostRead,
    Wait,
    Compute,
    Keep,
    Opaque,
  };
  static constexpr unsigned Kinds = Opaque + 1;

  const Kind Is;
  const Frame *In = nullptr;
  /// The call or operator. Null for the Create event of a variable, where a
  /// scope ends (End, GradModeChange), where an activation ends (Hold).
  const clang::Expr *Site = nullptr;
  /// Possibilities of grad mode there: mode::On and its like.
  uint8_t GradMode = 0;
  /// Its node in Execution::points().
  unsigned Point = 0;

  virtual ~Event() = default;
  static llvm::StringRef name(Kind K);
  /// The event as an EventT, or null: of another kind.
  template <class EventT> const EventT *getAs() const {
    return llvm::dyn_cast<EventT>(this);
  }

protected:
  Event(Kind Is, const clang::Expr *Site) : Is(Is), Site(Site) {}
};

/// The base of a class of one kind.
template <Event::Kind K, class Base = Event> struct EventOf : Base {
  static constexpr Event::Kind Kind = K;
  explicit EventOf(const clang::Expr *Site) : Base(K, Site) {}
  static bool classof(const Event *E) { return E->Is == K; }
};

/// A module is run.
struct ForwardEvent : EventOf<Event::Forward> {
  using EventOf::EventOf;
  /// None where the module has no place of its own.
  PlaceSet Modules;
  /// These, and the modules and tensors elsewhere that they consist of.
  PlaceSet Parts;
  /// What it is given, and what it returns.
  Value Input, Result;
  /// Possibilities of the module's mode: train is On, eval is Off.
  uint8_t Mode = 0;
  /// What the result, and what is computed from it, has among its origins.
  OriginId Origin;
};

/// Something that needs the graph behind Root: Backward, Grad, Inspect.
struct GraphUseEvent : Event {
  Value Root;
  static bool classof(const Event *E) {
    return E->Is >= Backward && E->Is <= Inspect;
  }

protected:
  using Event::Event;
};

/// Gradients are added to the leaves that Root was computed from.
struct BackwardEvent : EventOf<Event::Backward, GraphUseEvent> {
  using EventOf::EventOf;
  /// It has a list of inputs: other leaves get nothing.
  bool HasInputs = false;
  /// With retain_graph or create_graph, or with a condition for one.
  bool RetainsGraph = false;
  /// The argument retain_graph, where it is written as true and is all that
  /// keeps the graph. Null otherwise.
  const clang::Expr *Retain = nullptr;
  /// The origin of values whose graph it has gone through.
  OriginId Origin;
};

/// Gradients of Root are returned (torch::autograd::grad).
struct GradEvent : EventOf<Event::Grad, GraphUseEvent> {
  using EventOf::EventOf;
};

/// The graph is looked at: grad_fn().
struct InspectEvent : EventOf<Event::Inspect, GraphUseEvent> {
  using EventOf::EventOf;
};

/// The gradient of a tensor is read, and not to clear it or to ask whether it
/// is there.
struct ReadGradientEvent : EventOf<Event::ReadGradient> {
  using EventOf::EventOf;
  /// The tensors.
  PlaceSet Of;
};

/// A hook of a tensor is registered, which each backward() that reaches the
/// tensor calls, or one, or all of them, is taken away.
struct HookEvent : EventOf<Event::Hook> {
  using EventOf::EventOf;
  /// The tensors.
  PlaceSet On;
  bool IsRemoved = false;
};

enum class StoreKind : uint8_t {
  /// The place had a value and gets another: `last = loss`.
  Rebind,
  /// The place gets what it had and more: `total = total + loss`, `total += x`.
  Accumulate,
  /// A container grows: push_back, or an element at a varying index.
  Append,
  /// The data of a tensor is written through it.
  InPlace,
};

/// Places get something else: Store, Release.
struct UpdateEvent : Event {
  PlaceSet Places;
  StoreKind How = StoreKind::Rebind;
  /// What is stored, as it is written; null where nothing is.
  const clang::Expr *Operand = nullptr;
  /// Where, as it is written, when the site stores into several places:
  /// std::tie.
  const clang::Expr *Target = nullptr;
  static bool classof(const Event *E) {
    return E->Is == Store || E->Is == Release;
  }

protected:
  using Event::Event;
};

/// A value that has, or may have, a history is stored.
struct StoreEvent : EventOf<Event::Store, UpdateEvent> {
  using EventOf::EventOf;
  /// As it was before it was stored.
  Value Stored;
  /// What values that are read from there carry.
  OriginId Origin;
};

/// What Places hold is let go: clear(), pop_front(), moved from, overwritten by
/// what has no history.
struct ReleaseEvent : EventOf<Event::Release, UpdateEvent> {
  using EventOf::EventOf;
};

/// Gradients are applied, by optimizers or by hand.
struct StepEvent : EventOf<Event::Step> {
  using EventOf::EventOf;
  /// None where it is made by hand.
  PlaceSet Optimizers;
  /// What they were given to train, as far as that is known. By hand: what is
  /// written.
  PlaceSet Trained;
  /// By hand: where the gradient is read that is applied. Null for optimizers.
  const clang::Expr *Gradient = nullptr;
  /// step(closure).
  bool HasClosure = false;
};

/// Gradients are cleared.
struct ZeroGradEvent : EventOf<Event::ZeroGrad> {
  using EventOf::EventOf;
  /// Optimizers, modules, or gradients.
  PlaceSet Cleared;
  /// What these optimizers train, and what these modules consist of: another
  /// optimizer over the same parameters clears for this one.
  PlaceSet Trained;
  /// The argument set_to_none, where it is written as false: the gradients stay
  /// and are filled with zeros. Null otherwise.
  const clang::Expr *InPlace = nullptr;
};

/// A module goes to train or eval.
struct ModeChangeEvent : EventOf<Event::ModeChange> {
  using EventOf::EventOf;
  PlaceSet Modules;
  /// These, and what lies elsewhere and belongs to them.
  PlaceSet Parts;
  uint8_t Mode = 0;
};

enum class GradModeBy : uint8_t {
  /// GradMode::set_enabled.
  Set,
  /// A guard begins its life.
  GuardBegins,
  /// It ends, and restores what it has found.
  GuardEnds,
  /// A thread begins or ends: each has a mode of its own.
  Thread,
};

/// The grad mode in force from here on is another, or may be. GradMode is that
/// of before.
struct GradModeChangeEvent : EventOf<Event::GradModeChange> {
  using EventOf::EventOf;
  GradModeBy By = GradModeBy::Set;
  /// Possibilities of the mode behind it.
  uint8_t Mode = 0;
  /// The guard.
  std::optional<PlaceId> Guard;
};

enum class AutocastChange : uint8_t {
  On,
  Off,
  /// On, if a flag of the program's own says so: mixed precision on demand.
  OnIf,
  /// One of these: what it is given is not known, or what was in force before.
  Set,
  /// The copies that it has kept are forgotten.
  EmptyCache,
  /// What it keeps, and of which type, is not known from here on.
  Other,
};

/// Autocast is switched for the thread, or its cache for all of them.
struct AutocastEvent : EventOf<Event::Autocast> {
  using EventOf::EventOf;
  AutocastChange How = AutocastChange::Other;
  /// Of On, OnIf, Off and Set: the device. Nothing where it is not known.
  std::optional<Device> Of;
};

/// Something is computed with weights that autocast, where it is on, casts: the
/// copy is kept, and is what the next such computation gets.
struct CastEvent : EventOf<Event::Cast> {
  using EventOf::EventOf;
  /// A tensor, or a layer of LibTorch, and where it is.
  PlaceId Weights;
  Placement Where;
  /// The copy is known to be kept on the CPU alone.
  bool IsOnCpuOnly = false;
};

enum class HalfUse : uint8_t {
  /// A loss that refuses a target of another type.
  Loss,
  /// One that takes it, and whose backward() refuses it.
  LossOfBackward,
  /// A product, or a convolution, with a tensor in float.
  Product,
  /// The same by a layer, whose weights are in float.
  Layer,
  /// Its elements are read as another type: data_ptr<float>().
  Elements,
};

/// What an operation under autocast has returned, which is in half precision,
/// is used where autocast is off, or would not help.
struct HalfUseEvent : EventOf<Event::HalfUse> {
  using EventOf::EventOf;
  model::HalfUse How = model::HalfUse::Loss;
  /// It, and what it meets, as they are written; null where that is a layer, or
  /// nothing.
  const clang::Expr *Half = nullptr, *Other = nullptr;
  Value OfHalf, OfOther;
};

/// A module, or a tensor, is read from a file.
struct LoadEvent : EventOf<Event::Load> {
  using EventOf::EventOf;
  PlaceSet Loaded;
};

/// An object begins its life. A heap object has two: its own, with a site, and
/// that of the variable that owns it, without one.
struct CreateEvent : EventOf<Event::Create> {
  using EventOf::EventOf;
  PlaceSet Objects;
};

/// Code that cannot be seen gets Places and may do anything with them, or Given
/// leaves what is analysed.
struct EscapeEvent : EventOf<Event::Escape> {
  using EventOf::EventOf;
  PlaceSet Places;
  Value Given;
};

/// A factory makes a tensor.
struct AllocateEvent : EventOf<Event::Allocate> {
  using EventOf::EventOf;
  Value Result;
  AllocationId Memory;
  /// What holds a tensor that the same call made before.
  PlaceSet Holders;
  /// What has a graph that may have saved one.
  PlaceSet Savers;
};

/// to(), cuda(), cpu(), toType().
struct TransferEvent : EventOf<Event::Transfer> {
  using EventOf::EventOf;
  /// The tensor.
  PlaceSet Source;
  Value Input, Result;
  /// The memory of the copy, where there is one.
  AllocationId Memory;
  /// What it asks for.
  bool MovesDevice = false, ConvertsType = false;
  /// The host need not wait for it.
  bool IsNonBlocking = false;
};

/// An operation needs its tensors on one device. One of them is on the CPU, and
/// another is not, or may be elsewhere. Null where it is the module that
/// computes with them.
struct MeetEvent : EventOf<Event::Meet> {
  using EventOf::EventOf;
  const clang::Expr *OnCpu = nullptr, *Elsewhere = nullptr;
  Value OfCpu, OfElsewhere;
  PlaceSet Modules;
  /// Of a Sequential that runs the user's modules, too: one of LibTorch's
  /// layers in it, which have parameters, gets what is on the CPU.
  bool IsInLayer = false;
};

/// The data of a tensor is, or may be, written, or whether it needs a gradient
/// is set.
struct WriteEvent : EventOf<Event::Write> {
  using EventOf::EventOf;
  PlaceSet Places;
  /// What it was, and with what it is written.
  Value Before, Written;
  /// A pointer or accessor to the data is handed out.
  bool IsPointer = false;
};

/// Tensors become one: stack(), cat(). The site says which.
struct CombineEvent : EventOf<Event::Combine> {
  using EventOf::EventOf;
  /// Of a list that is written there, {a, b}: one of them has no more elements
  /// than this. Nothing where no size is known.
  std::optional<uint64_t> Fewest;
};

/// An operation makes a tensor as large as its operand, which an operation has
/// made in the same expression and nobody else has.
struct ChainEvent : EventOf<Event::Chain> {
  using EventOf::EventOf;
  /// The operand, as it is written.
  const clang::Expr *Operand = nullptr;
  Value OfOperand, Result;
};

/// A copy is made for the sake of a shape or a layout: repeat(), contiguous().
struct RearrangeEvent : EventOf<Event::Rearrange> {
  using EventOf::EventOf;
  /// The tensor.
  PlaceSet Source;
  Value Input;
};

/// An operation goes element by element through a tensor that lies in order and
/// one that does not, neither of them stretched.
struct MixEvent : EventOf<Event::Mix> {
  using EventOf::EventOf;
  /// The one that does not, as it is written.
  const clang::Expr *Operand = nullptr;
  PlaceSet Source;
  Value OfOperand;
};

/// A loss, or a logarithm, is given numbers of which the scale is known.
struct ScaleUseEvent : EventOf<Event::ScaleUse> {
  using EventOf::EventOf;
  /// Nothing: the logarithm is taken of them.
  std::optional<torch::ScaledLoss> Loss;
  /// What it is given, as it is written.
  const clang::Expr *Operand = nullptr;
  Value OfOperand;
};

/// The history of Left is left behind: detach(), item(), an operation under a
/// guard.
struct DiscardEvent : EventOf<Event::Discard> {
  using EventOf::EventOf;
  Value Left;
};

/// An optimizer is given a tensor or a list of them to train.
struct AddParametersEvent : EventOf<Event::AddParameters> {
  using EventOf::EventOf;
  PlaceSet Optimizers;
  const clang::Expr *Operand = nullptr;
  Value Given;
};

/// A module registers something, or lets it go.
struct RegisterEvent : EventOf<Event::Register> {
  using EventOf::EventOf;
  PlaceSet Modules;
  /// What is registered, and as it is written; none where it is let go. Of a
  /// module, Objects are what handles to it lead to.
  PlaceSet Places, Objects;
  const clang::Expr *Operand = nullptr;
  /// What it was before.
  Value Before;
};

/// A registered member gets something that is not registered.
struct ReplaceEvent : EventOf<Event::Replace> {
  using EventOf::EventOf;
  /// The member, and as it is written.
  PlaceSet Member;
  const clang::Expr *Operand = nullptr;
  /// What it held, and what it gets.
  Value Before, After;
};

/// A tensor is laid over memory that it does not own: from_blob.
struct BorrowEvent : EventOf<Event::Borrow> {
  using EventOf::EventOf;
  const clang::Expr *Pointer = nullptr;
  Value Result;
  /// Its scalar type is written, not the default.
  bool SaysType = false;
};

enum class EndKind : uint8_t {
  /// The owner's scope, or function, is left.
  Scope,
  /// The expression that made the owner is over.
  FullExpression,
  Delete,
  /// The owner lives, but has its elements elsewhere now: resize(),
  /// push_back(), an assignment.
  Reallocation,
};

/// Memory ends that others use.
struct EndEvent : EventOf<Event::End> {
  using EventOf::EventOf;
  PlaceId Owner;
  EndKind How = EndKind::Scope;
  LoanSet Loans;
};

/// What uses memory that is gone is read.
struct TouchEvent : EventOf<Event::Touch> {
  using EventOf::EventOf;
  LoanSet Dangling;
};

/// When an activation ends, what lives on uses memory that is gone.
struct HoldEvent : EventOf<Event::Hold> {
  using EventOf::EventOf;
  PlaceId Holder;
  LoanSet Dangling;
};

/// Elements of a container become handles to one object: vector(n, t),
/// assign(n, t), push_back(t), map[name] = t.
struct FillEvent : EventOf<Event::Fill> {
  using EventOf::EventOf;
  PlaceSet Containers;
  /// What they share, and as it is written.
  Value Shared;
  const clang::Expr *Operand = nullptr;
  /// One element is added; otherwise several become the same.
  bool IsAppended = false;
};

/// torch::set_default_dtype: tensors of which nothing else is said may have
/// another scalar type than float.
struct DefaultDTypeEvent : EventOf<Event::DefaultDType> {
  using EventOf::EventOf;
};

/// Two torch::Device are compared, by == or !=.
struct CompareEvent : EventOf<Event::Compare> {
  using EventOf::EventOf;
  Value Left, Right;
};

/// The host reads memory that a device may still be writing: a copy that nobody
/// has waited for, on any path.
struct ReadUnwaitedEvent : EventOf<Event::ReadUnwaited> {
  using EventOf::EventOf;
  AllocationSet Memory;
  /// A pointer or accessor to it is handed out, which may be read later.
  bool IsPointer = false;
};

/// What was copied from a device to the host is wanted there: its numbers are
/// read, or something keeps it that others see.
struct HostReadEvent : EventOf<Event::HostRead> {
  using EventOf::EventOf;
  /// Of these copies (TransferEvent::Memory).
  AllocationSet Copies;
};

/// A call of LibTorch, or of a device's runtime, makes the host wait for a
/// device: torch::waitOf() says what for. One that waits for what only tensors
/// on the CPU have to say is none.
struct WaitEvent : EventOf<Event::Wait> {
  using EventOf::EventOf;
  /// Of the tensors that it is given, and what it returns.
  Value Of, Result;
};

/// An operation on tensors that may be elsewhere than on the CPU: the host goes
/// on when it is enqueued.
struct ComputeEvent : EventOf<Event::Compute> {
  using EventOf::EventOf;
  Value Result;
};

/// A tensor is stored, or written to a file, with or without a history, as far
/// as it is known what it is of its storage (Extent).
struct KeepEvent : EventOf<Event::Keep> {
  using EventOf::EventOf;
  /// None where it is a file.
  PlaceSet Places;
  StoreKind How = StoreKind::Rebind;
  /// The tensor, or what holds it, as it is written; null where that is not
  /// known.
  const clang::Expr *Operand = nullptr;
  Value Kept;
};

/// A call, or a construction, whose body is not followed and that is neither
/// LibTorch's nor, but for clocks, the standard library's.
struct OpaqueEvent : EventOf<Event::Opaque> {
  using EventOf::EventOf;
};

using EventPtr = std::unique_ptr<Event>;

} // namespace torchtidy::model

#endif

// What happens in the program in torch terms, each at a point of it.
#ifndef TORCHTIDY_MODEL_EVENT_H
#define TORCHTIDY_MODEL_EVENT_H

#include "model/Value.h"
#include "clang/AST/Expr.h"

namespace torchtidy::model {

struct Frame;

enum class EventKind : uint8_t {
  /// A module is run. Places: the module. Result: what it returns.
  Forward,
  /// Gradients are added to the leaves that Result was computed from.
  Backward,
  /// Gradients of Result are returned (torch::autograd::grad).
  Grad,
  /// Places: the optimizer.
  Step,
  /// Gradients are cleared. Places: optimizer, module, or gradients.
  ZeroGrad,
  /// A module goes to train or eval (Mode). Places: the module.
  ModeChange,
  /// A module is read from a file. Places: the module.
  Load,
  /// An object begins its life. Places: the object.
  Create,
  /// A value is stored. Places: where.
  Store,
  /// What Places hold is let go: clear(), pop_front(), moved from.
  Release,
  /// Code that cannot be seen gets Places and may do anything with them, or
  /// Result leaves what is analysed.
  Escape,
  /// A factory makes a tensor, whose memory is known as Origin. Places: what
  /// holds a tensor that the same call made before; Savers: what has a graph
  /// that
  /// may have saved one.
  Allocate,
  /// to(), cuda(), cpu(), toType(). Places: the tensor. Input: the tensor,
  /// Result:
  /// what comes of it.
  Transfer,
  /// The data of a tensor is, or may be, written, or whether it needs a
  /// gradient is
  /// set. Places: the tensor. Result: what it was; Input: with what.
  Write,
  /// Tensors become one: stack(), cat(). The site says which.
  Combine,
  /// The graph is looked at: grad_fn(). Result: the tensor.
  Inspect,
  /// The history of Result is left behind: detach(), item(), an operation under
  /// a guard.
  Discard,
  /// An optimizer is given a tensor or a list of them (Operand). Places: the
  /// optimizer. Result: what it is given.
  Train,
  /// A module registers something (Operand), or lets it go. Places: what.
  /// Input:
  /// Refs: the module. Result: what it was before.
  Register,
  /// A registered member gets something that is not registered. Places: the
  /// member. Operand: the same, as it is written. Input: what it held. Result:
  /// what it gets.
  Replace,
  /// A tensor is laid over memory that it does not own: from_blob. Operand: the
  /// pointer. ConvertsType: its scalar type is written, not the default.
  Borrow,
  /// Memory ends that others use. Places: its owner; Ends: how; Result: Loans,
  /// those of it. The site is null where a scope ends.
  End,
  /// What uses memory that is gone is read. Result: it.
  Touch,
  /// When the way ends, what lives on (Places) uses memory that is gone.
  Hold,
  /// Elements of a container become handles to one object: vector(n, t),
  /// assign(n, t), push_back(t). Places: the containers. Result: what they
  /// share; Operand: as it is written. How: Append where one is added.
  Fill,
};

enum class EndKind : uint8_t {
  /// The owner's scope, or function, is left.
  Scope,
  /// The expression that made the owner is over.
  FullExpression,
  Delete,
  /// The owner lives, but has its elements elsewhere now: resize(),
  /// push_back(),
  /// an assignment.
  Reallocation,
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

struct Event {
  EventKind Kind;
  const Frame *In = nullptr;
  /// The call or operator.
  const clang::Expr *Site = nullptr;
  PlaceSet Places;
  Value Result;
  /// For a forward or a transfer: what it is given.
  Value Input;
  uint8_t GradMode = 0;
  uint8_t Mode = 0;
  StoreKind How = StoreKind::Rebind;
  EndKind Ends = EndKind::Scope;
  /// What is stored, registered, trained.
  const clang::Expr *Operand = nullptr;
  /// Where, as it is written, when the site stores into several places:
  /// std::tie.
  const clang::Expr *Target = nullptr;
  /// Step with a closure, backward with a list of inputs.
  bool IsRestricted = false;
  /// Backward: with retain_graph or create_graph, or with a condition for one.
  bool RetainsGraph = false;
  /// Transfer: what it asks for.
  bool MovesDevice = false, ConvertsType = false;
  PlaceSet Savers;
  /// Write: a pointer or accessor to the data is handed out.
  bool IsPointer = false;
  /// For a store: the origin that values read from there carry. For a forward:
  /// the origin of its result. For an allocation or a transfer: of the memory
  /// of it. For a backward: the origin of values whose graph it has gone
  /// through.
  OriginId Origin = 0;
  /// Its node in Execution::points().
  unsigned Point = 0;
};

} // namespace torchtidy::model

#endif

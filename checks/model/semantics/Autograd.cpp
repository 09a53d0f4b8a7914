#include "model/semantics/Autograd.h"
#include "model/semantics/Conditions.h"
#include "torch/Members.h"
#include "torch/Types.h"

using namespace clang;

namespace torchtidy::model::autograd {

/// The graph behind Root has been gone through. Values that share it know it,
/// and so does what is computed from them.
static void markBackwarded(Machine &M, OriginId Here, const Value &Root) {
  auto IsShared = [&](OriginId Id) {
    const Origin &From = M.names().at(Id);
    return (From.isBuilder() || From.Of == Origin::Through) &&
           Root.hasOrigin(Id);
  };
  for (auto &[P, V] : M.state().Places)
    if (V.mayHaveGraph() && llvm::any_of(V.Origins, IsShared))
      V.addOrigin(Here);
}

/// backward() throws where there is no graph: what came from code that is not
/// seen has one, if the program goes on.
static void learnGraph(Machine &M, const Expr *Tensor) {
  if (!torch::isTensor(Tensor->getType()))
    return;
  const PlaceSet Objects = M.objects(Tensor);
  if (Objects.size() != 1 || M.places().isSummary(Objects.front()))
    return;
  const auto It = M.state().Places.find(Objects.front());
  if (It == M.state().Places.end() || !(It->second.History & history::Unknown))
    return;
  uint8_t &History = It->second.History;
  History = (History & history::Leaf) | history::Graph;
}

Denotation backward(Machine &M, const CallSite &Site) {
  // Tensor::backward(gradient, retain_graph, create_graph, inputs);
  // torch::autograd::backward(tensors, grads, retain, create, inputs).
  const Expr *Tensors = Site.Object ? Site.Object : Site.first();
  const unsigned Retain = Site.Object ? 1 : 2;
  const Value Root = Tensors ? M.deepValue(Tensors) : Value();
  const OriginId Here = M.origin(Origin::Backwarded, Site.Call);
  M.emit<BackwardEvent>(Site.Call, [&](BackwardEvent &E) {
    E.Root = Root;
    E.HasInputs = Site.written(Retain + 2);
    for (const Expr *Flag : {Site.written(Retain), Site.written(Retain + 1)})
      E.RetainsGraph |= Flag && ast::boolAt(Flag, false) != false;
    if (ast::boolAt(Site.written(Retain), false) == true &&
        ast::boolAt(Site.written(Retain + 1), false) == false)
      E.Retain = Site.written(Retain);
    E.Origin = Here;
  });
  if (Tensors)
    learnGraph(M, Tensors);
  markBackwarded(M, Here, Root);
  return {};
}

Denotation grad(Machine &M, const CallSite &Site) {
  Denotation Result;
  if (Site.first())
    Result.Own = M.deepValue(Site.first());
  M.emit<GradEvent>(Site.Call, [&](GradEvent &E) { E.Root = Result.Own; });
  // With create_graph the gradients are functions of what the outputs were.
  Result.Own.Refs.clear();
  if (!Site.written(4))
    Result.Own.History = history::None;
  return Result;
}

/// p.grad() is written, or asked whether it is there, where it stands.
static bool isOnlyCleared(const Machine &M, const Expr *Gradient) {
  const flow::ControlFlow *Flow = M.frame()->Flow;
  const Stmt *Parent = Flow ? Flow->parent(Gradient) : nullptr;
  while (isa_and_nonnull<FullExpr, ParenExpr, MaterializeTemporaryExpr,
                         ImplicitCastExpr, MemberExpr>(Parent))
    Parent = Flow->parent(Parent);
  const auto *Call = dyn_cast_or_null<CallExpr>(Parent);
  const Expr *Object = Call ? ast::objectOf(Call) : nullptr;
  return Object && ast::strip(Object) == Gradient &&
         (torch::clearsTensor(Call->getDirectCallee()) ||
          torch::asksTensor(Call->getDirectCallee()));
}

Denotation gradient(Machine &M, const CallSite &Site) {
  Denotation Result;
  if (!Site.Object)
    return Result;
  const PlaceSet Of = M.identity(Site.Object);
  for (PlaceId P : Of)
    insert(Result.Objects, M.places().gradient(P));
  if (M.isRecording() && !isOnlyCleared(M, Site.Call))
    M.emit<ReadGradientEvent>(Site.Call,
                              [&](ReadGradientEvent &E) { E.Of = Of; });
  return Result;
}

Denotation requireGrad(Machine &M, const CallSite &Site) {
  if (!Site.Object)
    return {};
  std::optional<bool> Wanted = ast::boolAt(Site.first(), true);
  if (!Wanted)
    Wanted = conditions::known(M, Site.first());
  const uint8_t Bits = !Wanted   ? history::None | history::Leaf
                       : *Wanted ? history::Leaf
                                 : history::None;
  M.emitWrite(Site.Call, Site.Object, Value::withHistory(Bits));
  for (PlaceId P : M.identity(Site.Object)) {
    Value V = M.load(P);
    // On the result of an operation it changes nothing.
    if (V.History == history::Graph)
      continue;
    V.History = Bits | (V.History & history::Graph);
    // A statement about all parameters, though each is set on its own.
    M.state().Places[P] = V;
  }
  Denotation Result = M.denote(Site.Object);
  if (Result.Objects.empty())
    Result.Own.History = Bits;
  return Result;
}

void detachLeaves(Machine &M, const PlaceSet &Tensors) {
  for (PlaceId P : Tensors) {
    Value V = M.load(P);
    if (!(V.History & history::Leaf))
      continue;
    V.History = history::None | (V.History & history::Graph);
    // A statement about all parameters, though each is set on its own.
    M.state().Places[P] = std::move(V);
  }
}

Denotation gradFn(Machine &M, const CallSite &Site) {
  Denotation Result;
  if (Site.Object)
    Result.Own = M.deepValue(Site.Object);
  Result.Own.Refs.clear();
  M.emit<InspectEvent>(Site.Call,
                       [&](InspectEvent &E) { E.Root = Result.Own; });
  return Result;
}

void emitHook(Machine &M, const CallSite &Site) {
  // A method of the tensor; clear_hooks() is a function.
  const Expr *Tensor = Site.Object ? Site.Object : Site.first();
  if (!Tensor)
    return;
  const PlaceSet On = M.identity(Tensor);
  M.emit<HookEvent>(Site.Call, [&](HookEvent &E) {
    E.On = On;
    E.IsRemoved = torch::removesHook(Site.callee());
  });
}

void emitCleared(Machine &M, const Expr *Site, const PlaceSet &Gradients) {
  M.emit<ZeroGradEvent>(Site, [&](ZeroGradEvent &E) { E.Cleared = Gradients; });
}

} // namespace torchtidy::model::autograd

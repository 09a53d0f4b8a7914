#include "model/LeafWrites.h"
#include "torch/Types.h"

using namespace clang;
using torchtidy::torch::TypeKind;
namespace op = torchtidy::torch::operation;

namespace torchtidy::model {

/// What an in-place operation writes: w of w.add_(1), of w -= x, of w[0] = x;
/// null for what is none, or does not throw.
static const Expr *writtenTensor(const Expr *Site) {
  const auto *Call = dyn_cast_or_null<CallExpr>(Site);
  if (!Call || Call->getNumArgs() + (objectOf(Call) ? 1 : 0) == 0)
    return nullptr;
  const Expr *First = objectOf(Call) ? objectOf(Call) : Call->getArg(0);
  if (const auto *Operator = dyn_cast<CXXOperatorCallExpr>(Call);
      Operator && Operator->getOperator() == OO_Equal)
    return First;
  const torch::Call Kind = torch::classify(Call);
  if (Kind.Kind != torch::Api::Operation || Kind.Op->Writes != op::Self)
    return nullptr;
  // They change what the tensor is, not what is in it, and do not throw.
  if (Kind.Op->Name == "set_" || Kind.Op->has(op::DiscardsHistory))
    return nullptr;
  return First;
}

namespace {

class LeafWriteQuery {
public:
  explicit LeafWriteQuery(const Execution &Way) : Way(Way) {}

  std::vector<LeafWrite> run() const {
    std::vector<LeafWrite> Result;
    for (const Event &E : Way.events()) {
      const bool IsLeaf = E.Result.History == history::Leaf;
      if (E.Kind != EventKind::Write || E.IsPointer ||
          (!IsLeaf && !E.Result.isViewOfLeaf()))
        continue;
      const Expr *Target = writtenTensor(E.Site);
      if (!Target || E.GradMode == 0 ||
          (E.GradMode & (mode::Off | mode::Inference)) || mayBeFrozen(E))
        continue;
      const Event *Backward = nullptr;
      if (E.GradMode & mode::Inherited) {
        Backward = sign(E);
        if (!Backward)
          continue;
      }
      const torch::Operation *Op = torch::classify(cast<CallExpr>(E.Site)).Op;
      Result.push_back(
          {&E, Target, !IsLeaf, Op && Op->has(op::Resizes), Backward});
    }
    return Result;
  }

private:
  /// A backward() through a graph that was recorded in the grad mode of the
  /// callers, and that no path past the write can avoid: were grad mode off, it
  /// would throw.
  const Event *sign(const Event &Write) const {
    for (const Event &E : Way.events()) {
      // Of what else goes into the graph, nothing need be known.
      if (E.Kind != EventKind::Backward || E.GradMode != Write.GradMode ||
          !E.Result.mayHaveGraph() ||
          (E.Result.History & (history::None | history::Leaf)))
        continue;
      const bool IsRecordedHere =
          llvm::any_of(E.Result.Origins,
                       [&](OriginId Id) { return Way.origin(Id).isBuilder(); });
      if (IsRecordedHere &&
          (Way.comesBefore(E.Point, Write.Point) ||
           flow::mustReach(
               Way.points(), Write.Point,
               [&](flow::Digraph::Node N) { return N == E.Point; },
               [](flow::Digraph::Node) { return false; })))
        return &E;
    }
    return nullptr;
  }

  /// The leaf, or the module that it belongs to.
  PlaceSet owners(const Event &Write) const {
    PlaceSet Result;
    for (const PlaceSet *Set :
         {&Write.Places, &Write.Result.Refs, &Write.Result.ViewOf})
      for (PlaceId P : *Set) {
        insert(Result, P);
        for (PlaceId Around = P; !Way.places().isRoot(Around);
             Around = Way.places().parent(Around))
          insert(Result, Way.places().parent(Around));
      }
    return Result;
  }

  /// What a scripted module has trained, it may need no gradient for; what code
  /// elsewhere was given, it may have frozen.
  bool mayBeFrozen(const Event &Write) const {
    const PlaceSet Owners = owners(Write);
    if (llvm::any_of(Owners, [&](PlaceId P) {
          const QualType Type = Way.places().typeOf(P);
          return !Type.isNull() &&
                 torch::kindOf(Type) == TypeKind::ScriptModule;
        }))
      return true;
    for (const Event &E : Way.events()) {
      if (E.Kind != EventKind::Escape)
        continue;
      const bool IsGiven = llvm::any_of(Owners, [&](PlaceId P) {
        return llvm::is_contained(E.Places, P) ||
               llvm::is_contained(E.Result.Refs, P);
      });
      if (IsGiven &&
          flow::mayReach(
              Way.points(), E.Point,
              [&](flow::Digraph::Node N) { return N == Write.Point; },
              [](flow::Digraph::Node) { return false; }))
        return true;
    }
    return false;
  }

  const Execution &Way;
};

} // namespace

std::vector<LeafWrite> leafWrites(const Execution &Way) {
  return LeafWriteQuery(Way).run();
}

} // namespace torchtidy::model

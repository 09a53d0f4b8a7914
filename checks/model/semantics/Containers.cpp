#include "model/semantics/Containers.h"
#include "model/domains/loans/Transfer.h"
#include "model/semantics/Pointers.h"
#include "torch/Ownership.h"
#include "torch/Std.h"

using namespace clang;
using torchtidy::torch::TypeKind;

namespace torchtidy::model::containers {

Denotation iterator(Machine &M, const CallSite &Site) {
  const Expr *Container = Site.Object ? Site.Object : Site.first();
  Denotation Result;
  if (Container)
    for (PlaceId P : M.receiver(Container))
      insert(Result.Own.Refs, M.places().element(P));
  return Result;
}

/// a[1] of a short std::array, whose elements are told apart.
static std::optional<unsigned> indexInArray(Machine &M, const CallSite &Site) {
  const QualType Array = Site.Object->getType();
  const Expr *Index = Site.Arguments.size() == 1 ? Site.first() : nullptr;
  if (!Index || Index->isValueDependent() ||
      !torch::isArray(torch::recordOf(Array)))
    return std::nullopt;
  Expr::EvalResult Constant;
  if (!Index->getType()->isIntegralOrEnumerationType() ||
      !Index->EvaluateAsInt(Constant, M.code().context()) ||
      Constant.Val.getInt().getActiveBits() > 32)
    return std::nullopt;
  const uint64_t Number = Constant.Val.getInt().getZExtValue();
  if (Number >= torch::tupleTypes(Array).size())
    return std::nullopt;
  return unsigned(Number);
}

Denotation element(Machine &M, const CallSite &Site) {
  Denotation Result;
  if (!Site.Object)
    return Result;
  PlaceSet Containers = M.receiver(Site.Object);
  if (Site.objectKind() == TypeKind::Pointer)
    Containers = M.pointees(Containers);
  const std::optional<unsigned> Number = indexInArray(M, Site);
  for (PlaceId P : Containers)
    insert(Result.Objects,
           Number ? M.places().index(P, *Number) : M.places().element(P));
  return Result;
}

void emitFill(Machine &M, const Expr *Site, const PlaceSet &Containers,
              const Expr *Element, bool IsAppended) {
  if (!M.isRecording() || !torch::mayHoldTensor(Element->getType()))
    return;
  M.emit<FillEvent>(Site, [&](FillEvent &E) {
    E.Containers = Containers;
    E.Shared = M.deepValue(Element);
    E.Operand = Element;
    E.IsAppended = IsAppended;
  });
}

Value elementsGiven(Machine &M, const Expr *Element,
                    const PlaceSet &Containers) {
  Value Result = M.deepValue(Element);
  if (torch::mayHoldTensor(Element->getType()))
    return Result;
  for (PlaceId P : PlaceSet(Result.Refs))
    if (!llvm::any_of(Containers,
                      [&](PlaceId C) { return M.places().isWithin(P, C); }))
      Result.join(M.deepLoad(P));
  return Result;
}

/// A copy of numbers leads nowhere, through whichever pointer or iterators they
/// were read.
static void leaveMemory(Value &V, QualType Held) {
  if (Held->isPointerType())
    Held = Held->getPointeeType();
  if (torch::isPlainData(Held))
    V.forgetLoans();
}

/// workers.emplace_back(f, std::ref(x)): the thread has a reference, and a list
/// of threads nothing of what x holds.
static bool isOnlyNamed(const CallSite &To, const Expr *Element) {
  return torch::kindOf(torch::elementType(To.Object->getType())) ==
             TypeKind::Thread &&
         torch::isReferenceWrapper(Element->getType());
}

static void add(Machine &M, const CallSite &To, const PlaceSet &Containers) {
  const llvm::ArrayRef<const Expr *> Elements = To.Arguments;
  const Expr *Site = To.Call;
  Value V;
  const Expr *Operand = nullptr;
  for (const Expr *Element : Elements) {
    if (isOnlyNamed(To, Element))
      continue;
    loans::shareHandle(M, Element);
    const Value Each = elementsGiven(M, Element, Containers);
    const bool MayNeedGrad =
        Each.needsGrad() || (Each.History & history::Unknown);
    if (MayNeedGrad || (!Operand && torch::mayHoldTensor(Element->getType())))
      Operand = Element;
    V.join(Each);
  }
  leaveMemory(V, To.Object->getType());
  M.emitStore(Site, Containers, V, StoreKind::Append, Operand);
  for (PlaceId P : Containers)
    M.storeWeak(M.places().element(P), V);
  // push_back(t), emplace(name, t)
  const auto HoldsNone = [](const Expr *Element) {
    return !torch::mayHoldTensor(Element->getType());
  };
  if (!Elements.empty() && llvm::all_of(Elements.drop_back(), HoldsNone))
    emitFill(M, Site, Containers, Elements.back(), /*IsAppended=*/true);
}

/// emplace_back(..) of a class of the user's, whose constructor has run: each
/// member of an element may be what that made of it.
static Denotation addMade(Machine &M, const CallSite &Site,
                          const PlaceSet &Containers) {
  const PlaceId Made = M.madeBy(Site.Call);
  Value Whole = M.deepLoad(Made);
  M.emitStore(Site.Call, Containers, Whole, StoreKind::Append, nullptr);
  Denotation Result;
  for (PlaceId P : Containers) {
    const PlaceId Element = M.places().element(P);
    M.copy(Made, Element);
    insert(Result.Objects, Element);
  }
  return Result;
}

Denotation append(Machine &M, const CallSite &Site) {
  if (!Site.Object)
    return {};
  if (Site.objectKind() == TypeKind::Pointer)
    return pointers::emplace(M, Site);
  const PlaceSet Containers = M.receiver(Site.Object);
  if (const Frame *Run = M.graph().expansion(M.frame(), Site.Call);
      Run && isa<CXXConstructorDecl>(Run->Function))
    return addMade(M, Site, Containers);
  add(M, Site, Containers);
  const auto &Arguments = Site.Arguments;
  if (torch::takesNumber(Site.callee()) && Arguments.size() >= 2 &&
      Arguments[Arguments.size() - 2]->getType()->isIntegerType())
    emitFill(M, Site.Call, Containers, Arguments.back(), /*IsAppended=*/false);
  return {};
}

Denotation fill(Machine &M, const CallSite &Site) {
  if (Site.Arguments.empty())
    return {};
  PlaceSet Elements;
  if (Site.Object)
    for (PlaceId P : M.receiver(Site.Object))
      insert(Elements, M.places().element(P));
  else
    Elements = M.denote(Site.first()).Own.Refs;
  Value V = M.deepValue(Site.Arguments.back());
  if (!Site.Arguments.back()->getType()->isPointerType())
    leaveMemory(V, Site.Arguments.back()->getType());
  PlaceSet Containers;
  for (PlaceId P : Elements) {
    M.storeWeak(P, V);
    insert(Containers, M.places().isRoot(P) ? P : M.places().parent(P));
  }
  emitFill(M, Site.Call, Containers, Site.Arguments.back(),
           /*IsAppended=*/false);
  return {};
}

/// What the arguments of a free function hold is taken out of them.
static Denotation takeArguments(Machine &M, const CallSite &Site) {
  for (const Expr *Argument : Site.Arguments) {
    loans::giveUp(M, M.objects(Argument));
    M.emitRelease(Site.Call, M.objects(Argument));
  }
  return {};
}

Denotation remove(Machine &M, const CallSite &Site) {
  if (!Site.Object)
    return takeArguments(M, Site);
  M.emitRelease(Site.Call, M.receiver(Site.Object));
  return {};
}

Denotation clear(Machine &M, const CallSite &Site) {
  if (!Site.Object)
    return takeArguments(M, Site);
  const PlaceSet Cleared = M.receiver(Site.Object);
  for (PlaceId P : Cleared)
    if (!M.places().isSummary(P))
      M.erase(P);
  M.emitRelease(Site.Call, Cleared);
  return {};
}

Denotation extract(Machine &M, const CallSite &Site) {
  if (Site.Object)
    loans::giveUp(M, M.receiver(Site.Object));
  return remove(M, Site);
}

Denotation resize(Machine &M, const CallSite &Site) {
  if (!Site.Object)
    return takeArguments(M, Site);
  const PlaceSet Containers = M.receiver(Site.Object);
  // resize(n, t)
  if (Site.Arguments.size() == 2 &&
      torch::mayHoldTensor(Site.Arguments[1]->getType())) {
    const Value V = M.deepValue(Site.Arguments[1]);
    for (PlaceId P : Containers)
      M.storeWeak(M.places().element(P), V);
    emitFill(M, Site.Call, Containers, Site.Arguments[1],
             /*IsAppended=*/false);
  }
  M.emitRelease(Site.Call, Containers);
  return {};
}

Denotation swap(Machine &M, const CallSite &Site) {
  if (Site.Object) {
    PlaceSet Both = M.receiver(Site.Object);
    for (const Expr *Argument : Site.Arguments)
      insert(Both, M.objects(Argument));
    loans::giveUp(M, Both);
    M.emitRelease(Site.Call, Both);
    return {};
  }
  if (Site.Arguments.size() != 2)
    return takeArguments(M, Site);
  const Expr *First = Site.Arguments[0], *Second = Site.Arguments[1];
  const PlaceSet A = M.objects(First), B = M.objects(Second);
  loans::giveUp(M, A);
  loans::giveUp(M, B);
  const Value OfA = M.deepValue(First), OfB = M.deepValue(Second);
  M.emitRelease(Site.Call, A);
  M.emitRelease(Site.Call, B);
  for (PlaceId P : A)
    M.storeWeak(P, OfB);
  for (PlaceId P : B)
    M.storeWeak(P, OfA);
  return {};
}

} // namespace torchtidy::model::containers

#include "model/semantics/Pointers.h"
#include "model/domains/device/Transfer.h"
#include "model/domains/loans/Transfer.h"
#include "model/semantics/Construction.h"
#include "model/semantics/GradMode.h"

using namespace clang;
using torchtidy::torch::TypeKind;

namespace torchtidy::model::pointers {

Denotation same(Machine &M, const CallSite &Site) {
  const Expr *Passed = Site.first() ? Site.first() : Site.Object;
  return Passed ? M.denote(Passed) : Denotation();
}

Denotation forward(Machine &M, const CallSite &Site) {
  Denotation Result = same(M, Site);
  loans::giveUp(M, Result.Objects);
  return Result;
}

Denotation move(Machine &M, const CallSite &Site) {
  Denotation Result = forward(M, Site);
  M.emitRelease(Site.Call, Result.Objects);
  return Result;
}

Denotation make(Machine &M, const CallSite &Site) {
  const PlaceId Heap = M.madeBy(Site.Call);
  loans::own(M, Heap);
  Denotation Result;
  Result.Own = Value::handle({Heap});
  // Where its constructor was seen, it has been filled.
  if (!M.graph().expansion(M.frame(), Site.Call)) {
    Construction Made;
    Made.Site = Site.Call;
    Made.Type = torch::pointee(Site.Call->getType());
    Made.Target = {Heap};
    Made.Arguments = Site.Arguments;
    construct(M, Made);
  } else if (torch::moduleClass(Site.Call->getType())) {
    device::markMade(M, {Heap}, /*IsSeen=*/true);
  }
  emitCreate(M, Site.Call, {Heap});
  return Result;
}

Denotation emplace(Machine &M, const CallSite &Site) {
  Construction Made;
  Made.Site = Site.Call;
  Made.Type = torch::pointee(Site.Object->getType());
  Made.Arguments = Site.Arguments;
  for (PlaceId P : M.receiver(Site.Object)) {
    Made.Target = {P};
    construct(M, Made);
  }
  return {};
}

static Denotation leadTo(const CallExpr *Call, PlaceSet Objects) {
  Denotation Result;
  if (Call->isGLValue())
    Result.Objects = std::move(Objects);
  else
    Result.Own = Value::handle(std::move(Objects));
  return Result;
}

Denotation dereference(Machine &M, const CallSite &Site) {
  if (!Site.Object)
    return {};
  PlaceSet Leads = M.denote(Site.Object).Own.Refs;
  if (Leads.empty())
    Leads = M.pointees(M.receiver(Site.Object));
  return leadTo(Site.Call, std::move(Leads));
}

Denotation get(Machine &M, const CallSite &Site) {
  Denotation Result;
  Result.Own = Value::handle(M.pointees(M.receiver(Site.Object)));
  return Result;
}

Denotation reset(Machine &M, const CallSite &Site) {
  const PlaceSet Released = Site.Object ? M.receiver(Site.Object) : PlaceSet();
  if (Site.objectKind() == TypeKind::Pointer) {
    const Expr *Next = Site.Arguments.size() == 1 ? Site.written(0) : nullptr;
    for (PlaceId P : Released) {
      // A guard that ends early; a pointer that gets another object.
      gradmode::destroy(M, P, /*Owned=*/true);
      if (Next)
        M.store(P, Value::handle(M.identity(Next)));
      else
        M.erase(P);
    }
  }
  if (Site.Object) {
    M.emitRelease(Site.Call, Released);
    return {};
  }
  for (const Expr *Argument : Site.Arguments) {
    loans::giveUp(M, M.objects(Argument));
    M.emitRelease(Site.Call, M.objects(Argument));
  }
  return {};
}

} // namespace torchtidy::model::pointers

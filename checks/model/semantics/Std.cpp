#include "model/semantics/Std.h"
#include "model/domains/loans/Transfer.h"
#include "model/semantics/Containers.h"
#include "model/semantics/Detaching.h"
#include "model/semantics/Pointers.h"
#include "model/semantics/Tuples.h"
#include "torch/Std.h"

using namespace clang;
using torchtidy::torch::StdMeaning;
using torchtidy::torch::TypeKind;

namespace torchtidy::model {

/// A callback that cannot be seen may reach all that comes from outside.
static Denotation callBack(Machine &M, const CallSite &Site) {
  if (M.graph().expansion(M.frame(), Site.Call))
    return {};
  M.emit<EscapeEvent>(Site.Call, [&](EscapeEvent &E) {
    for (const Expr *Argument : Site.Arguments)
      E.Given.join(M.deepValue(Argument));
    E.Places = M.outside();
  });
  Denotation Result;
  Result.Own.History = history::Unknown;
  return Result;
}

/// Anything else reads what it is given.
static Denotation read(Machine &M, const CallSite &Site) {
  Denotation Result;
  if (Site.Object)
    Result.Own.join(M.deepValue(Site.Object));
  for (const Expr *Argument : Site.Arguments)
    if (!isa<CXXDefaultArgExpr>(Argument))
      Result.Own.join(M.deepValue(Argument));
  Result.Own.Mode = 0;
  return Result;
}

static Denotation nothing(Machine &, const CallSite &) { return {}; }

/// A thread that runs on without its owner.
static Denotation detachThread(Machine &M, const CallSite &Site) {
  if (Site.objectKind() == TypeKind::Thread)
    loans::keepInBackground(M, M.deepValue(Site.Object));
  return read(M, Site);
}

static Denotation giveUpOwned(Machine &M, const CallSite &Site) {
  if (Site.Object)
    loans::giveUp(M, M.receiver(Site.Object));
  return read(M, Site);
}

static Meaning handlerOf(StdMeaning Means) {
  switch (Means) {
  case StdMeaning::Move:
    return pointers::move;
  case StdMeaning::Forward:
    return pointers::forward;
  case StdMeaning::Same:
    return pointers::same;
  case StdMeaning::Make:
    return pointers::make;
  case StdMeaning::Dereference:
    return pointers::dereference;
  case StdMeaning::Reset:
    return pointers::reset;
  case StdMeaning::Tuple:
  case StdMeaning::Tie:
    return tuples::make;
  case StdMeaning::Get:
    return tuples::get;
  case StdMeaning::Iterator:
    return containers::iterator;
  case StdMeaning::Element:
    return containers::element;
  case StdMeaning::Append:
    return containers::append;
  case StdMeaning::Fill:
    return containers::fill;
  case StdMeaning::Clear:
    return containers::clear;
  case StdMeaning::Remove:
  case StdMeaning::Exchange:
    return containers::remove;
  case StdMeaning::Extract:
    return containers::extract;
  case StdMeaning::Resize:
    return containers::resize;
  case StdMeaning::Swap:
    return containers::swap;
  case StdMeaning::Reserve:
  case StdMeaning::Nothing:
    return nothing;
  case StdMeaning::Detach:
    return detachThread;
  case StdMeaning::GiveUp:
    return giveUpOwned;
  case StdMeaning::ForEach:
  case StdMeaning::Transform:
  case StdMeaning::Unknown:
    return read;
  }
  llvm_unreachable("not a meaning");
}

Denotation stdCall(Machine &M, const CallSite &Site) {
  visitAlgorithm(M, Site.Call);
  if (Site.Object && Site.Object->isLValue())
    loans::reallocate(M, Site.Call, M.receiver(Site.Object));
  const StdMeaning Means = torch::meaning(Site.callee());
  const auto *Operator = dyn_cast<CXXOperatorCallExpr>(Site.Call);
  if (Means == StdMeaning::Unknown && Operator &&
      Operator->getOperator() == OO_Call &&
      Site.objectKind() == TypeKind::Callable)
    return callBack(M, Site);
  return handlerOf(Means)(M, Site);
}

} // namespace torchtidy::model

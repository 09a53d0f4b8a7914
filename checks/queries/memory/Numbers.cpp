#include "queries/memory/Numbers.h"
#include "ast/Expressions.h"
#include "model/syntax/Reads.h"
#include "torch/Elements.h"
#include <algorithm>

using namespace clang;

namespace torchtidy::model {

/// A local variable that is only read after its declaration.
static bool keepsInitializer(const VarDecl *V) {
  const auto *Function = dyn_cast<FunctionDecl>(V->getDeclContext());
  return V->hasLocalStorage() && V->getInit() && !isa<ParmVarDecl>(V) &&
         Function && Function->getBody() && onlyReads(V, Function->getBody());
}

const Expr *resolveNumber(const Expr *E, const Frame *&F) {
  E = ast::strip(E);
  for (unsigned Steps = 0; E && Steps < 8; ++Steps) {
    const auto *Ref = dyn_cast<DeclRefExpr>(E);
    const auto *V = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
    const auto *Parameter = dyn_cast_or_null<ParmVarDecl>(V);
    if (Parameter) {
      const Supergraph::Passed Given = Supergraph::passed(F, Parameter);
      if (!Given.Argument)
        break;
      E = ast::strip(Given.Argument);
      F = Given.To->Caller;
    } else if (V && V->getType()->isIntegralOrEnumerationType() &&
               keepsInitializer(V)) {
      E = ast::strip(V->getInit());
    } else {
      break;
    }
  }
  return E;
}

static std::optional<int64_t> evaluated(const Execution &Entry, const Expr *E) {
  Expr::EvalResult Result;
  if (!E || E->isValueDependent() ||
      !E->getType()->isIntegralOrEnumerationType() ||
      !E->EvaluateAsInt(Result, Entry.code().context()))
    return std::nullopt;
  return Result.Val.getInt().tryExtValue();
}

std::optional<int64_t> knownNumber(const Execution &Entry, const Expr *E,
                                   const Frame *F) {
  return evaluated(Entry, resolveNumber(E, F));
}

std::optional<int64_t> mostNumber(const Execution &Entry, const Expr *E,
                                  const Frame *F) {
  E = resolveNumber(E, F);
  const auto *Call = dyn_cast_or_null<CallExpr>(E);
  if (!Call || !torch::isMinimum(Call->getDirectCallee()))
    return evaluated(Entry, E);
  std::optional<int64_t> Least;
  for (unsigned I = 0; I < 2; ++I)
    if (const auto Bound = knownNumber(Entry, Call->getArg(I), F))
      Least = std::min(Least.value_or(*Bound), *Bound);
  return Least;
}

} // namespace torchtidy::model

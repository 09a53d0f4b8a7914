#include "queries/Sizes.h"
#include "ast/Expressions.h"
#include "ast/Walk.h"
#include "torch/Api.h"
#include "torch/Factories.h"
#include "torch/Types.h"
#include "clang/AST/ExprCXX.h"

using namespace clang;

namespace torchtidy::model {

/// A local variable that is only read after its declaration.
static bool keepsInitializer(const VarDecl *V) {
  const auto *Function = dyn_cast<FunctionDecl>(V->getDeclContext());
  if (!V->hasLocalStorage() || !V->getInit() || isa<ParmVarDecl>(V) ||
      !Function || !Function->getBody())
    return false;
  unsigned Mentions = 0, Reads = 0;
  ast::forEachStmt(
      Function->getBody(),
      [&](const Stmt *S) {
        const auto IsOf = [&](const Expr *E) {
          const auto *Ref = dyn_cast<DeclRefExpr>(E->IgnoreParens());
          return Ref && Ref->getDecl() == V;
        };
        if (const auto *E = dyn_cast<Expr>(S))
          Mentions += isa<DeclRefExpr>(E) && IsOf(E);
        if (const auto *Cast = dyn_cast<ImplicitCastExpr>(S))
          Reads += Cast->getCastKind() == CK_LValueToRValue &&
                   IsOf(Cast->getSubExpr());
      },
      ast::Lambdas::Enter);
  return Mentions == Reads;
}

/// What E stands for: the argument of a known caller, or the initializer of a
/// variable that keeps it.
static const Expr *resolve(const Expr *E, const Frame *&F) {
  E = ast::strip(E);
  for (unsigned Steps = 0; Steps < 8; ++Steps) {
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

std::optional<uint64_t> knownElements(const Execution &Entry,
                                      const AllocateEvent &Allocate) {
  const auto *Call = dyn_cast<CallExpr>(Allocate.Site);
  const torch::Operation *Factory = Call ? torch::classify(Call).Op : nullptr;
  if (!Factory)
    return std::nullopt;
  const llvm::SmallVector<const Expr *, 4> Arguments = ast::argumentsOf(Call);
  const std::optional<unsigned> Shape =
      torch::shapeArgument(*Factory, Arguments);
  if (!Shape || *Shape >= Arguments.size() ||
      torch::isTensor(Arguments[*Shape]->getType()))
    return std::nullopt;
  const ASTContext &Context = Entry.code().context();
  constexpr uint64_t Most = uint64_t(1) << 40;
  uint64_t Elements = 1;
  bool Found = false;
  llvm::SmallVector<std::pair<const Stmt *, const Frame *>, 8> Work = {
      {Arguments[*Shape], Allocate.In}};
  while (!Work.empty()) {
    auto [S, In] = Work.pop_back_val();
    const auto *E = dyn_cast_or_null<Expr>(S);
    if (!E)
      continue;
    E = resolve(E, In);
    if (E->getType()->isIntegralOrEnumerationType()) {
      Expr::EvalResult Evaluated;
      if (E->isValueDependent() || !E->EvaluateAsInt(Evaluated, Context))
        return std::nullopt;
      Found = true;
      const llvm::APSInt &Number = Evaluated.Val.getInt();
      if (Number.isNegative())
        return std::nullopt;
      Elements = std::min(Elements * Number.getLimitedValue(Most), Most);
      continue;
    }
    if (isa<DeclRefExpr, MemberExpr, CallExpr>(E))
      return std::nullopt;
    // zeros({}): one element.
    if (const auto *List = dyn_cast<InitListExpr>(E))
      Found |= List->getNumInits() == 0;
    if (const auto *Construct = dyn_cast<CXXConstructExpr>(E))
      Found |= Construct->getNumArgs() == 0;
    for (const Stmt *Child : E->children())
      Work.push_back({Child, In});
  }
  if (!Found)
    return std::nullopt;
  return torch::isSquare(*Factory) ? std::min(Elements * Elements, Most)
                                   : Elements;
}

} // namespace torchtidy::model

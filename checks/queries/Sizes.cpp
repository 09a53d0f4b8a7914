#include "queries/Sizes.h"
#include "ast/Expressions.h"
#include "queries/Numbers.h"
#include "torch/Api.h"
#include "torch/Factories.h"
#include "torch/Types.h"
#include "clang/AST/ExprCXX.h"

using namespace clang;

namespace torchtidy::model {

/// What says the shape; null where nothing does.
static const Expr *shapeOf(const AllocateEvent &Allocate) {
  const auto *Call = dyn_cast<CallExpr>(Allocate.Site);
  const torch::Operation *Factory = Call ? torch::classify(Call).Op : nullptr;
  if (!Factory)
    return nullptr;
  const llvm::SmallVector<const Expr *, 4> Arguments = ast::argumentsOf(Call);
  const std::optional<unsigned> Shape =
      torch::shapeArgument(*Factory, Arguments);
  return Shape && *Shape < Arguments.size() &&
                 !torch::isTensor(Arguments[*Shape]->getType())
             ? Arguments[*Shape]
             : nullptr;
}

std::optional<unsigned> knownRank(const AllocateEvent &Allocate) {
  const Expr *Shape = shapeOf(Allocate);
  const auto Listed = Shape ? ast::listed(Shape) : std::nullopt;
  return Listed ? std::optional<unsigned>(Listed->size()) : std::nullopt;
}

/// Of {1, {2, 3}}: three. Nothing where a container, or a list of them, is in
/// it.
static std::optional<uint64_t> listedElements(const Expr *Content) {
  uint64_t Elements = 0;
  llvm::SmallVector<const Expr *, 16> Work = {Content};
  while (!Work.empty()) {
    const Expr *E = ast::strip(Work.pop_back_val());
    if (E->getType()->isArithmeticType())
      ++Elements;
    else if (const auto *List = dyn_cast<InitListExpr>(E))
      Work.append(List->inits().begin(), List->inits().end());
    else if (const auto *Array = dyn_cast<CXXStdInitializerListExpr>(E))
      Work.push_back(Array->getSubExpr());
    else if (const auto *Made = dyn_cast<CXXConstructExpr>(E);
             Made && Made->getNumArgs() > 0)
      Work.push_back(Made->getArg(0));
    else
      return std::nullopt;
  }
  return Elements;
}

bool isKnownBelow(const Execution &Entry, const Value &V, uint64_t Elements) {
  bool Found = false;
  for (const AllocateEvent &Allocate : Entry.events<AllocateEvent>())
    if (V.uses(Allocate.Memory)) {
      const std::optional<uint64_t> Known = knownElements(Entry, Allocate);
      if (!Known || *Known >= Elements)
        return false;
      Found = true;
    }
  return Found;
}

std::optional<uint64_t> knownElements(const Execution &Entry,
                                      const AllocateEvent &Allocate) {
  const auto *Call = dyn_cast<CallExpr>(Allocate.Site);
  const torch::Operation *Factory = Call ? torch::classify(Call).Op : nullptr;
  if (Factory && torch::listsContent(*Factory) && Call->getNumArgs() > 0)
    return listedElements(Call->getArg(0));
  const Expr *Shape = shapeOf(Allocate);
  if (!Shape)
    return std::nullopt;
  const ASTContext &Context = Entry.code().context();
  constexpr uint64_t Most = uint64_t(1) << 40;
  uint64_t Elements = 1;
  bool Found = false;
  llvm::SmallVector<std::pair<const Stmt *, const Frame *>, 8> Work = {
      {Shape, Allocate.In}};
  while (!Work.empty()) {
    auto [S, In] = Work.pop_back_val();
    const auto *E = dyn_cast_or_null<Expr>(S);
    if (!E)
      continue;
    E = resolveNumber(E, In);
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

#include "queries/memory/Sizes.h"
#include "ast/Expressions.h"
#include "queries/memory/Numbers.h"
#include "torch/Api.h"
#include "torch/Factories.h"
#include "torch/Types.h"
#include "clang/AST/ExprCXX.h"

using namespace clang;

namespace torchtidy::model {

/// What says the shape; null where nothing does.
static const Expr *shapeOf(const CallExpr *Call) {
  const torch::Operation *Factory = Call ? torch::classify(Call).Op : nullptr;
  if (!Factory || !(Factory->has(torch::operation::Factory) ||
                    Factory->has(torch::operation::LikeFactory)))
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
  const Expr *Shape = shapeOf(dyn_cast<CallExpr>(Allocate.Site));
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

std::optional<std::vector<WrittenSize>> writtenSizes(const CallExpr *Factory,
                                                     const Frame *In) {
  const Expr *Shape = shapeOf(Factory);
  if (!Shape)
    return std::nullopt;
  std::vector<WrittenSize> Result;
  bool Found = false;
  llvm::SmallVector<std::pair<const Stmt *, const Frame *>, 8> Work = {
      {Shape, In}};
  while (!Work.empty()) {
    auto [S, At] = Work.pop_back_val();
    const auto *E = dyn_cast_or_null<Expr>(S);
    if (!E)
      continue;
    E = ast::strip(E);
    if (E->getType()->isIntegralOrEnumerationType()) {
      Result.push_back({E, At});
      continue;
    }
    E = resolveNumber(E, At);
    if (isa<DeclRefExpr, MemberExpr, CallExpr>(E))
      return std::nullopt;
    // zeros({}): one element.
    if (const auto *List = dyn_cast<InitListExpr>(E))
      Found |= List->getNumInits() == 0;
    if (const auto *Construct = dyn_cast<CXXConstructExpr>(E))
      Found |= Construct->getNumArgs() == 0;
    for (const Stmt *Child : E->children())
      Work.push_back({Child, At});
  }
  if (Result.empty() && !Found)
    return std::nullopt;
  if (!Result.empty() && torch::isSquare(*torch::classify(Factory).Op))
    Result.push_back(Result.front());
  return Result;
}

std::optional<uint64_t> knownElements(const Execution &Entry,
                                      const AllocateEvent &Allocate) {
  const auto *Call = dyn_cast<CallExpr>(Allocate.Site);
  const torch::Operation *Factory = Call ? torch::classify(Call).Op : nullptr;
  if (Factory && torch::listsContent(*Factory) && Call->getNumArgs() > 0)
    return listedElements(Call->getArg(0));
  const auto Sizes = writtenSizes(Call, Allocate.In);
  if (!Sizes)
    return std::nullopt;
  constexpr uint64_t Most = uint64_t(1) << 40;
  uint64_t Elements = 1;
  bool IsKnown = true;
  for (const WrittenSize &Size : *Sizes) {
    const auto Number = knownNumber(Entry, Size.Number, Size.In);
    // {n, 0}: none, however many rows there are.
    if (Number && *Number == 0)
      return 0;
    IsKnown = IsKnown && Number && *Number > 0;
    if (IsKnown)
      Elements = std::min(Elements * std::min<uint64_t>(*Number, Most), Most);
  }
  return IsKnown ? std::optional(Elements) : std::nullopt;
}

/// A row has fewer numbers beside the one that is not known.
static constexpr int64_t Few = 64;

bool isRowOfUnknownLength(const Execution &Entry,
                          const AllocateEvent &Allocate) {
  const auto *Call = dyn_cast_or_null<CallExpr>(Allocate.Site);
  const auto Sizes = Call ? writtenSizes(Call, Allocate.In) : std::nullopt;
  int64_t Known = 1;
  unsigned Unknown = 0;
  for (const WrittenSize &Size : Sizes.value_or(std::vector<WrittenSize>()))
    if (const auto Number = knownNumber(Entry, Size.Number, Size.In))
      Known = std::min(Known * std::clamp<int64_t>(*Number, 0, Few), Few);
    else
      ++Unknown;
  return Unknown == 1 && Known < Few;
}

bool isRowOfUnknownLength(const Value &V) {
  if (!V.InShape.rank())
    return false;
  const Sizes &All = V.InShape.first();
  int64_t Known = 1;
  unsigned Unknown = 0;
  for (unsigned I = 0; I < All.count(); ++I)
    if (All[I] == Sizes::Any)
      ++Unknown;
    else
      Known = std::min<int64_t>(Known * std::min<int64_t>(All[I], Few), Few);
  return Unknown == 1 && Known < Few;
}

} // namespace torchtidy::model

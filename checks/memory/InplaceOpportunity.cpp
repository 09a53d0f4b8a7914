#include "memory/InplaceOpportunity.h"
#include "ast/Expressions.h"
#include "queries/loops/Loops.h"
#include "queries/memory/Sizes.h"
#include "queries/paths/Calls.h"
#include "torch/Api.h"
#include "torch/Arithmetic.h"
#include "torch/Shapes.h"
#include "llvm/ADT/DenseSet.h"

using namespace clang;

namespace torchtidy::model {

/// The operation in place takes the operand as it is.
static bool takesType(const ChainEvent &Link) {
  const torch::Operation &Op = *torch::classify(cast<CallExpr>(Link.Site)).Op;
  // lt_() keeps the type of what it compares, and lt() does not.
  if (torch::returnsBool(Op) || !torch::inPlaceOf(Op))
    return false;
  if (Link.OfOperand.OfType.get() == DType::Floating ||
      torch::makesFloating(Link.Operand))
    return true;
  const auto *Made = cast<CallExpr>(ast::strip(Link.Operand));
  const torch::Operation *Before = torch::classify(Made).Op;
  return torch::keepsAnyType(Op) && Before && !torch::returnsBool(*Before);
}

/// A sum over a dimension, or what is made of one element by element: smaller
/// than what was there before, which the peak comes from.
static bool isReduced(const Expr *E) {
  for (unsigned Hop = 0; E && Hop < 16; ++Hop) {
    // What a variable is declared with, whatever it has become: a hint.
    const auto *Ref = dyn_cast<DeclRefExpr>(ast::strip(E));
    const auto *V = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
    const auto *Call = dyn_cast<CallExpr>(
        V && V->getInit() ? ast::stripCopies(V->getInit()) : ast::strip(E));
    const torch::Operation *Op = Call ? torch::classify(Call).Op : nullptr;
    if (!Op)
      return false;
    if (torch::reduces(*Op))
      return true;
    if (!torch::isPointwise(*Op) && !torch::isElementwise(*Op))
      return false;
    const auto Arguments = ast::argumentsOf(Call);
    E = ast::objectOf(Call);
    if (!E && !Arguments.empty())
      E = Arguments.front();
  }
  return false;
}

/// No graph is behind it, for certain.
static bool isUnrecorded(const Value &V) { return V.History == history::None; }

static bool isSmall(const Value &V) {
  const std::optional<uint64_t> Elements = V.InShape.elements();
  return Elements && *Elements < FewestForMemory;
}

namespace {

class Chains {
public:
  explicit Chains(Program &Program) {
    for (const auto &Entry : Program.executions())
      for (const ChainEvent &Link : Entry->events<ChainEvent>())
        if (!isUnrecorded(Link.OfOperand) || !isUnrecorded(Link.Result))
          Recorded.insert(Link.Site);
  }

  bool mayLink(const ChainEvent &Link) const {
    return !Recorded.count(Link.Site) && !isSmall(Link.Result) &&
           torch::isOfOneTensor(cast<CallExpr>(Link.Site)) && takesType(Link) &&
           !isReduced(Link.Operand);
  }

private:
  /// Somewhere a graph goes through them, which may need what they have made.
  llvm::DenseSet<const Expr *> Recorded;
};

} // namespace

/// The iteration that makes it has a loop of its own: what is made once beside
/// all the steps of that one costs next to nothing.
static bool isBesideLoop(const Execution &Entry, const ChainEvent &Link,
                         const flow::Loop &Innermost) {
  return llvm::any_of(Entry.loops().loops(), [&](const flow::Loop &Other) {
    return &Other != &Innermost && Innermost.contains(Other.Header) &&
           !Other.contains(Link.Point);
  });
}

/// It is made once, or is small beside what is computed in the same iteration:
/// a column for a batch that goes through a network.
static bool isNoMatter(const Execution &Entry, const ChainEvent &Link,
                       llvm::ArrayRef<const flow::Loop *> Around) {
  return isBesideLoop(Entry, Link, *Around.front()) ||
         isPreparation(Entry, Link.Point) || makesFirstValues(Link.In) ||
         (isRowOfUnknownLength(Link.Result) &&
          runsNetwork(Entry, *Around.back()));
}

static void collect(const Execution &Entry, const Chains &All,
                    std::vector<InplaceOpportunity> &Result) {
  llvm::DenseMap<std::pair<const Frame *, const Expr *>, const ChainEvent *>
      Links;
  llvm::DenseSet<const ChainEvent *> Inner;
  for (const ChainEvent &Link : Entry.events<ChainEvent>())
    if (All.mayLink(Link))
      Links[{Link.In, Link.Site}] = &Link;
  const auto Before = [&](const ChainEvent *Link) {
    return Links.lookup({Link->In, ast::strip(Link->Operand)});
  };
  for (const auto &[Key, Link] : Links)
    if (const ChainEvent *Operand = Before(Link))
      Inner.insert(Operand);
  for (const ChainEvent &Link : Entry.events<ChainEvent>()) {
    const auto Around = Entry.loopsAround(Link.Point);
    if (Around.empty() || Inner.count(&Link) ||
        Links.lookup({Link.In, Link.Site}) != &Link ||
        isNoMatter(Entry, Link, Around))
      continue;
    InplaceOpportunity Found;
    Found.Entry = &Entry;
    Found.Last = &Link;
    Found.Around = Around.back();
    for (const ChainEvent *Each = &Link; Each; Each = Before(Each))
      Found.Links.insert(Found.Links.begin(), Each);
    Result.push_back(std::move(Found));
  }
}

std::vector<InplaceOpportunity> inplaceOpportunities(Program &Program) {
  std::vector<InplaceOpportunity> Result;
  const Chains All(Program);
  for (const Execution *Entry : Program.executionsThatCost())
    collect(*Entry, All, Result);
  return Result;
}

} // namespace torchtidy::model

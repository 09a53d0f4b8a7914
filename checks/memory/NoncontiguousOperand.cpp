#include "memory/NoncontiguousOperand.h"
#include "ast/Expressions.h"
#include "queries/loops/LoopInvariance.h"
#include "queries/loops/Loops.h"
#include "queries/memory/Sizes.h"
#include "queries/paths/Uses.h"
#include "torch/Api.h"
#include "torch/Shapes.h"
#include "torch/Types.h"
#include "torch/Views.h"

using namespace clang;

namespace torchtidy::model {

namespace {

/// Whether what is done with a tensor is as good in any order of its elements.
class AnyOrder {
public:
  explicit AnyOrder(const flow::ControlFlow &Flow) : Flow(Flow) {}

  /// All that takes what Made returns, and what takes that in turn.
  bool suits(const Expr *Made, unsigned Depth = 0) const {
    const auto Uses = Depth < 8 ? usesOf(Flow, Made) : std::nullopt;
    if (!Uses)
      return false;
    bool Computes = false;
    for (const Use &Each : *Uses) {
      if (asksForShape(Each))
        continue;
      if (!suits(Each, Depth))
        return false;
      Computes = true;
    }
    return Computes;
  }

private:
  bool suits(const Use &U, unsigned Depth) const {
    const torch::Call Kind = torch::classify(U.Call);
    if (Kind.Kind != torch::Api::Operation ||
        Kind.Op->Writes != torch::operation::NoArgument)
      return false;
    if (torch::reduces(*Kind.Op))
      return llvm::all_of(ast::argumentsOf(U.Call), [&](const Expr *Argument) {
        return isa<CXXDefaultArgExpr>(Argument) ||
               ast::strip(Argument) == U.Operand;
      });
    return (torch::isPointwise(*Kind.Op) || torch::broadcasts(*Kind.Op)) &&
           isAlone(U) && suits(U.Call, Depth + 1);
  }

  /// No other tensor takes part, whose layout may be another.
  static bool isAlone(const Use &U) {
    const Expr *Object = ast::objectOf(U.Call);
    const auto IsOther = [&](const Expr *E) {
      return !isa<CXXDefaultArgExpr>(E) && ast::strip(E) != U.Operand &&
             torch::mayHoldTensor(E->getType());
    };
    return !(Object && IsOther(Object)) &&
           !llvm::any_of(ast::argumentsOf(U.Call), IsOther);
  }

  const flow::ControlFlow &Flow;
};

class LayoutQuery {
public:
  LayoutQuery(const Execution &Entry, Invariance &Same)
      : Entry(Entry), Same(Same) {}

  std::optional<NoncontiguousOperand> run(const RearrangeEvent &Copy) {
    const auto *Call = dyn_cast<CXXMemberCallExpr>(Copy.Site);
    const torch::Operation *Op = Call ? torch::classify(Call).Op : nullptr;
    if (!Op || !torch::makesContiguous(*Op) || !Copy.In->Flow ||
        !isTurned(Copy.Input) || isSmall(Copy.Input) ||
        !llvm::all_of(Call->arguments(), llvm::IsaPred<CXXDefaultArgExpr>))
      return std::nullopt;
    NoncontiguousOperand Result;
    Result.Entry = &Entry;
    Result.At = &Copy;
    Result.Operand = Call->getImplicitObjectArgument();
    if (AnyOrder(*Copy.In->Flow).suits(Call))
      return Result;
    if (!isSameAgain(Result, Copy.Source, Copy.Input))
      return std::nullopt;
    Result.How = NoncontiguousOperand::Again;
    Result.Variable = declaredWith(*Copy.In->Flow, Call);
    Result.CanMove =
        Result.Variable &&
        canMoveBefore(Result.Variable->getInit(),
                      Entry.loopStatement(*Result.Around), Copy.In);
    return Result;
  }

  std::optional<NoncontiguousOperand> run(const MixEvent &Mix) {
    NoncontiguousOperand Result;
    Result.Entry = &Entry;
    Result.At = &Mix;
    Result.How = NoncontiguousOperand::Mixed;
    Result.Operand = comesAgain(Mix);
    if (!Result.Operand || isSmall(Mix.OfOperand) ||
        !isSameAgain(Result, Mix.Source, Mix.OfOperand))
      return std::nullopt;
    return Result;
  }

private:
  static bool isTurned(const Value &V) {
    return V.InLayout.get() == Layout::Strided ||
           V.InLayout.get() == Layout::Reordered;
  }

  /// What the operand is, or is a range of that begins or ends at the same
  /// place in every iteration: x of x.slice(1, 0, n). Null for a range that
  /// goes on through x, which each iteration has another part of: one copy of
  /// all would save nothing.
  const Expr *comesAgain(const MixEvent &Mix) {
    const auto Around = Entry.loopsAround(Mix.Point);
    const Expr *E = Mix.Operand;
    if (Around.empty())
      return nullptr;
    const auto Stays = [&](const Expr *Bound) {
      return !Bound || Same.isInvariant(Bound, Mix.In, *Around.back());
    };
    for (unsigned Hop = 0; Hop < 8; ++Hop) {
      const auto *Call = dyn_cast<CallExpr>(ast::stripCopies(E));
      const auto Range = Call ? torch::rangeOf(Call) : std::nullopt;
      if (!Range || !ast::objectOf(Call))
        break;
      if (!Stays(Range->First) && (Range->IsLength || !Stays(Range->Second)))
        return nullptr;
      E = ast::objectOf(Call);
    }
    return E;
  }

  bool isSmall(const Value &V) const {
    const std::optional<uint64_t> Elements = V.InShape.elements();
    return (Elements && *Elements < SmallElements) || isKnownSmall(Entry, V);
  }

  /// The operand is the same tensor, with the same content, in every iteration
  /// of the innermost loop around.
  bool isSameAgain(NoncontiguousOperand &Found, const PlaceSet &Source,
                   const Value &V) {
    const Event &At = *Found.At;
    const auto Around = Entry.loopsAround(At.Point);
    if (Around.empty())
      return false;
    const flow::Loop &L = *Around.back();
    Found.Around = &L;
    return !isOuterLoop(Entry, L) &&
           isUnconditional(Entry, At.Site, At.In, L) && !V.needsGrad() &&
           Same.hasSameContent(Found.Operand, At.In, L) &&
           !isWritten(Entry, Source, V, L);
  }

  const Execution &Entry;
  Invariance &Same;
};

} // namespace

std::vector<NoncontiguousOperand> noncontiguousOperands(Program &Program) {
  std::vector<NoncontiguousOperand> Result;
  const auto Add = [&](std::optional<NoncontiguousOperand> Found) {
    if (Found)
      Result.push_back(*Found);
  };
  for (const Execution *Entry : Program.executionsThatCost()) {
    Invariance Same(*Entry);
    LayoutQuery Query(*Entry, Same);
    for (const RearrangeEvent &Copy : Entry->events<RearrangeEvent>())
      Add(Query.run(Copy));
    for (const MixEvent &Mix : Entry->events<MixEvent>())
      Add(Query.run(Mix));
  }
  return Result;
}

} // namespace torchtidy::model

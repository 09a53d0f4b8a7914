#include "memory/RepeatForBroadcast.h"
#include "ast/Expressions.h"
#include "flow/PathQuery.h"
#include "queries/memory/Numbers.h"
#include "queries/memory/Sizes.h"
#include "queries/modes/Deciders.h"
#include "queries/paths/Uses.h"
#include "torch/Api.h"
#include "torch/Shapes.h"
#include "torch/Types.h"

using namespace clang;

namespace torchtidy::model {

namespace {

/// Which dimensions a call repeats, and what expand() would be given instead.
class Stretch {
public:
  Stretch(const Execution &Entry, const RearrangeEvent &Event,
          const CXXMemberCallExpr *Call)
      : Entry(Entry), In(Event.In), Of(Event.Input.InShape), Call(Call) {}

  /// Only dimensions of size one, or new ones.
  bool isBroadcast() {
    const torch::Operation *Op = torch::classify(Call).Op;
    return torch::takesTimesAndDimension(*Op) ? ofOneDimension() : ofList(*Op);
  }
  /// Null: -1. Empty: not certain.
  llvm::SmallVector<const Expr *, 4> expanded() const {
    return IsCertain ? Expanded : llvm::SmallVector<const Expr *, 4>();
  }
  /// The result has fewer elements than count.
  bool isSmall() const {
    const std::optional<uint64_t> Elements = Of.elements();
    return Elements && Times && *Elements * *Times < SmallElements;
  }

private:
  bool isOne(const Expr *E) const { return knownNumber(Entry, E, In) == 1; }

  void count(const Expr *E) {
    const std::optional<int64_t> Known = knownNumber(Entry, E, In);
    Times = Times && Known && *Known >= 0
                ? std::optional<uint64_t>(*Times * uint64_t(*Known))
                : std::nullopt;
  }

  /// repeat_interleave(n, dim)
  bool ofOneDimension() {
    if (Call->getNumArgs() < 2)
      return false;
    const Expr *Number = ast::stripCopies(Call->getArg(0));
    const std::optional<int64_t> Named =
        knownNumber(Entry, ast::stripCopies(Call->getArg(1)), In);
    if (!Number->getType()->isIntegerType() || !Named || isOne(Number))
      return false;
    count(Number);
    const int32_t Size =
        *Named < 0 ? Of.last()[unsigned(-1 - *Named)] : Of.first()[*Named];
    if (Size != 1)
      return false;
    IsCertain = Of.rank().has_value();
    Expanded.assign(Of.rank().value_or(0), nullptr);
    if (IsCertain)
      Expanded[*Named < 0 ? *Named + *Of.rank() : *Named] = Number;
    return true;
  }

  bool ofList(const torch::Operation &Op) {
    const auto List =
        Call->getNumArgs() == 1 ? ast::listed(Call->getArg(0)) : std::nullopt;
    // tile() takes fewer numbers than there are dimensions, too.
    const bool IsShort = List && Of.rank().value_or(0) > List->size();
    if (!List || List->empty() || List->size() > Sizes::Most || IsShort ||
        (!Of.rank() && !torch::repeatsEachDimension(Op)))
      return false;
    bool Repeats = false;
    for (unsigned I = 0; I < List->size(); ++I) {
      const Expr *Each = (*List)[I];
      count(Each);
      if (isOne(Each)) {
        keep(I, *List);
        continue;
      }
      Repeats = true;
      Expanded.push_back(Each);
      if (!isStretched(I, *List))
        return false;
    }
    return Repeats;
  }

  /// A dimension that is there stays as it is: -1. One that is new has size 1.
  void keep(unsigned I, llvm::ArrayRef<const Expr *> List) {
    const unsigned Behind = List.size() - I;
    const bool IsThere = Of.rank().value_or(Of.leastRank()) >= Behind;
    // x.unsqueeze(0).repeat({n, 1, 1}): the list goes through the dimensions.
    const bool IsListed =
        !Of.rank() && Of.first()[0] == 1 && I > 0 && !isOne(List.front());
    Expanded.push_back(IsThere || IsListed ? nullptr : List[I]);
    IsCertain &= IsThere || IsListed || Of.rank().has_value();
  }

  /// The number at I meets a new dimension, or one of size one.
  bool isStretched(unsigned I, llvm::ArrayRef<const Expr *> List) {
    const unsigned N = List.size();
    const auto IsOneOf = [&](unsigned Rank) {
      return I + Rank < N || Of.first()[I + Rank - N] == 1 ||
             Of.last()[N - 1 - I] == 1;
    };
    if (Of.rank())
      return IsOneOf(*Of.rank());
    if (!IsOneOf(N))
      return false;
    for (unsigned Rank = std::max(Of.leastRank(), 1u); Rank < N; ++Rank)
      if (!IsOneOf(Rank)) {
        // Who begins with a 1 counts the dimensions that are there.
        IsCertain = false;
        return isOne(List.front());
      }
    return true;
  }

  const Execution &Entry;
  const Frame *In;
  const Shape &Of;
  const CXXMemberCallExpr *Call;
  llvm::SmallVector<const Expr *, 4> Expanded;
  std::optional<uint64_t> Times = 1;
  bool IsCertain = true;
};

class RepeatQuery {
public:
  RepeatQuery(const Execution &Entry, const RearrangeEvent &Event)
      : Entry(Entry), Event(Event) {}

  std::optional<RepeatForBroadcast> run() {
    const auto *Call = dyn_cast<CXXMemberCallExpr>(Event.Site);
    const flow::ControlFlow *Flow = Event.In->Flow;
    const torch::Operation *Op = Call ? torch::classify(Call).Op : nullptr;
    if (!Flow || !Op || !torch::repeats(*Op))
      return std::nullopt;
    Stretch Along(Entry, Event, Call);
    if (!Along.isBroadcast() || Along.isSmall())
      return std::nullopt;
    RepeatForBroadcast Result;
    Result.Entry = &Entry;
    Result.Event = &Event;
    Result.Call = Call;
    Result.Expanded = Along.expanded();
    const auto Uses = usesOf(*Flow, Call);
    if (!Uses)
      return std::nullopt;
    for (const Use &Each : *Uses) {
      if (asksForShape(Each))
        continue;
      if (!isBroadcasting(Each))
        return std::nullopt;
      if (!Result.User)
        Result.User = Each.Call;
    }
    if (!Result.User ||
        (isGoneAtOnce() ? changesBefore(Result.User) : mayChange()))
      return std::nullopt;
    return Result;
  }

private:
  bool isBroadcasting(const Use &U) const {
    const torch::Call Kind = torch::classify(U.Call);
    if (Kind.Kind != torch::Api::Operation || !torch::broadcasts(*Kind.Op))
      return false;
    if (Kind.Op->Writes == torch::operation::NoArgument)
      return true;
    const bool IsTarget =
        U.IsObject ||
        (!ast::objectOf(U.Call) && ast::strip(U.Call->getArg(0)) == U.Operand);
    return Kind.Op->Writes == torch::operation::Self && !IsTarget;
  }

  /// No variable has what is repeated, and no graph may have saved it: it ends
  /// with the statement.
  bool isGoneAtOnce() const {
    const auto *Call = cast<Expr>(Event.Site);
    return !declaredWith(*Event.In->Flow, Call) &&
           !(Event.GradMode & (mode::On | mode::Inherited));
  }

  /// The tensor is written, or may be, in the statement that repeats it: by
  /// what uses the copy, or by other parts, but not by what is given the result
  /// of that.
  bool changesBefore(const Expr *User) const {
    const flow::ControlFlow &Flow = *Event.In->Flow;
    const Stmt *Statement = Flow.statement(Event.Site);
    return !Statement ||
           llvm::any_of(Entry.events(), [&](const model::Event &E) {
             const Stmt *S = writes(E) ? statementIn(Event.In, E) : nullptr;
             return S && Flow.isInside(S, Statement) &&
                    (S == User || !Flow.isInside(User, S));
           });
  }

  /// The tensor is written, or may be, before it is repeated again: an expanded
  /// one would show that.
  bool mayChange() const {
    return flow::mayReach(
               Entry.points(), Event.Point,
               [&](flow::Digraph::Node N) {
                 const model::Event *E = Entry.eventAt(N);
                 return E && writes(*E);
               },
               [&](flow::Digraph::Node N) { return N == Event.Point; })
        .has_value();
  }

  bool writes(const model::Event &E) const {
    if (const auto *Write = E.getAs<WriteEvent>())
      return concerns(Write->Places) || shares(Write->Before);
    if (const auto *Escape = E.getAs<EscapeEvent>())
      return concerns(Escape->Places) || shares(Escape->Given);
    return E.getAs<StepEvent>() &&
           ((Event.Input.History | Event.Input.BaseHistory) & history::Leaf);
  }

  bool concerns(const PlaceSet &Places) const {
    return Entry.mayAlias(Places, Event.Source) ||
           Entry.mayAlias(Places, Event.Input.ViewOf);
  }

  bool shares(const Value &Other) const {
    return llvm::any_of(Event.Input.Memory,
                        [&](AllocationId Id) { return Other.uses(Id); });
  }

  const Execution &Entry;
  const RearrangeEvent &Event;
};

} // namespace

std::vector<RepeatForBroadcast> repeatsForBroadcast(Program &Program) {
  std::vector<RepeatForBroadcast> Result;
  for (const Execution *Entry : Program.executionsThatCost())
    for (const RearrangeEvent &Event : Entry->events<RearrangeEvent>())
      if (auto Found = RepeatQuery(*Entry, Event).run())
        Result.push_back(std::move(*Found));
  return Result;
}

} // namespace torchtidy::model

#include "queries/OutlivedLoans.h"
#include "flow/PathQuery.h"
#include "torch/Api.h"

using namespace clang;

namespace torchtidy::model {

bool isBlob(const Loan &Taken) {
  const auto *Call = dyn_cast<CallExpr>(Taken.Site);
  const torch::Call Kind = Call ? torch::classify(Call) : torch::Call();
  return Kind.Op && torch::isFromBlob(*Kind.Op);
}

namespace {

class LoanQuery {
public:
  LoanQuery(const Execution &Entry, LoanId Id) : Entry(Entry), Id(Id) {}

  std::optional<OutlivedLoan> run() const {
    OutlivedLoan Result;
    Result.Entry = &Entry;
    Result.Taken = &Entry.loan(Id);
    // After a reallocation the holder may be given the new memory before its
    // next use, so that only an end for good counts here.
    if (const HoldEvent *Hold = first<HoldEvent>())
      if (const EndEvent *End = endForGood()) {
        Result.End = End;
        Result.Hold = Hold;
        return Result;
      }
    if (const TouchEvent *Touch = first<TouchEvent>())
      if (const EndEvent *End = endBefore(*Touch)) {
        Result.End = End;
        Result.Touch = Touch;
        return Result;
      }
    return std::nullopt;
  }

private:
  template <class EventT> const EventT *first() const {
    for (const EventT &E : Entry.events<EventT>())
      if (llvm::is_contained(E.Dangling, Id))
        return &E;
    return nullptr;
  }

  const EndEvent *endForGood() const {
    for (const EndEvent &End : Entry.events<EndEvent>())
      if (llvm::is_contained(End.Loans, Id) && End.How != EndKind::Reallocation)
        return &End;
    return nullptr;
  }

  const EndEvent *endBefore(const TouchEvent &Touch) const {
    const auto IsTouch = [&](flow::Digraph::Node N) {
      return N == Touch.Point;
    };
    const auto Nothing = [](flow::Digraph::Node) { return false; };
    for (const EndEvent &End : Entry.events<EndEvent>())
      if (llvm::is_contained(End.Loans, Id) &&
          flow::mayReach(Entry.points(), End.Point, IsTouch, Nothing))
        return &End;
    return nullptr;
  }

  const Execution &Entry;
  LoanId Id;
};

} // namespace

std::vector<OutlivedLoan>
outlivedLoans(Program &Program, llvm::function_ref<bool(const Loan &)> Wanted) {
  std::vector<OutlivedLoan> Result;
  for (const auto &Entry : Program.executions())
    for (LoanId Id : Entry->loans())
      if (Wanted(Entry->loan(Id)))
        if (std::optional<OutlivedLoan> Found = LoanQuery(*Entry, Id).run())
          Result.push_back(*Found);
  return Result;
}

} // namespace torchtidy::model

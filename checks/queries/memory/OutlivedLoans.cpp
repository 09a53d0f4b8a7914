#include "queries/memory/OutlivedLoans.h"
#include "flow/PathQuery.h"
#include "torch/Api.h"

using namespace clang;

namespace torchtidy::model {

bool isReturned(const OutlivedLoan &Found) {
  const PlaceTable &Places = Found.Entry->places();
  const RootKey Key = Places.key(Places.rootOf(Found.Hold->Holder));
  return llvm::dyn_cast_if_present<const FunctionDecl *>(Key) ==
         Found.Hold->In->Function;
}

const VarDecl *ownerVariable(const OutlivedLoan &Found) {
  const PlaceTable &Places = Found.Entry->places();
  const PlaceId RootPlace = Places.rootOf(Found.Taken->Owner);
  const Root Kind = Places.rootKind(RootPlace);
  return (Kind == Root::Local &&
          Places.frame(RootPlace) == Found.End->In->Id) ||
                 Kind == Root::Global
             ? Places.variable(RootPlace)
             : nullptr;
}

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
    if (isHeld(Result, /*IsOfEntry=*/true) || isRead(Result) ||
        isHeld(Result, /*IsOfEntry=*/false))
      return Result;
    return std::nullopt;
  }

private:
  /// When the entry is over, or a function that it has called: there, whoever
  /// reads it says more.
  bool isHeld(OutlivedLoan &Result, bool IsOfEntry) const {
    for (const HoldEvent &Hold : Entry.events<HoldEvent>()) {
      if (!llvm::is_contained(Hold.Dangling, Id) ||
          (Hold.In->Caller == nullptr) != IsOfEntry)
        continue;
      // After a reallocation the holder may be given the new memory before its
      // next use, so that only an end for good counts here.
      Result.End = endForGood();
      Result.Hold = Result.End ? &Hold : nullptr;
      return Result.End;
    }
    return false;
  }

  bool isRead(OutlivedLoan &Result) const {
    for (const TouchEvent &Touch : Entry.events<TouchEvent>()) {
      if (!llvm::is_contained(Touch.Dangling, Id))
        continue;
      Result.End = endBefore(Touch);
      Result.Touch = Result.End ? &Touch : nullptr;
      return Result.End;
    }
    return false;
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

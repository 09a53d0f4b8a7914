#include "model/Lifetime.h"
#include "torch/Api.h"

using namespace clang;

namespace torchtidy::model {

static bool isBlob(const Origin &Loan) {
  const auto *Call = dyn_cast<CallExpr>(Loan.Site);
  const torch::Call Kind = Call ? torch::classify(Call) : torch::Call();
  return Kind.Op && Kind.Op->Name == "from_blob";
}

namespace {

class LoanQuery {
public:
  LoanQuery(const Execution &Way, OriginId Id) : Way(Way), Id(Id) {}

  std::optional<Outlived> run() const {
    const Origin &Loan = Way.origin(Id);
    if (Way.isGivenUp(Loan.Place))
      return std::nullopt;
    const Event *Hold = nullptr, *Touch = nullptr;
    for (const Event &E : Way.events()) {
      if (!llvm::is_contained(E.Result.Dangling, Id))
        continue;
      if (E.Kind == EventKind::Touch && !Touch)
        Touch = &E;
      if (E.Kind == EventKind::Hold && !Hold)
        Hold = &E;
    }
    // What is only written anew may be bound anew by whoever calls next.
    if (const Event *End = Hold ? endOf(nullptr) : nullptr)
      return Outlived{&Way, &Loan, End, nullptr, Hold->Places.front()};
    if (const Event *End = Touch ? endOf(Touch) : nullptr)
      return Outlived{&Way, &Loan, End, Touch, std::nullopt};
    return std::nullopt;
  }

private:
  /// How the memory ends: before Touch, or for good.
  const Event *endOf(const Event *Touch) const {
    for (const Event &E : Way.events()) {
      if (E.Kind != EventKind::End || !llvm::is_contained(E.Result.Loans, Id))
        continue;
      if (!Touch) {
        if (E.Ends != EndKind::Reallocation)
          return &E;
        continue;
      }
      const auto IsTouch = [&](flow::Digraph::Node N) {
        return N == Touch->Point;
      };
      const auto Nothing = [](flow::Digraph::Node) { return false; };
      if (flow::mayReach(Way.points(), E.Point, IsTouch, Nothing))
        return &E;
    }
    return nullptr;
  }

  const Execution &Way;
  OriginId Id;
};

} // namespace

static std::vector<Outlived> outlived(Program &Program, bool AreBlobs) {
  std::vector<Outlived> Result;
  for (const auto &Way : Program.executions())
    for (OriginId Id : Way->loans())
      if (isBlob(Way->origin(Id)) == AreBlobs)
        if (std::optional<Outlived> Found = LoanQuery(*Way, Id).run())
          Result.push_back(*Found);
  return Result;
}

std::vector<Outlived> outlivedBlobs(Program &Program) {
  return outlived(Program, true);
}

std::vector<Outlived> outlivedWindows(Program &Program) {
  return outlived(Program, false);
}

} // namespace torchtidy::model

#include "queries/Calls.h"
#include "clang/Analysis/CFG.h"

using namespace clang;

namespace torchtidy::model {

std::vector<CallAt> callsOf(const Execution &Entry) {
  std::vector<CallAt> Result;
  for (flow::Digraph::Node N = 0; N < Entry.points().size(); ++N) {
    const Segment &S = Entry.segment(N);
    if (Entry.eventAt(N) || Entry.point(N).IsEnd || S.Of != Segment::Elements ||
        !S.Block)
      continue;
    for (unsigned I = S.Begin; I < S.End; ++I)
      if (const auto Element = (*S.Block)[I].getAs<CFGStmt>())
        if (const auto *Call = dyn_cast<CallExpr>(Element->getStmt()))
          Result.push_back({Call, S.In, N});
  }
  return Result;
}

} // namespace torchtidy::model

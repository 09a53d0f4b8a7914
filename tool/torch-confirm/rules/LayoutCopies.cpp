// layout-copies: a tensor is copied to have another shape or layout: repeat(),
// contiguous().
#include "rules/Operations.h"
#include "rules/Rule.h"
#include <algorithm>

namespace torchtidy::confirm {
namespace {

bool copies(const Site &S) {
  return isOneOf(S, {"aten::repeat", "aten::tile", "aten::repeat_interleave",
                     "aten::clone", "aten::contiguous"});
}

class LayoutCopies : public Rule {
public:
  std::string evidence() const override { return "layout-copies"; }
  std::vector<std::string> needs() const override {
    return {"operations", "cpu-memory"};
  }

  Verdict judge(const Places &Where) const override {
    Verdict V;
    V.Rule = "bytes of the copies that the line makes";
    V.Iterations = Where.iterations();
    V.Unit = "bytes per iteration";
    if (Where.Statement.empty()) {
      V.Result = Outcome::NotReached;
      V.Sentence = Where.unseenText();
      return V;
    }
    const std::string During = countText(double(V.Iterations), "iteration");
    if (Where.Finding.Kind == FindingKind::LayoutsMixed) {
      V.Result = Outcome::NotMeasurable;
      V.Sentence = "layouts that meet cost time only, " + During;
      return V;
    }
    bool Copies = false;
    double Bytes = 0;
    // What it calls itself belongs to an operation: other allocations of the
    // line are other tensors.
    for (const Site *S : sitesOf(Where.Statement))
      if (copies(*S)) {
        Copies = true;
        Bytes += double(S->AllocatedBytes + S->CudaAllocatedBytes);
      }
    V.Number = Bytes / double(std::max<uint64_t>(V.Iterations, 1));
    if (!Copies || Bytes == 0) {
      V.Result = Outcome::Refuted;
      V.Sentence = "the line makes no copy, " + During;
      return V;
    }
    V.Result = Outcome::Confirmed;
    V.Sentence = "copies of " + bytesText(*V.Number) + " each time, " + During;
    V.Cost = CostKind::Copies;
    V.CostAmount = Bytes;
    V.CostText = bytesText(Bytes) + " copied in this run";
    return V;
  }
};

const RegisterRule<LayoutCopies> RegisterLayoutCopies;

} // namespace
} // namespace torchtidy::confirm

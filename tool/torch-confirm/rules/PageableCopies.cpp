// pageable-copies-per-iteration: a copy to a device that is asked not to block,
// from memory that is not pinned. The host waits for it.
#include "rules/Rule.h"
#include <algorithm>

namespace torchtidy::confirm {
namespace {

constexpr double PageableThatCount = 0.5;

class PageableCopies : public Rule {
public:
  std::string evidence() const override {
    return "pageable-copies-per-iteration";
  }
  std::vector<std::string> needs() const override { return {"copies"}; }

  Verdict judge(const Places &Where) const override {
    double Pageable = 0, Pinned = 0, Bytes = 0;
    for (const Site *S : sitesOf(Where.Statement))
      for (const CopyCount &Copy : S->Copies) {
        if (Copy.From != "cpu" || Copy.To == "cpu")
          continue;
        (Copy.Pinned ? Pinned : Pageable) += double(Copy.Count);
        Bytes += Copy.Pinned ? 0 : double(Copy.Bytes);
      }
    if (Pageable + Pinned == 0)
      return ofNone(Where);
    Verdict V;
    V.Rule = "copies of the line from memory that is not pinned";
    V.Iterations = Where.iterations();
    V.Unit = "copies per iteration";
    const double Iterations = double(std::max<uint64_t>(V.Iterations, 1));
    V.Number = Pageable / Iterations;
    const std::string During = countText(double(V.Iterations), "iteration");
    if (*V.Number < PageableThatCount) {
      V.Result = Outcome::Refuted;
      V.Sentence = numberText(Pinned) + " of " + numberText(Pageable + Pinned) +
                   " copies come from pinned memory, " + During;
      return V;
    }
    if (V.Iterations < FewestIterations) {
      V.Sentence = "too few iterations: " + numberText(double(V.Iterations));
      return V;
    }
    V.Result = Outcome::Confirmed;
    V.Sentence = "the host waits for " + numberText(*V.Number) +
                 (*V.Number == 1 ? " copy" : " copies") +
                 " from pageable memory per iteration, " +
                 bytesText(Bytes / Iterations) + " each time, " + During;
    V.Cost = CostKind::Copies;
    V.CostAmount = Pageable * 1024 + Bytes;
    V.CostText =
        bytesText(Bytes) + " copied while the host waited, in this run";
    return V;
  }

private:
  static Verdict ofNone(const Places &Where) {
    Verdict V;
    V.Iterations = Where.iterations();
    V.Unit = "copies per iteration";
    V.Rule = "needs a device";
    const std::string During = countText(double(V.Iterations), "iteration");
    if (Where.Run.CudaDevice.empty()) {
      V.Sentence =
          "nothing is copied between devices without a CUDA device, " + During;
    } else if (Where.Statement.empty()) {
      V.Result = Outcome::NotReached;
      V.Sentence = Where.unseenText();
    } else {
      V.Result = Outcome::Refuted;
      V.Rule = "no copy at the line";
      V.Sentence = "nothing of this line is copied to a device, " + During;
    }
    return V;
  }
};

const RegisterRule<PageableCopies> RegisterPageableCopies;

} // namespace
} // namespace torchtidy::confirm

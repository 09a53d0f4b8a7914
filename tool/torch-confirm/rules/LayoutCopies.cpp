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

constexpr double ShareThatCounts = 0.5;

/// What is done with the copies of a line beside reading them.
struct Uses {
  double Copies = 0, Again = 0, Written = 0, ByAddress = 0, Viewed = 0,
         NotStretched = 0;

  explicit Uses(const Places &Where) {
    for (const Site *S : sitesOf(Where.Statement))
      if (copies(*S)) {
        // Each hit that takes memory makes one.
        Copies +=
            double(std::min(S->Hits, S->Allocations + S->CudaAllocations));
        Again += double(S->CopiedAgain);
        Written += double(S->WritesInto);
        ByAddress += double(S->ElementsAsked);
        Viewed += double(S->HeldByView);
        NotStretched += double(S->NotStretched);
      }
  }
};

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
    if (std::optional<Verdict> Needed = ofNeeded(V, Where))
      return *std::move(Needed);
    V.Result = Outcome::Confirmed;
    V.Sentence = "copies of " + bytesText(*V.Number) + " each time, " + During;
    V.Cost = CostKind::Copies;
    V.CostAmount = Bytes;
    V.CostText = bytesText(Bytes) + " copied in this run";
    return V;
  }

private:
  /// The copy is there for something that the tensor itself could not be.
  static std::optional<Verdict> ofNeeded(Verdict V, const Places &Where) {
    const Uses Of(Where);
    const auto &Kind = Where.Finding.Kind;
    // Of a few copies only, the others may be needless.
    const auto Told = [&](double Number, const char *Rule, const char *What) {
      V.Rule = Rule;
      V.Number = Number;
      V.Unit = "copies";
      V.Sentence = std::string(What) + ", " + numberText(Number) + " of " +
                   countText(Of.Copies, "time");
      if (Number >= ShareThatCounts * Of.Copies)
        V.Result = Outcome::Refuted;
      return V;
    };
    if (Of.Written)
      return Told(Of.Written, "writes to the copies",
                  "the copy is written in place");
    if (Kind == FindingKind::ContiguousAgain &&
        Of.Again < ShareThatCounts * Of.Copies)
      return Told(Of.Copies - Of.Again, "copies of the same tensor",
                  "what is copied is another tensor than the time before, or "
                  "has changed");
    if (Kind == FindingKind::ContiguousNeedless && Of.Viewed)
      return Told(Of.Viewed, "views of the copies",
                  "a view is made of the copy that only a tensor in this "
                  "order has");
    if (Of.ByAddress && Kind != FindingKind::ContiguousAgain)
      return Told(Of.ByAddress, "elements of the copies",
                  "the elements of the copy are asked for by their address");
    if (Kind == FindingKind::RepeatForBroadcast && Of.NotStretched)
      return Told(Of.NotStretched, "sizes of what is repeated",
                  "more than one row is repeated, which no operation would "
                  "stretch");
    return std::nullopt;
  }
};

const RegisterRule<LayoutCopies> RegisterLayoutCopies;

} // namespace
} // namespace torchtidy::confirm

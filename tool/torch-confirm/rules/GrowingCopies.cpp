// growing-copies: an operation that joins tensors is given a larger one each
// time, and copies it.
#include "rules/Operations.h"
#include "rules/Rule.h"
#include <algorithm>
#include <numeric>

namespace torchtidy::confirm {
namespace {

/// Of the results so many, and it is no collecting: each iteration needs what
/// there is so far.
constexpr double ResultsThatAreUsed = 0.5;
/// More than the first kinds of arguments that a site keeps: see Site::Shapes.
constexpr size_t KindsKept = 4;

/// Elements of each tensor of "Float[32,3], Float[1,3]".
std::vector<uint64_t> elementsOf(const std::string &Text) {
  std::vector<uint64_t> Result;
  uint64_t Product = 1, Number = 0;
  bool IsInside = false, HasDigits = false;
  for (const char C : Text) {
    if (C == '[') {
      IsInside = true;
      Product = 1;
    } else if (IsInside && C >= '0' && C <= '9') {
      Number = Number * 10 + uint64_t(C - '0');
      HasDigits = true;
    } else if (IsInside && (C == ',' || C == ']')) {
      Product *= HasDigits ? Number : 1;
      Number = 0;
      HasDigits = false;
      if (C == ']') {
        Result.push_back(Product);
        IsInside = false;
      }
    }
  }
  return Result;
}

uint64_t sumOf(const std::vector<uint64_t> &Elements) {
  return std::accumulate(Elements.begin(), Elements.end(), uint64_t(0));
}

/// Each of the first kinds of arguments is larger than the one before, and most
/// hits have others still.
bool grows(const Site &S) {
  for (size_t I = 1; I < S.Shapes.size(); ++I)
    if (sumOf(elementsOf(S.Shapes[I].Text)) <=
        sumOf(elementsOf(S.Shapes[I - 1].Text)))
      return false;
  return S.Shapes.size() == KindsKept && S.OtherShapes * 2 >= S.Hits;
}

/// What was joined is joined again with more: the result is an operand the next
/// time, or a list has all that it had and has grown at its end. Batches that
/// come sorted by their length grow, too, and are others each time.
bool collects(const Site &S) {
  for (size_t I = 1; I < S.Shapes.size(); ++I) {
    const std::vector<uint64_t> Before = elementsOf(S.Shapes[I - 1].Text),
                                After = elementsOf(S.Shapes[I].Text);
    const bool IsOperand =
        std::find(After.begin(), After.end(), sumOf(Before)) != After.end();
    const bool IsList = After.size() > Before.size() &&
                        std::equal(Before.begin(), Before.end(), After.begin());
    if (!IsOperand && !IsList)
      return false;
  }
  return true;
}

class GrowingCopies : public Rule {
public:
  std::string evidence() const override { return "growing-copies"; }
  std::vector<std::string> needs() const override {
    return {"operations", "cpu-memory"};
  }

  Verdict judge(const Places &Where) const override {
    Verdict V;
    V.Rule = "sizes of what the line joins";
    V.Iterations = Where.iterations();
    V.Unit = "bytes per iteration";
    if (Where.Statement.empty()) {
      V.Result = Outcome::NotReached;
      V.Sentence = Where.unseenText();
      return V;
    }
    const Site *Join = nullptr;
    for (const Site *S : sitesOf(Where.Statement))
      if (joins(*S) && (!Join || S->Hits > Join->Hits))
        Join = S;
    const std::string During = countText(double(V.Iterations), "iteration");
    if (!Join) {
      V.Result = Outcome::Refuted;
      V.Sentence =
          "none of the operations of this line joins tensors, " + During;
      return V;
    }
    const double Bytes =
        double(Join->AllocatedBytes + Join->CudaAllocatedBytes);
    V.Number = Bytes / double(std::max<uint64_t>(Join->Hits, 1));
    if (Join->Hits < FewestForTrend) {
      V.Result = Outcome::NotMeasurable;
      V.Sentence = "too few iterations: " + numberText(double(Join->Hits));
      return V;
    }
    if (double(Join->ResultsUsed) >= ResultsThatAreUsed * double(Join->Hits)) {
      V.Result = Outcome::Refuted;
      V.Rule = "results that are used before the next one";
      V.Sentence =
          "what the line has joined is used before it is joined again, " +
          numberText(double(Join->ResultsUsed)) + " of " +
          countText(double(Join->Hits), "time");
      return V;
    }
    if (grows(*Join) && !collects(*Join)) {
      V.Result = Outcome::NotMeasurable;
      V.Rule = "what was joined before, among what is joined";
      V.Sentence = "what is joined grows, but by its sizes it is not what was "
                   "joined before with more, " +
                   During;
      return V;
    }
    if (grows(*Join)) {
      V.Result = Outcome::Confirmed;
      V.Sentence = "each time a larger tensor is copied, " +
                   bytesText(*V.Number) + " on average, " + During;
      V.Cost = CostKind::Copies;
      V.CostAmount = Bytes;
      V.CostText = bytesText(Bytes) + " copied in this run";
      return V;
    }
    const bool IsBounded = !Join->Shapes.empty() && Join->OtherShapes == 0;
    V.Result = IsBounded ? Outcome::Refuted : Outcome::NotMeasurable;
    V.Sentence = IsBounded
                     ? "what is joined comes in " +
                           countText(double(Join->Shapes.size()), "size") +
                           " only, " + During
                     : "what is joined has many sizes, and they do not only "
                       "grow, " +
                           During;
    return V;
  }
};

const RegisterRule<GrowingCopies> RegisterGrowingCopies;

} // namespace
} // namespace torchtidy::confirm

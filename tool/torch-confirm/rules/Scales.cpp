#include "rules/Scales.h"

namespace torchtidy::confirm {
namespace {

/// Hits of the losses and logarithms of a statement, by what they were given.
struct Scales {
  uint64_t Shares = 0, Fractions = 0, Logarithms = 0, Numbers = 0;

  explicit Scales(const Places &Where) {
    for (const Site *S : sitesOf(Where.Statement)) {
      Shares += S->GivenShares;
      Fractions += S->GivenFractions;
      Logarithms += S->GivenLogarithms;
      Numbers += S->GivenNumbers;
    }
  }
  uint64_t all() const { return Shares + Fractions + Logarithms + Numbers; }
};

/// Scores may be anything, also shares by chance in the first step of a run:
/// one hit with others refutes.
Verdict judge(const Places &Where, uint64_t AsTold, uint64_t All,
              const std::string &What, bool IsWrong) {
  Verdict V;
  V.Rule = "numbers that a loss is given";
  V.Unit = "calls";
  V.Iterations = Where.iterations();
  V.Number = double(AsTold);
  const std::string Sentence = "the loss or logarithm of this line was given " +
                               What + ", " + numberText(double(AsTold)) +
                               " of " + countText(double(All), "time");
  if (AsTold == All && IsWrong)
    return wrongResult(std::move(V), double(AsTold), Sentence);
  V.Sentence = Sentence;
  if (AsTold == All) {
    V.Result = Outcome::Confirmed;
    V.Cost = CostKind::Calls;
    V.CostAmount = double(AsTold);
    V.CostText = countText(double(AsTold), "logarithm") + " of probabilities";
  } else if (!AsTold) {
    V.Result = Outcome::Refuted;
  }
  return V;
}

} // namespace

std::optional<Verdict> judgeScale(const Places &Where) {
  using K = FindingKind;
  const Scales Given(Where);
  const uint64_t All = Given.all();
  if (!Where.Finding.Kind || !All)
    return std::nullopt;
  const uint64_t Probabilities = Given.Shares + Given.Fractions;
  switch (*Where.Finding.Kind) {
  case K::LossScalesTwice:
  case K::LossWithoutLogarithm:
    return judge(Where, Probabilities, All,
                 "numbers between zero and one, as softmax() and sigmoid() "
                 "make them",
                 /*IsWrong=*/true);
  case K::LossOfScores:
    // Of scores some are above zero or do not sum to one; now and then all of
    // a few are between zero and one.
    return judge(Where, Given.Numbers + Given.Fractions, All,
                 "numbers that are neither shares nor logarithms of shares",
                 /*IsWrong=*/true);
  case K::LossOfLogarithms:
    return judge(Where, Given.Logarithms, All, "logarithms of shares",
                 /*IsWrong=*/true);
  case K::UnfusedLogarithm:
    return judge(Where, Probabilities, All,
                 "numbers between zero and one, as softmax() and sigmoid() "
                 "make them",
                 /*IsWrong=*/false);
  default:
    return std::nullopt;
  }
}

} // namespace torchtidy::confirm

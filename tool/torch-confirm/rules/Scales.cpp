#include "rules/Scales.h"
#include "rules/Operations.h"
#include <algorithm>

namespace torchtidy::confirm {
namespace {

/// Hits of the losses and logarithms of a statement, by what they were given.
struct Scales {
  uint64_t Shares = 0, Fractions = 0, Logarithms = 0, Numbers = 0, Parts = 0;

  /// The loss takes the logarithm of softmax() of what it is given, which of
  /// such a logarithm is that itself.
  bool IsOfScores = false;

  explicit Scales(const Places &Where) {
    for (const Site *S : sitesOf(Where.Statement)) {
      IsOfScores |= S->Operation == "aten::cross_entropy_loss";
      Shares += S->GivenShares;
      Fractions += S->GivenFractions;
      Logarithms += S->GivenLogarithms;
      Numbers += S->GivenNumbers;
      Parts += S->GivenParts;
    }
  }
  uint64_t all() const {
    return Shares + Fractions + Logarithms + Numbers + Parts;
  }
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

static bool makesShares(const std::vector<CallPath> &Paths) {
  const std::vector<const Site *> All = sitesOf(Paths);
  return std::any_of(All.begin(), All.end(), [](const Site *S) {
    return isOneOf(*S, {"aten::softmax", "aten::sigmoid", "aten::sigmoid_",
                        "aten::log_softmax", "aten::log_sigmoid"});
  });
}

/// softmax() or sigmoid() ran in the statement, or at a place that the finding
/// names.
static bool isMadeBySoftmax(const Places &Where) {
  const auto &Notes = Where.Finding.Notes;
  return makesShares(Where.Statement) ||
         std::any_of(Notes.begin(), Notes.end(), [&](const FindingNote &Note) {
           return makesShares(Where.paths(Where.known(Note.Place)));
         });
}

/// Numbers between zero and one may be scores as well: what made them was not
/// seen.
static Verdict ofUnseenMaker(const Places &Where) {
  Verdict V;
  V.Rule = "operations that make the numbers";
  V.Iterations = Where.iterations();
  V.Sentence = "the loss or logarithm of this line was given numbers between "
               "zero and one; that softmax() or sigmoid() has made them was "
               "seen at none of the places that the finding names";
  return V;
}

/// Joint probabilities have such logarithms, and scores may be so low.
static Verdict ofParts(const Places &Where, uint64_t Parts, uint64_t All) {
  Verdict V;
  V.Rule = "numbers that a loss is given";
  V.Unit = "calls";
  V.Iterations = Where.iterations();
  V.Number = double(Parts);
  V.Sentence = "the loss of this line was given numbers that may be logarithms "
               "of parts of one, " +
               numberText(double(Parts)) + " of " +
               countText(double(All), "time");
  return V;
}

static Verdict ofOwnLogarithm(const Places &Where) {
  Verdict V;
  V.Result = Outcome::Refuted;
  V.Rule = "what the loss makes of logarithms";
  V.Iterations = Where.iterations();
  V.Sentence =
      "cross_entropy takes log_softmax() of what it is given, which of "
      "its own result is that result";
  return V;
}

std::optional<Verdict> judgeScale(const Places &Where) {
  using K = FindingKind;
  const Scales Given(Where);
  const uint64_t All = Given.all();
  if (!Where.Finding.Kind || !All)
    return std::nullopt;
  const uint64_t Probabilities = Given.Shares + Given.Fractions;
  const bool MustBeMade = *Where.Finding.Kind == K::LossScalesTwice ||
                          *Where.Finding.Kind == K::UnfusedLogarithm;
  // Rows that sum to one are no chance.
  if (MustBeMade && Probabilities == All && Given.Shares < All &&
      !isMadeBySoftmax(Where))
    return ofUnseenMaker(Where);
  switch (*Where.Finding.Kind) {
  case K::LossScalesTwice:
  case K::LossWithoutLogarithm:
    return judge(Where, Probabilities, All,
                 "numbers between zero and one, as softmax() and sigmoid() "
                 "make them",
                 /*IsWrong=*/true);
  case K::LossOfScores:
    if (Given.Parts)
      return ofParts(Where, Given.Parts, All);
    // Of scores some are above zero or do not sum to one; now and then all of
    // a few are between zero and one.
    return judge(Where, Given.Numbers + Given.Fractions, All,
                 "numbers that are neither shares nor logarithms of shares",
                 /*IsWrong=*/true);
  case K::LossOfLogarithms:
    if (Given.IsOfScores && Given.Logarithms == All)
      return ofOwnLogarithm(Where);
    // Logarithms of single probabilities are numbers like others.
    if (!Given.Logarithms && !Probabilities)
      return std::nullopt;
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

// On which scale the numbers are that a loss, or a logarithm, is given.
#include "Recordings.h"
#include <gtest/gtest.h>

using namespace torchtidy::confirm;
using torchtidy::FindingKind;

namespace {

TEST(Scales, SharesWhereScoresAreWanted) {
  const auto Twice = ofKind(FindingKind::LossScalesTwice);
  MadeRecording Run;
  Site &Loss = Run.site("aten::cross_entropy_loss", {at(12)}, 20);
  // On a device nobody has looked.
  EXPECT_EQ(judgeOne(Twice, Run.Run).Result, Outcome::NotMeasurable);
  Loss.GivenShares = 20;
  const Verdict V = judgeOne(Twice, Run.Run);
  EXPECT_EQ(V.Result, Outcome::Confirmed);
  EXPECT_EQ(V.Sentence,
            "the loss or logarithm of this line was given numbers between zero "
            "and one, as softmax() and sigmoid() make them, 20 of 20 times");
  Loss.GivenNumbers = 1;
  EXPECT_EQ(judgeOne(Twice, Run.Run).Result, Outcome::NotMeasurable);
  Loss.GivenShares = 0;
  EXPECT_EQ(judgeOne(Twice, Run.Run).Result, Outcome::Refuted);
}

TEST(Scales, ScoresAndLogarithms) {
  MadeRecording Run;
  Site &Loss = Run.site("aten::nll_loss_nd", {at(12)}, 20);
  Loss.GivenNumbers = 20;
  EXPECT_EQ(judgeOne(ofKind(FindingKind::LossOfScores), Run.Run).Result,
            Outcome::Confirmed);
  // Logarithms of single probabilities are among such numbers.
  EXPECT_EQ(judgeOne(ofKind(FindingKind::LossOfLogarithms), Run.Run).Result,
            Outcome::NotMeasurable);
  Loss.GivenNumbers = 0;
  Loss.GivenLogarithms = 20;
  EXPECT_EQ(judgeOne(ofKind(FindingKind::LossOfScores), Run.Run).Result,
            Outcome::Refuted);
  EXPECT_EQ(judgeOne(ofKind(FindingKind::LossOfLogarithms), Run.Run).Result,
            Outcome::Confirmed);
}

TEST(Scales, ALogarithm) {
  const auto Found =
      ofKind(FindingKind::UnfusedLogarithm, "allocations-per-iteration");
  MadeRecording Run;
  Site &Log = Run.site("aten::log", {at(12)}, 20);
  EXPECT_EQ(judgeOne(Found, Run.Run).Result, Outcome::NotMeasurable);
  Log.GivenFractions = 20;
  EXPECT_EQ(judgeOne(Found, Run.Run).Result, Outcome::NotMeasurable);
  Run.site("aten::sigmoid", {at(12)}, 20);
  EXPECT_EQ(judgeOne(Found, Run.Run).Result, Outcome::Confirmed);
  Log.GivenFractions = 0;
  Log.GivenNumbers = 20;
  EXPECT_EQ(judgeOne(Found, Run.Run).Result, Outcome::Refuted);
}

} // namespace

// The signs of what goes by several names, or by one that means another thing
// now.
#include "Recordings.h"
#include <gtest/gtest.h>

using namespace torchtidy::confirm;
using torchtidy::FindingKind;

namespace {

TEST(Members, AListThatIsWrittenThroughSeveralElements) {
  const auto Filled = ofKind(FindingKind::FillSharesTensor);
  MadeRecording Run;
  Site &Made = Run.site("aten::zeros", {at(12)}, 1);
  // Through one element only, or never: the others may all be other tensors.
  EXPECT_EQ(judgeOne(Filled, Run.Run).Result, Outcome::NotMeasurable);
  Made.SharedWrites = 59;
  const Verdict V = judgeOne(Filled, Run.Run);
  EXPECT_EQ(V.Result, Outcome::Confirmed);
  EXPECT_EQ(V.Sentence,
            "the tensor that is made at this line is written in place through "
            "one element and then through another, 59 times");
}

TEST(Members, ALayerThatIsSeveralLayers) {
  for (const FindingKind Kind :
       {FindingKind::FillSharesModule, FindingKind::RegisteredInTwo}) {
    const auto Filled = ofKind(Kind);
    MadeRecording Run;
    Site &Made = Run.site("aten::empty", {at(12)}, 2);
    EXPECT_EQ(judgeOne(Filled, Run.Run).Result, Outcome::NotMeasurable);
    Made.MostListed = 6;
    const Verdict V = judgeOne(Filled, Run.Run);
    EXPECT_EQ(V.Result, Outcome::Confirmed);
    EXPECT_EQ(V.Number, 6);
  }
}

TEST(Members, AnotherTensorThanTheRegisteredOne) {
  MadeRecording Run;
  Site &Made = Run.site("aten::add", {at(12)}, 60);
  for (const FindingKind Kind :
       {FindingKind::ReassignedBuffer, FindingKind::ReassignedParameter}) {
    Made.MembersReplaced = 0;
    EXPECT_EQ(judgeOne(ofKind(Kind), Run.Run).Result, Outcome::NotMeasurable);
    Made.MembersReplaced = 2;
    const Verdict V = judgeOne(ofKind(Kind), Run.Run);
    EXPECT_EQ(V.Result, Outcome::Confirmed);
    EXPECT_EQ(V.Sentence, "a member that was the registered tensor is one that "
                          "this line has made, and the other one is still "
                          "registered, in 2 modules");
  }
}

TEST(Members, TheModeOfAMemberThatIsNotRegistered) {
  const auto Unregistered = ofKind(FindingKind::UnregisteredModeOnly,
                                   /*Evidence=*/"parameters");
  MadeRecording Run;
  Site &Made = Run.site("module", {at(12)}, 1);
  // Both were in training mode all the time: eval() did not miss it yet.
  EXPECT_EQ(judgeOne(Unregistered, Run.Run).Result, Outcome::NotMeasurable);
  Made.CallsInEvalMode = 4;
  EXPECT_EQ(judgeOne(Unregistered, Run.Run).Result, Outcome::Refuted);
  Made.CallsInOtherMode = 2;
  EXPECT_EQ(judgeOne(Unregistered, Run.Run).Result, Outcome::Confirmed);
}

TEST(Members, CopiesOfWeightsFromBeforeAStep) {
  const auto Stale = ofKind(FindingKind::AutocastCache);
  MadeRecording Run;
  Site &Step = Run.site("step:SGD", {at(12)}, 20);
  EXPECT_EQ(judgeOne(Stale, Run.Run).Result, Outcome::NotMeasurable);
  Step.FreshCasts = 19;
  EXPECT_EQ(judgeOne(Stale, Run.Run).Result, Outcome::Refuted);
  Step.StaleCasts = 1;
  const Verdict V = judgeOne(Stale, Run.Run);
  EXPECT_EQ(V.Result, Outcome::Confirmed);
  EXPECT_EQ(V.Sentence, "passes under autocast took 1 copy of weights from "
                        "before this step had changed them");
  // Another LibTorch, in which nobody sees casts.
  Run.Run.Capabilities.erase("casts");
  EXPECT_EQ(judgeOne(Stale, Run.Run).Result, Outcome::NotMeasurable);
}

TEST(Members, AGraphThatIsKeptForNothing) {
  const auto Kept = ofKind(FindingKind::RetainGraphInLoop, "peak-bytes");
  MadeRecording Run;
  Site &Backward = Run.site("backward", {at(12)}, 21);
  // It goes before the next one is made.
  EXPECT_EQ(judgeOne(Kept, Run.Run).Result, Outcome::NotMeasurable);
  Backward.BytesKept = 20 << 20;
  const Verdict V = judgeOne(Kept, Run.Run);
  EXPECT_EQ(V.Result, Outcome::Confirmed);
  EXPECT_EQ(V.Number, 1 << 20);
  EXPECT_EQ(V.Cost, CostKind::Peak);
  // A second loss goes through a part of it.
  Backward.NodesRunAgain = 40;
  EXPECT_EQ(judgeOne(Kept, Run.Run).Result, Outcome::Refuted);
}

} // namespace

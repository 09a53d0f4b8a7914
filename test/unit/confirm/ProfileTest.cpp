// What is made of a recording with a timeline: whether memory grows, why, and
// what the peak is for.
#include "Training.h"
#include "profile/Parts.h"
#include <gtest/gtest.h>

namespace torchtidy::confirm {
namespace {

TEST(Profile, WhatHasTheSameAfterEachStepDoesNotGrow) {
  Training T;
  T.add("aten::empty", {line("net.h", 3)}, level);
  const Profile P = profileOf(T.Run);
  EXPECT_EQ(P.Memory, Trend::Level);
  EXPECT_EQ(P.Headline.rfind("no growth; at most 5.0 MiB", 0), 0u)
      << P.Headline;
}

TEST(Profile, WhatStaysOfEachIterationGrows) {
  Training T;
  T.add("aten::empty", {line("net.h", 3)}, level);
  T.add("aten::clone", {line("cache.h", 7), line("main.cpp", 20)}, steadily);
  const Profile P = profileOf(T.Run);
  ASSERT_EQ(P.Memory, Trend::Grows);
  EXPECT_EQ(P.Unit, "iteration");
  EXPECT_NEAR(P.BytesPerUnit, double(KiB), 0.15 * double(KiB));
  ASSERT_EQ(P.Causes.size(), 1u);
  EXPECT_EQ(P.Causes[0].Kind, CauseKind::KeptTensors);
  EXPECT_EQ(P.Causes[0].Line.Line, 7u);
  EXPECT_NE(P.Headline.find("cache.h:7"), std::string::npos) << P.Headline;
  // The rest, and what one iteration leaves.
  EXPECT_NEAR(double(P.Causes[0].PeakWithout), 5.0 * double(MiB),
              2.0 * double(KiB));
}

TEST(Profile, WhatFillsUpAndStaysDoesNotGrow) {
  for (const size_t FullAt : {4, 8, 16, 20}) {
    Training T;
    T.add("aten::clone", {line("replay.h", 7)}, [&](size_t I) {
      return int64_t(std::min<size_t>(I, FullAt)) * 100 * KiB;
    });
    EXPECT_EQ(profileOf(T.Run).Memory, Trend::Level) << FullAt;
  }
}

TEST(Profile, WhatComesAndGoesDoesNotGrow) {
  Training T;
  // As of an epoch's losses: cleared every eight moments.
  T.add("aten::mean", {line("train.h", 9)},
        [](size_t I) { return int64_t(I % 8) * 100 * KiB; });
  T.add("aten::randn", {line("train.h", 4)},
        [](size_t I) { return int64_t(I * 7 % 5) * MiB; });
  EXPECT_EQ(profileOf(T.Run).Memory, Trend::Level);
}

TEST(Profile, WhatGrowsByEpochGrows) {
  Training T;
  T.add("aten::index_select", {line("data.h", 9)},
        [](size_t I) { return int64_t(1 + I / 4) * 10 * MiB; });
  EXPECT_EQ(profileOf(T.Run).Memory, Trend::Grows);
}

TEST(Profile, AFewIterationsTellNothing) {
  Training T;
  T.add("aten::clone", {line("cache.h", 7)}, steadily);
  T.Run.Moments.resize(6);
  const Profile P = profileOf(T.Run);
  EXPECT_EQ(P.Memory, Trend::Unknown);
  EXPECT_NE(P.Headline.find("too short"), std::string::npos);
}

TEST(Profile, NoMomentsNoMemory) {
  const Profile P = profileOf(Recording());
  EXPECT_EQ(P.Memory, Trend::Unknown);
  EXPECT_TRUE(P.Causes.empty());
  EXPECT_EQ(P.Headline, "no memory of tensors was seen");
}

TEST(Profile, WithoutStepsSecondsCount) {
  Training T;
  T.add("aten::clone", {line("server.h", 7)}, steadily);
  for (Moment &Each : T.Run.Moments) {
    Each.Kind = MomentKind::Regular;
    Each.Iterations = 0;
  }
  const Profile P = profileOf(T.Run);
  EXPECT_EQ(P.Memory, Trend::Grows);
  EXPECT_EQ(P.Unit, "second");
}

/// The graph of each iteration is kept: three sites have nodes, and the memory
/// is that of the first one.
void addGraph(Training &T) {
  const auto Nodes = [](size_t I) { return int64_t(I) * 10; };
  const auto Nothing = [](size_t) { return 0; };
  T.add("aten::addmm",
        {line("net.h", 3, "forward"), line("main.cpp", 20, "main")}, steadily,
        Nodes);
  T.add("aten::mse_loss", {line("main.cpp", 21, "main")}, Nothing, Nodes);
  T.add("aten::add", {line("stats.h", 5, "add"), line("main.cpp", 25, "main")},
        Nothing, Nodes);
  for (Site &Each : T.Run.Sites)
    Each.SweptNodes = 300;
}

TEST(Profile, AKeptGraphIsHeldByWhatNoOtherNodeLeadsTo) {
  Training T;
  addGraph(T);
  T.Run.Sites[2].SweptRoots = 300;
  const Profile P = profileOf(T.Run);
  ASSERT_EQ(P.Causes.size(), 1u);
  EXPECT_EQ(P.Causes[0].Kind, CauseKind::KeptGraphs);
  EXPECT_EQ(P.Causes[0].Line.Line, 5u);
  EXPECT_EQ(P.Causes[0].Check, "torch-retained-graph");
  EXPECT_EQ(P.Causes[0].Sites.size(), 3u);
  EXPECT_GT(P.Causes[0].Bytes, 100 * KiB);
}

TEST(Profile, OrByWhatLeadsToAllBeforeIt) {
  Training T;
  addGraph(T);
  T.Run.Sites[2].SweptRoots = 1;
  T.Run.Sites[2].SweptChain = 299;
  EXPECT_EQ(profileOf(T.Run).Causes.at(0).Line.Line, 5u);
}

TEST(Profile, NodesAreMemoryOfTheProcess) {
  Training T;
  addGraph(T);
  T.Run.Sites[2].SweptRoots = 300;
  for (size_t I = 0; I < T.Run.Moments.size(); ++I) {
    T.Run.Moments[I].By[0].CpuBytes = 0;
    T.Run.Moments[I].CpuBytes = 0;
    T.Run.Moments[I].ResidentBytes += int64_t(I) * 4 * MiB;
  }
  const Profile P = profileOf(T.Run);
  ASSERT_EQ(P.Memory, Trend::Grows);
  EXPECT_GT(P.Causes.at(0).Bytes, 80 * MiB);
  EXPECT_NEAR(P.Causes.at(0).Share, 1, 0.01);
}

TEST(Profile, StateOfOptimizersIsThereForTheirParameters) {
  Training T;
  T.add("aten::empty", {line("net.h", 3), line("main.cpp", 30)}, steadily);
  T.add("backward", {line("main.cpp", 40)}, steadily);
  T.add("step:Adam", {line("main.cpp", 41)},
        [](size_t I) { return 2 * steadily(I); });
  T.add("optimizer", {line("main.cpp", 31)}, [](size_t) { return 0; });
  T.Run.Sites[0].LeavesTrained = 9;
  T.Run.Sites[3].Hits = 9;
  const Profile P = profileOf(T.Run);
  ASSERT_EQ(P.Causes.size(), 1u);
  EXPECT_EQ(P.Causes[0].Line.Line, 31u);
  EXPECT_EQ(P.Causes[0].Sites.size(), 3u);
}

TEST(Profile, AnEvaluationThatRecordsIsNamedByItsOwnStatement) {
  Training T;
  const auto InTraining = std::vector<SourceLine>{line("net.h", 3, "forward"),
                                                  line("main.cpp", 20, "main")};
  const auto InEvaluation = std::vector<SourceLine>{
      line("net.h", 3, "forward"), line("eval.h", 12, "evaluate"),
      line("main.cpp", 50, "main")};
  T.add("aten::conv2d", InTraining, level);
  T.add("aten::conv2d", InEvaluation,
        [](size_t I) { return I == 20 ? 100 * MiB : 0; });
  T.add("aten::mean",
        {line("eval.h", 14, "evaluate"), line("main.cpp", 50, "main")},
        [](size_t I) { return I == 20 ? 10 * MiB : 0; });
  T.add("backward", {line("main.cpp", 21, "main")}, [](size_t) { return 0; });
  for (size_t I = 0; I < 3; ++I)
    T.Run.Sites[I].NodesMade = 100;
  T.Run.Sites[0].NodesRun = 100;
  const Profile P = profileOf(T.Run);
  EXPECT_EQ(P.Memory, Trend::Level);
  ASSERT_FALSE(P.Causes.empty());
  EXPECT_EQ(P.Causes[0].Kind, CauseKind::RecordedEvaluation);
  EXPECT_EQ(P.Causes[0].Line.File, "eval.h");
  EXPECT_EQ(P.Causes[0].Line.Line, 12u);
  EXPECT_EQ(P.Causes[0].Bytes, 110 * MiB);
}

/// A view that is assigned to has a node of its own, and no backward meets it.
TEST(Profile, NodesOfATrainingHideNoEvaluation) {
  Training T;
  const auto None = [](size_t) { return 0; };
  const auto At = [&](const char *Operation, unsigned Line, unsigned Caller,
                      uint64_t Made, uint64_t Run) {
    const size_t Site =
        T.add(Operation, {line("net.h", Line), line("main.cpp", Caller)}, None);
    T.Run.Sites[Site].NodesMade = Made;
    T.Run.Sites[Site].NodesRun = Run;
  };
  At("aten::linear", 3, 20, 6000, 6000);
  At("aten::select", 4, 20, 6000, 0);
  At("aten::copy_", 4, 20, 6000, 6000);
  At("aten::linear", 3, 50, 1, 0);
  At("aten::copy_", 4, 50, 3, 0);
  T.add("backward", {line("main.cpp", 21)}, None);
  const Profile P = profileOf(T.Run);
  std::vector<std::string> Seen;
  for (const Checked &Each : P.Looked)
    if (!Each.IsFine)
      Seen.push_back(Each.Seen + " " + std::to_string(Each.Line.Line));
  EXPECT_EQ(Seen, std::vector<std::string>{
                      "4 graph nodes recorded that no backward() runs 50"});
}

TEST(Profile, MakingANetworkIsNoEvaluation) {
  Training T;
  const auto None = [](size_t) { return 0; };
  for (const char *Operation : {"aten::select", "aten::uniform_"})
    T.add(Operation, {line("net.h", 3), line("main.cpp", 9)}, None);
  T.add("aten::select", {line("net.h", 5), line("eval.cpp", 9)}, None);
  for (Site &Each : T.Run.Sites)
    Each.HitsWithoutGrad = Each.Hits;
  const Profile P = profileOf(T.Run);
  EXPECT_EQ(P.Sites[0].Phase, WorkPhase::Other);
  EXPECT_EQ(P.Sites[1].Phase, WorkPhase::Other);
  EXPECT_EQ(P.Sites[2].Phase, WorkPhase::Evaluation);
  EXPECT_EQ(P.EvaluationHits, 320u);
}

TEST(Profile, WithoutTheLineOfThePeakATrainingStillNeedsItsOwn) {
  Training T;
  // Most is alive while the data are read; part of it stays.
  T.add("aten::to", {line("data.h", 3)},
        [](size_t I) { return (I == 0 ? 220 : 180) * MiB; });
  T.add("aten::empty", {line("net.h", 5)}, level);
  for (uint64_t I = 1; I < 30; ++I) {
    Iteration Each;
    Each.Number = 10 * I;
    Each.Begin = double(I) + 0.1;
    Each.End = double(I) + 0.9;
    Each.Peak = 224 * MiB;
    T.Run.Iterations.push_back(Each);
  }
  T.Run.PeakCpuBytes = 225 * MiB;
  const Profile P = profileOf(T.Run);
  ASSERT_EQ(P.Causes.size(), 1u);
  EXPECT_EQ(P.Causes[0].Line.File, "data.h");
  EXPECT_EQ(P.Causes[0].PeakWithout, 44 * MiB);
}

TEST(Profile, AnInferenceProgramHasNoEvaluationToGuard) {
  Training T;
  const size_t At = T.add("aten::conv2d", {line("serve.cpp", 3)}, level);
  T.Run.Sites[At].NodesMade = 100;
  for (const Cause &Each : profileOf(T.Run).Causes)
    EXPECT_NE(Each.Kind, CauseKind::RecordedEvaluation);
}

} // namespace
} // namespace torchtidy::confirm

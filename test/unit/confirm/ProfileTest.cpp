// What is made of a recording with a timeline: whether memory grows, why, and
// what the peak is for.
#include "profile/Braces.h"
#include "profile/Parts.h"
#include "support/Capture.h"
#include "support/Errors.h"
#include "support/Files.h"
#include "support/Sizes.h"
#include <functional>
#include <gtest/gtest.h>
#include <utility>

namespace torchtidy::confirm {
namespace {

constexpr int64_t KiB = 1024, MiB = 1024 * KiB;

SourceLine line(const char *File, unsigned Line, const char *Function = "f") {
  return {File, Line, Function};
}

/// A training of 32 moments after steps, 10 iterations apart.
class Training {
public:
  Recording Run;

  Training() {
    for (uint64_t I = 0; I < 32; ++I) {
      Moment M;
      M.Kind = MomentKind::AfterStep;
      M.Seconds = double(I);
      M.Iterations = 10 * I;
      M.CpuBytes = 0;
      M.ResidentBytes = 100 * MiB;
      Run.Moments.push_back(M);
    }
    Run.Seconds = 32;
    Run.ExitCode = 0;
  }

  /// \param Bytes what it holds at each moment.
  size_t add(const char *Operation, std::vector<SourceLine> Stack,
             const std::function<int64_t(size_t)> &Bytes,
             const std::function<int64_t(size_t)> &Nodes = nullptr) {
    Site S;
    S.Operation = Operation;
    S.Stack = std::move(Stack);
    S.Hits = 320;
    const size_t At = Run.Sites.size();
    for (size_t I = 0; I < Run.Moments.size(); ++I) {
      Held H;
      H.Site = At;
      H.CpuBytes = Bytes(I);
      H.Nodes = Nodes ? Nodes(I) : 0;
      if (H.Nodes)
        S.NodesMade = 1000;
      Run.Moments[I].CpuBytes += H.CpuBytes;
      Run.Moments[I].Nodes += H.Nodes;
      Run.Moments[I].By.push_back(H);
    }
    Run.Sites.push_back(std::move(S));
    return At;
  }
};

int64_t steadily(size_t I) { return int64_t(I) * 10 * KiB; }
int64_t level(size_t) { return 5 * MiB; }

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

TEST(Profile, TheCensusNamesWhatIsNotAsTheRest) {
  Recording Run;
  for (int I = 0; I < 5; ++I)
    Run.Network.push_back({"layer" + std::to_string(I) + ".weight", "Float",
                           "cuda:0", "[4]", 16, std::nullopt, false, true,
                           I != 3});
  Run.Network.push_back({"norm.mean", "Double", "cpu", "[4]", 32, std::nullopt,
                         true, false, false});
  const Profile P = profileOf(Run);
  ASSERT_EQ(P.Oddities.size(), 3u);
  EXPECT_EQ(P.Oddities[0].Text,
            "buffer 'norm.mean' is on cpu, 5 others is on cuda:0");
  EXPECT_EQ(P.Oddities[2].Name, "layer3.weight");
  ASSERT_EQ(P.Modules.size(), 6u);
  EXPECT_EQ(P.Modules[0].Path, "layer0");
}

TEST(Profile, LinesOfManySizesAreToldOfADevice) {
  Training T;
  const size_t Site = T.add("aten::empty", {line("data.h", 7)}, level);
  const size_t Other = T.add("aten::mul", {line("data.h", 8)}, level);
  for (Moment &Each : T.Run.Moments)
    for (Held &H : Each.By)
      Each.CudaBytes += H.CudaBytes = std::exchange(H.CpuBytes, 0);
  T.Run.Sites[Site].CudaAllocatedBytes = 99;
  T.Run.Sites[Site].Shapes = {{"[1]", 1}, {"[2]", 1}, {"[3]", 1}, {"[4]", 1}};
  T.Run.Sites[Site].OtherShapes = 5;
  T.Run.Sites[Other].CudaAllocatedBytes = 999;
  T.Run.Sites[Other].Shapes = {{"[1]", 1}};
  const Profile Of = profileOf(T.Run);
  ASSERT_TRUE(Of.CudaPeak);
  ASSERT_EQ(Of.CudaPeak->Varying.size(), 1U);
  EXPECT_EQ(Of.CudaPeak->Varying[0].Line.Line, 7U);
  EXPECT_EQ(Of.CudaPeak->Varying[0].Kinds, 5U);
  EXPECT_EQ(Of.CudaPeak->Varying[0].Bytes, 99U);
}

TEST(Profile, EpochsAreWhatEvaluationsPart) {
  Training T;
  const size_t Eval = T.add("aten::conv2d", {line("eval.h", 1)}, level);
  for (uint64_t I = 0; I < 30; ++I) {
    Iteration Each;
    Each.Number = I + 1;
    Each.Begin = double(I);
    Each.BackwardBegin = double(I) + 0.6;
    Each.End = double(I) + 1;
    Each.Peak = int64_t(100 + I);
    Each.BytesAfter = int64_t(I);
    T.Run.Iterations.push_back(Each);
  }
  EXPECT_TRUE(profileOf(T.Run).Epochs.empty());
  // After the tenth, the twentieth and the last iteration.
  T.Run.Sites[Eval].HitsWithoutGrad = T.Run.Sites[Eval].Hits;
  const auto Evaluates = [&](double Seconds) {
    Sample Each;
    Each.Seconds = Seconds;
    T.Run.Sites[Eval].Series.push_back(Each);
  };
  for (const double Seconds : {10.1, 10.3, 20.1, 20.5, 30.2})
    Evaluates(Seconds);
  const std::vector<EpochRow> Epochs = profileOf(T.Run).Epochs;
  ASSERT_EQ(Epochs.size(), 3U);
  EXPECT_EQ(Epochs[1].First, 11U);
  EXPECT_EQ(Epochs[1].Last, 20U);
  EXPECT_EQ(Epochs[1].Begin, 10);
  EXPECT_EQ(Epochs[1].End, 20);
  EXPECT_EQ(Epochs[1].Peak, 119);
  EXPECT_EQ(Epochs[2].BytesAfter, 29);
  // What runs in each iteration parts nothing.
  T.Run.Sites[Eval].Series.clear();
  for (int I = 0; I < 30; ++I)
    Evaluates(I + 0.2);
  EXPECT_TRUE(profileOf(T.Run).Epochs.empty());
}

TEST(Profile, ActivationsAreToldByTheInnermostForward) {
  EXPECT_EQ(moduleOf({line("a.h", 1, "net::Block::forward(at::Tensor)"),
                      line("a.h", 9, "net::Net::forward(at::Tensor)")}),
            "net::Block");
  EXPECT_EQ(moduleOf({line("a.h", 1, "relu(at::Tensor)"),
                      line("a.h", 9, "Net::forward(at::Tensor)")}),
            "Net");
  // Of a template the result stands before it.
  EXPECT_EQ(moduleOf({line("a.h", 1,
                           "at::Tensor Stack<Block, 3>::forward(at::Tensor)")}),
            "Stack<Block, 3>");
  EXPECT_EQ(moduleOf({line("a.h", 1,
                           "std::pair<at::Tensor, at::Tensor> "
                           "Pair<int>::forward<float>(at::Tensor)")}),
            "");
  EXPECT_EQ(moduleOf({line("a.h", 1, "main"),
                      line("a.h", 2, "run(void (*)(Net::forward(int)))"),
                      line("a.h", 3, "fast_forward(at::Tensor)")}),
            "");

  Training T;
  const auto Nodes = [](size_t) { return int64_t(2); };
  T.add("aten::relu", {line("a.h", 1, "Block::forward(at::Tensor)")}, level,
        Nodes);
  T.add(
      "aten::mul", {line("a.h", 2, "Head::forward(at::Tensor)")},
      [](size_t) { return 9 * MiB; }, Nodes);
  T.add("aten::add", {line("a.h", 3, "Block::forward(at::Tensor)")}, level,
        Nodes);
  // No activations.
  T.add("aten::empty", {line("a.h", 4, "Block::forward(at::Tensor)")}, level);
  T.add("aten::sub", {line("a.h", 5, "main")}, level, Nodes);
  const Profile Of = profileOf(T.Run);
  ASSERT_TRUE(Of.CpuPeak);
  EXPECT_EQ(Of.CpuPeak->ByModule, (std::vector<std::pair<std::string, int64_t>>{
                                      {"Block", 10 * MiB}, {"Head", 9 * MiB}}));
}

TEST(Profile, IterationsThatAreTold) {
  Recording Run;
  for (uint64_t I = 2; I <= 11; ++I) {
    Iteration Each;
    Each.Number = I;
    Each.Begin = double(I);
    Each.End = double(I) + (I == 2 ? 0.9 : 0.1);
    Each.Peak = I == 7 ? 900 : 100;
    Run.Iterations.push_back(Each);
  }
  const Profile P = profileOf(Run);
  ASSERT_EQ(P.Iterations.size(), 4u);
  EXPECT_EQ(P.Iterations[0].Of.Number, 2u);
  EXPECT_NE(P.Iterations[1].Of.Number, 2u);
  EXPECT_EQ(P.Iterations[2].Of.Number, 11u);
  EXPECT_EQ(P.Iterations[3].Of.Number, 7u);
}

TEST(Profile, AReturnOfBracesIsNotAtItsBrace) {
  const TemporaryFolder Folder;
  const std::string File = Folder.path() + "/batch.cpp";
  writeFile(File,
            "Batch next() {\n  return {a.clone(),\n          b.clone()};\n"
            "}\nvoid other() {\n  if (x) {\n  }\n}\n");
  Recording Run;
  Run.Sites.resize(2);
  Run.Sites[0].Stack = {line(File.c_str(), 4), line(File.c_str(), 3)};
  Run.Sites[1].Stack = {line(File.c_str(), 8), line("/none.cpp", 4)};
  moveOffBraces(Run);
  EXPECT_EQ(Run.Sites[0].Stack[0].Line, 2u);
  EXPECT_EQ(Run.Sites[0].Stack[1].Line, 3u);
  EXPECT_EQ(Run.Sites[1].Stack[0].Line, 8u);
  EXPECT_EQ(Run.Sites[1].Stack[1].Line, 4u);
}

TEST(Sizes, OfOptions) {
  EXPECT_EQ(parseBytes("--x", "4096"), 4096);
  EXPECT_EQ(parseBytes("--x", "64KiB"), 64 * KiB);
  EXPECT_EQ(parseBytes("--x", "1.5 MiB"), MiB + MiB / 2);
  EXPECT_EQ(parseBytes("--x", "2k"), 2 * KiB);
  EXPECT_EQ(parseBytes("--x", "2MB"), 2000000);
  EXPECT_EQ(parseBytes("--x", "0"), 0);
  for (const char *Wrong :
       {"", "x", "-1", "1 XB", "1KiBs", "nan", "inf", "1e300"})
    EXPECT_THROW(parseBytes("--x", Wrong), UserError) << Wrong;
}

} // namespace
} // namespace torchtidy::confirm

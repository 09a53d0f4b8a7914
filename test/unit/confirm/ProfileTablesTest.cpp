// The tables of a report: the network, lines of many sizes, epochs, iterations.
#include "Training.h"
#include "profile/Braces.h"
#include "profile/Parts.h"
#include "support/Capture.h"
#include "support/Errors.h"
#include "support/Files.h"
#include "support/Sizes.h"
#include <gtest/gtest.h>

namespace torchtidy::confirm {
namespace {

TEST(Profile, TheCensusNamesWhatIsNotAsTheRest) {
  Recording Run;
  for (int I = 0; I < 5; ++I)
    Run.Network.push_back({"layer" + std::to_string(I) + ".weight", "Float",
                           "cuda:0", "[4]", 16, std::nullopt, false, true,
                           I != 3});
  Run.Network.push_back({"norm.mean", "Double", "cpu", "[4]", 32, std::nullopt,
                         true, false, false});
  Run.Network[0].StateBytes = 32;
  const Profile P = profileOf(Run);
  ASSERT_EQ(P.Oddities.size(), 3u);
  EXPECT_EQ(P.Oddities[0].Text,
            "buffer 'norm.mean' is on cpu, 5 others are on cuda:0");
  EXPECT_EQ(P.Oddities[2].Name, "layer3.weight");
  ASSERT_EQ(P.Modules.size(), 6u);
  EXPECT_EQ(P.Modules[0].Path, "layer0");
  EXPECT_EQ(P.Modules[0].GradientBytes, 16);
  EXPECT_EQ(P.Modules[0].StateBytes, 32);
  EXPECT_EQ(P.Modules[3].GradientBytes, 0);
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

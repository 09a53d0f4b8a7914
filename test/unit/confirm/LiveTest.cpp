// What is shown of a program while it runs.
#include "Profiles.h"
#include "live/View.h"
#include "live/Words.h"
#include "recording/Symbolizer.h"
#include "run/Processes.h"
#include <cstdlib>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

using namespace torchtidy::confirm;

namespace {

/// A second of a run that keeps more and more at line 10.
LiveLook lookAt(double Seconds, int64_t Bytes) {
  MadeReport Made;
  LiveLook Result;
  Made.Run.Seconds = Seconds;
  Made.Run.LiveCpuBytes = Bytes;
  Made.Run.PeakCpuBytes = Bytes;
  Made.Run.PeakCudaBytes = 0;
  Made.Run.NodesAlive = 36;
  Made.Run.IterationCount = uint64_t(10 * Seconds);
  Made.Run.Sites[0].LiveBytes = Bytes;
  Made.Run.Sites[0].Seconds = Seconds / 2;
  Made.Run.Command = {"build/train"};
  Result.Now = {{0, Bytes, 0, 36}};
  Result.Run = Made.Run;
  Result.Of = Made.Of;
  Result.HasTimeline = true;
  Result.ResidentBytes = 1 << 30;
  return Result;
}

testing::AssertionResult has(const std::string &Text, const std::string &Part) {
  return Text.find(Part) != std::string::npos ? testing::AssertionSuccess()
                                              : testing::AssertionFailure()
                                                    << Part << "\nis not in\n"
                                                    << Text;
}

std::string textOf(LiveView &View) {
  std::string Text;
  for (const std::string &Line : View.lines())
    Text += Line + '\n';
  return Text;
}

LiveViewOptions sized(size_t Columns, size_t Rows) {
  LiveViewOptions Result;
  Result.Columns = Columns;
  Result.Rows = Rows;
  return Result;
}

TEST(LiveTest, CurveGoesFromNothingToTheMost) {
  EXPECT_EQ(curveText({0, 1, 2, 4}, 10, true), "▁▃▅█");
  EXPECT_EQ(curveText({0, 1, 2, 4}, 10, false), "_:=#");
  // Of several in one column the highest.
  EXPECT_EQ(curveText({4, 0, 0, 0}, 2, false), "#_");
  EXPECT_EQ(curveText({}, 10, true), "");
  EXPECT_EQ(curveText({0, 0}, 10, false), "__");
}

TEST(LiveTest, NothingIsShownBeforeTheFirstLook) {
  LiveView View(sized(80, 24));
  EXPECT_TRUE(View.lines().empty());
  EXPECT_EQ(View.line(), "");
}

TEST(LiveTest, ChangesAreToldAgainstTheFirstLook) {
  LiveView View(sized(120, 40));
  View.take(lookAt(2, 2 << 20));
  EXPECT_TRUE(has(textOf(View), "   2.0 MiB  100 %  train.cpp:10"));
  View.take(lookAt(3, 5 << 20));
  View.take(lookAt(4, 7 << 20));
  const std::string Text = textOf(View);
  EXPECT_TRUE(has(Text, "LIVE     train, process 7, 0:04"));
  EXPECT_TRUE(has(Text, "7.0 MiB of tensors now, at most 7.0 MiB; the "
                        "process has 1.0 GiB resident"));
  EXPECT_TRUE(has(Text, "   7.0 MiB  100 %     +5.0 MiB  "));
  EXPECT_TRUE(has(Text, "40 iterations"));
  EXPECT_TRUE(has(Text, "10.0 per second now"));
  EXPECT_TRUE(has(Text, "WHY      memory grows\n"));
  EXPECT_TRUE(has(Text, "cure: Keep the number."));
  EXPECT_TRUE(has(Text, "50 %  aten::add_"));
}

TEST(LiveTest, AProgramThatDoesNothingIsTold) {
  LiveView View(sized(120, 40));
  LiveLook Look = lookAt(2, 100);
  Look.Idle = 70;
  View.take(std::move(Look));
  EXPECT_TRUE(has(textOf(View), ", 1:12, NVIDIA H100; no operation for "
                                "1:10"));
}

TEST(LiveTest, WithoutATimelineItSaysWhatWouldHaveOne) {
  LiveView View(sized(120, 40));
  LiveLook Look = lookAt(2, 100);
  Look.HasTimeline = false;
  View.take(std::move(Look));
  EXPECT_TRUE(has(textOf(View), "only 'torch-confirm report' records"));
  EXPECT_FALSE(has(View.line(), "memory grows"));
}

TEST(LiveTest, NoLineIsWiderNorAreThereMore) {
  LiveView View(sized(30, 6));
  View.take(lookAt(2, 100));
  const auto Lines = View.lines({"a line of output that is far too long", "b"});
  EXPECT_EQ(Lines.size(), 6u);
  for (const std::string &Each : Lines)
    EXPECT_LE(Each.size(), 30u) << Each;
  // A character is not cut.
  LiveView Narrow(sized(12, 40));
  Narrow.take(lookAt(2, 100));
  EXPECT_EQ(Narrow.lines({"äöüß"}).back(), "OUTPUT   äöü");
}

TEST(LiveTest, ControlCharactersOfTheOutputAreNotPassedOn) {
  LiveView View(sized(80, 40));
  View.take(lookAt(2, 100));
  EXPECT_EQ(View.lines({"a\033[2Jb\tc"}).back(), "OUTPUT   a [2Jb c");
}

TEST(LiveTest, WhyItGrowsIsToldWhole) {
  LiveView View(sized(34, 40));
  LiveLook Look = lookAt(2, 100);
  Look.Of.Headline = "memory grows by 3 MiB per iteration; 100 % of it";
  View.take(std::move(Look));
  EXPECT_TRUE(has(textOf(View), "WHY      memory grows by 3 MiB per\n"
                                "         iteration; 100 % of it\n"));
}

TEST(LiveTest, ALineForALog) {
  LiveView View(sized(80, 40));
  View.take(lookAt(2, 2048));
  EXPECT_EQ(View.line(), "2.0 s: 2.0 KiB of tensors, 36 graph nodes, 20 "
                         "iterations; memory grows");
}

TEST(LiveTest, AddressesAreAskedForOnce) {
  SymbolCache Cache;
  AddressesOf What;
  What.Module = "/proc/self/exe";
  What.Addresses = {1, 2};
  const auto &First = Cache.linesOf(What);
  EXPECT_EQ(First.size(), 2u);
  What.Addresses = {2, 3};
  EXPECT_EQ(Cache.linesOf(What).size(), 3u);
  // Nothing is asked: there is nobody to answer.
  const std::string Path = std::getenv("PATH");
  setenv("PATH", "/nowhere", 1);
  EXPECT_EQ(Cache.linesOf(What).size(), 3u);
  setenv("PATH", Path.c_str(), 1);
}

TEST(LiveTest, ProcessesAreFoundByAVariable) {
  int ToChild[2], FromChild[2];
  ASSERT_EQ(pipe(ToChild), 0);
  ASSERT_EQ(pipe(FromChild), 0);
  const pid_t Child = fork();
  if (Child == 0) {
    setenv("TORCH_CONFIRM_LIVE_TEST", "a value", 1);
    dup2(ToChild[0], 0);
    dup2(FromChild[1], 1);
    execlp("cat", "cat", nullptr);
    _exit(127);
  }
  // What cat sends back says that it runs: within an exec, no variable of a
  // process can be read.
  char Line = '\n';
  ASSERT_EQ(write(ToChild[1], &Line, 1), 1);
  ASSERT_EQ(read(FromChild[0], &Line, 1), 1);
  std::vector<std::string> Values;
  for (const WatchedProcess &Each : processesWith("TORCH_CONFIRM_LIVE_TEST"))
    if (Each.Id == Child)
      Values.push_back(Each.Value);
  kill(Child, SIGKILL);
  EXPECT_EQ(Values, std::vector<std::string>{"a value"});
  EXPECT_TRUE(processesWith("TORCH_CONFIRM_LIVE_TES").empty());
}

} // namespace

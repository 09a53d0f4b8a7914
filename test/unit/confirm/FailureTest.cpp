// The allocation that failed.
#include "Recordings.h"
#include "export/Text.h"
#include "profile/Parts.h"
#include <gtest/gtest.h>

namespace torchtidy::confirm {
namespace {

constexpr const char *Cpu =
    "[enforce fail at alloc_cpu.cpp:127] err == 0. DefaultCPUAllocator: can't "
    "allocate memory: you tried to allocate 67108864 bytes. Error code 12";
constexpr const char *Cuda =
    "CUDA out of memory. Tried to allocate 2.50 GiB. GPU 0 has a total "
    "capacity of 79.10 GiB of which 1.02 GiB is free.";

TEST(Failure, TheBytesAreInTheMessage) {
  EXPECT_EQ(bytesAskedFor(Cpu), int64_t(64) << 20);
  EXPECT_EQ(bytesAskedFor(Cuda), int64_t(5) << 29);
  EXPECT_EQ(bytesAskedFor("Tried to allocate 20.00 MiB."), 20 << 20);
  EXPECT_EQ(bytesAskedFor("tried to allocate 512 KiB"), 512 << 10);
  for (const char *Each :
       {"std::bad_alloc", "tried to allocate ", "tried to allocate much",
        "tried to allocate 5", "tried to allocate 5 apples",
        "tried to allocate -5 bytes", "tried to allocate nan bytes",
        "tried to allocate 1e30 bytes", "tried to allocate 9000000000 TiB"})
    EXPECT_EQ(bytesAskedFor(Each), std::nullopt) << Each;
}

TEST(Failure, TheLastOneIsTold) {
  MadeRecording Made;
  Made.site("aten::empty", {at(10)}, 5).Thrown = {
      {"c10::Error", Cpu, 2, 7.0}, {"c10::Error", "another shape", 1, 9.0}};
  Made.site("throw", {at(20)}, 1).Thrown = {
      {"std::bad_alloc", "std::bad_alloc", 1, 8.0}};
  Made.site("aten::empty", {at(30)}, 5).Thrown = {
      {"c10::OutOfMemoryError", Cuda, 3, 2.0}};
  const auto Of = failureOf(Made.Run);
  ASSERT_TRUE(Of);
  EXPECT_EQ(Of->Site, 1U);
  EXPECT_EQ(Of->Type, "std::bad_alloc");
  EXPECT_EQ(Of->Count, 6U);
  EXPECT_FALSE(Of->Asked);
  EXPECT_FALSE(Of->Moment);
  EXPECT_EQ(failureText(Made.Run, *Of),
            "out of memory at train.cpp:20 after 8.0 s; the last of 6 times");
}

TEST(Failure, WhatWasAliveIsOfTheDeviceThatHadNone) {
  MadeRecording Made;
  Made.site("aten::empty", {at(10)}, 5).Thrown = {{"c10::Error", Cpu, 1, 7.0}};
  Moment At;
  At.Kind = MomentKind::Failure;
  At.CpuBytes = 3 << 20;
  At.CudaBytes = int64_t(70) << 30;
  At.CudaReserved = int64_t(78) << 30;
  At.ResidentBytes = 200 << 20;
  Made.Run.Moments = {Moment(), At};
  EXPECT_EQ(failureText(Made.Run, *failureOf(Made.Run)),
            "out of memory at train.cpp:10 after 7.0 s: asked for 64.0 MiB "
            "when 3.0 MiB of tensors were alive, 200 MiB resident");
  Made.Run.Sites[0].Thrown = {{"c10::OutOfMemoryError", Cuda, 1, 7.0}};
  EXPECT_EQ(failureText(Made.Run, *failureOf(Made.Run)),
            "out of memory at train.cpp:10 after 7.0 s: asked for 2.5 GiB when "
            "70.0 GiB of tensors on the device were alive, 78.0 GiB reserved");
}

TEST(Failure, OnlyAProgramThatEndsForItIsOutOfMemory) {
  MadeRecording Made;
  EXPECT_FALSE(failureOf(Made.Run));
  Made.site("aten::empty", {at(10)}, 5).Thrown = {{"c10::Error", Cpu, 1, 7.0}};
  EXPECT_EQ(endText(Made.Run), "ended with 0");
  Made.Run.ExitCode = 1;
  EXPECT_EQ(endText(Made.Run), "ended with 1, out of memory");
  Made.Run.ExitCode.reset();
  Made.Run.Signal = 6;
  EXPECT_EQ(endText(Made.Run), "was ended by signal 6, out of memory");
  Made.Run.Sites[0].Thrown[0].Message = "sizes do not match";
  EXPECT_EQ(endText(Made.Run), "was ended by signal 6");
}

/// Of a site that holds 1 KiB times \p Held, at steps of these iterations.
Trend trendOf(const std::vector<std::pair<uint64_t, int64_t>> &Held) {
  MadeRecording Made;
  Made.site("aten::add", {at(10)}, 100);
  for (const auto &[Iterations, Bytes] : Held) {
    Moment At;
    At.Kind = MomentKind::AfterStep;
    At.Iterations = Iterations;
    At.CpuBytes = Bytes << 10;
    At.By = {{0, Bytes << 10, 0, 0}};
    Made.Run.Moments.push_back(At);
  }
  return growthOf(Made.Run).Memory;
}

TEST(Growth, MomentsMayLieAnywhereInAQuarter) {
  // Those of a run of one second: the least of the third quarter is from its
  // end, and that of the last one from its begin.
  std::vector<std::pair<uint64_t, int64_t>> Held;
  for (uint64_t At : {268, 578, 744, 790, 1043, 1089, 1376, 1438, 1496, 1557,
                      1581, 1660, 1742, 1824, 1903, 1967})
    Held.emplace_back(At, int64_t(At) * 125);
  EXPECT_EQ(trendOf(Held), Trend::Grows);
  // What fills up does not.
  for (auto &[At, Bytes] : Held)
    Bytes = std::min<int64_t>(Bytes, 162500);
  EXPECT_EQ(trendOf(Held), Trend::Level);
}

TEST(Growth, WhatTheLeastDiffersByMayBeChance) {
  // A bounded cache of tables of any size: 1,453, 1,530 and 1,588 KiB at least.
  const std::vector<std::pair<uint64_t, int64_t>> Full = {
      {7, 1152},   {23, 1588},  {38, 1858},  {55, 1624},  {69, 1548},
      {83, 1620},  {96, 1777},  {109, 1813}, {124, 1453}, {139, 1674},
      {156, 1570}, {171, 1530}, {184, 1548}, {196, 1638}, {211, 1723},
      {223, 2011}, {238, 1633}, {253, 1696}, {267, 1530}, {279, 2101},
      {292, 1701}, {306, 1750}, {318, 1953}, {331, 1795}, {342, 1993},
      {352, 1881}, {360, 1800}, {371, 1602}, {380, 1597}, {389, 1588},
      {396, 1894}, {405, 1638}, {414, 1678}};
  EXPECT_EQ(trendOf(Full), Trend::Level);
  // With something in it that grows beside.
  auto Growing = Full;
  for (auto &[At, Bytes] : Growing)
    Bytes += int64_t(At) * 2;
  EXPECT_EQ(trendOf(Growing), Trend::Grows);
}

} // namespace
} // namespace torchtidy::confirm

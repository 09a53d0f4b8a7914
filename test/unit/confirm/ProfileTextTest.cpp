// The report for people.
#include "Profiles.h"
#include "export/Text.h"
#include <gtest/gtest.h>

namespace torchtidy::confirm {
namespace {

testing::AssertionResult has(const std::string &Text, const std::string &Part) {
  if (Text.find(Part) != std::string::npos)
    return testing::AssertionSuccess();
  return testing::AssertionFailure() << "there is no " << Part << " in\n"
                                     << Text;
}

TEST(ProfileText, EpochsAreInTheirOrderAndTheLastOneIsThere) {
  MadeReport Made;
  Made.Of.Epochs.clear();
  for (uint64_t I = 0; I < 12; ++I)
    Made.Of.Epochs.push_back(
        {10 * I + 1, 10 * I + 10, double(I), double(I) + 0.5, 2048, 1024});
  const std::string Text = profileText(Made.Run, Made.Of);
  EXPECT_TRUE(has(Text, "epoch 1               1.0 KiB after,    2.0 KiB peak, "
                        " 500.0 ms; iterations 1 to 10\n"));
  EXPECT_TRUE(has(Text, "epoch 4 "));
  EXPECT_FALSE(has(Text, "epoch 5 "));
  EXPECT_TRUE(has(Text, "iterations 111 to 120\n"));
  EXPECT_TRUE(has(profileText(Made.Run, Made.Of, {false, true}), "epoch 5 "));
}

TEST(ProfileText, FragmentationIsToldWithTheLinesWhoseSizesVary) {
  MadeReport Made;
  Moment &At = Made.Run.Moments.front();
  At.CudaBytes = 64;
  At.CudaReserved = 90;
  std::string Text = profileText(Made.Run, Made.Of);
  EXPECT_TRUE(has(Text, "reserved 90 B, 1.41 times what is allocated\n"));
  EXPECT_FALSE(has(Text, "sizes or more"));
  At.CudaReserved = 128;
  Text = profileText(Made.Run, Made.Of);
  EXPECT_TRUE(has(Text, "2.00 times what is allocated: fragmentation\n"));
  EXPECT_TRUE(has(Text, "of 5 sizes or more: "));
}

TEST(ProfileText, ActivationsByModuleWhereThereAreSeveral) {
  MadeReport Made;
  EXPECT_FALSE(has(profileText(Made.Run, Made.Of), "activations by module"));
  Made.Of.CpuPeak->ByModule = {{"net::Encoder", 2048}, {"net::Head", 100}};
  EXPECT_TRUE(has(profileText(Made.Run, Made.Of),
                  "activations by module: net::Encoder 2.0 KiB, net::Head "
                  "100 B\n"));
}

/// It is looked at whenever a 64th more is alive than the last time.
TEST(ProfileText, WhatWasSeenAtThePeakIsToldApartFromTheMostThatWas) {
  MadeReport Made;
  Made.Of.CpuPeak->Seconds = 0.3;
  Made.Of.CpuPeak->Bytes = 230 << 20;
  Made.Of.CpuPeak->Highest = 230 << 20;
  EXPECT_TRUE(has(profileText(Made.Run, Made.Of), "230 MiB at 0.3 s:"));
  Made.Of.CpuPeak->Highest = 232 << 20;
  EXPECT_TRUE(has(profileText(Made.Run, Made.Of),
                  "230 MiB at 0.3 s, later at most 232 MiB:"));
}

TEST(ProfileText, WithoutADeviceNothingWaitsForOne) {
  MadeReport Made;
  Made.Run.Seconds = 2;
  EXPECT_TRUE(has(profileText(Made.Run, Made.Of), ", waits for the device  "));
  Made.Run.CudaDevice.clear();
  EXPECT_TRUE(
      has(profileText(Made.Run, Made.Of), ", would wait for a device  "));
}

TEST(ProfileText, ShapesAreDetails) {
  MadeReport Made;
  Made.Run.Sites[0].Shapes = {{"Float[2,3]", 2}, {"Float[2,4]", 2}};
  Made.Run.Sites[0].OtherShapes = 1;
  EXPECT_FALSE(has(profileText(Made.Run, Made.Of), "Float[2,3]"));
  EXPECT_TRUE(has(profileText(Made.Run, Made.Of, {false, true}),
                  "aten::add_ of Float[2,3]; Float[2,4]; others\n"));
}

} // namespace
} // namespace torchtidy::confirm

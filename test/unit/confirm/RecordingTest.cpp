#include "Recordings.h"
#include "recording/Json.h"
#include "recording/Symbolizer.h"
#include "run/Target.h"
#include "support/Errors.h"
#include <gtest/gtest.h>

using namespace torchtidy::confirm;

namespace {

TEST(RecordingJson, ComesBackAsItWas) {
  MadeRecording Made;
  Site &S = Made.graph("aten::mm", {at(12), at(30, "main")}, 7, 2, 14, true);
  S.Copies = {{"cpu", "cuda", true, true, 3, 12}};
  S.Values["loss"] = 0.25;
  S.Shapes = {{"Float[2,3] on cpu", 5}};
  S.OtherShapes = 2;
  S.Thrown = {{"c10::Error", "a leaf", 1}};
  SanitizerReport &Report = Made.Run.SanitizerReports.emplace_back();
  Report.Kind = "heap-use-after-free";
  Report.Use = {at(12)};
  sample(S, [](uint64_t Hit, Sample &Each) { Each.HeapBytes = Hit % 2 - 1; });
  Made.Run.RuntimeCalls["cudaDeviceSynchronize"] = 4;
  Made.Run.Capabilities["cuda-memory"] = {false, "no device"};
  Made.Run.ExitCode = std::nullopt;
  Made.Run.Signal = 11;
  const auto Text = toJson(Made.Run);
  const Recording Back = recordingFromJson(Text, "here");
  EXPECT_EQ(toJson(Back), Text);
  EXPECT_EQ(Back.Sites[0].Shapes.at(0).Text, "Float[2,3] on cpu");
  EXPECT_EQ(Back.Sites[0].Thrown.at(0).Message, "a leaf");
  EXPECT_EQ(Back.SanitizerReports.at(0).Use.at(0).Line, 12u);
  EXPECT_EQ(Back.Sites[0].Series[0].HeapBytes, 0);
  EXPECT_EQ(Back.Sites[0].Series[1].HeapBytes, -1);
  EXPECT_EQ(Back.Capabilities.at("cuda-memory").Reason, "no device");
  EXPECT_FALSE(Back.ExitCode);
}

TEST(RecordingJson, OtherInputIsRefused) {
  EXPECT_THROW(recordingFromJson({{"runs", 1}}, "x"), UserError);
  EXPECT_THROW(recordingFromJson(nlohmann::json(nullptr), "x"), UserError);
  nlohmann::json Damaged = toJson(MadeRecording().Run);
  Damaged["sites"] = {{{"hits", "many"}}};
  EXPECT_THROW(recordingFromJson(Damaged, "x"), UserError);
  nlohmann::json Future = toJson(MadeRecording().Run);
  Future["version"] = 99;
  EXPECT_THROW(recordingFromJson(Future, "x"), UserError);
  Future["version"] = 1e99;
  EXPECT_THROW(recordingFromJson(Future, "x"), UserError);
  Future["format"] = 3;
  EXPECT_THROW(recordingFromJson(Future, "x"), UserError);
  // A conversion of what fits no integer is undefined.
  nlohmann::json Endless = toJson(MadeRecording().Run);
  Endless["sites"] = {{{"hits", 2.0737e+125}}};
  EXPECT_THROW(recordingFromJson(Endless, "x"), UserError);
  Endless["sites"] = nlohmann::json::array();
  Endless["exitCode"] = 1e99;
  EXPECT_THROW(recordingFromJson(Endless, "x"), UserError);
}

TEST(Symbolizer, NumbersThatFitNone) {
  const auto Lines =
      parseSymbols("0x99999999999999999999\nmain\n/app/main.cpp:1\n"
                   "0x1000\nmain\n/app/main.cpp:99999999999999999999999\n"
                   "0xzz\nmain\n/app/main.cpp:1\n");
  ASSERT_EQ(Lines.size(), 1u);
  EXPECT_TRUE(Lines.at(0x1000).empty());
}

TEST(Symbolizer, ReadsBothPrograms) {
  const auto Lines = parseSymbols(
      "0x0000000000001234\n"
      "at::Tensor::item() const\n/opt/torch/include/ATen/Tensor.h:12\n"
      "train(int)\n/app/src/../train.cpp:41 (discriminator 3)\n"
      "0x2000\n??\n??:0\n"
      "0x3000\nmain\n/app/main.cpp:?\n");
  ASSERT_EQ(Lines.size(), 3u);
  const Frames &First = Lines.at(0x1234);
  ASSERT_EQ(First.size(), 2u);
  EXPECT_EQ(First[0].Function, "at::Tensor::item() const");
  EXPECT_EQ(First[1].File, "/app/train.cpp");
  EXPECT_EQ(First[1].Line, 41u);
  EXPECT_TRUE(Lines.at(0x2000).empty());
  EXPECT_TRUE(Lines.at(0x3000).empty());
}

TEST(Symbolizer, FramesOfLibraries) {
  EXPECT_TRUE(isOfLibraries("/opt/torch/include/torch/csrc/autograd/x.h"));
  EXPECT_TRUE(isOfLibraries("/opt/torch/include/ATen/core/TensorBody.h"));
  EXPECT_TRUE(isOfLibraries("/usr/include/c++/12/bits/stl_vector.h"));
  EXPECT_TRUE(isOfLibraries("/usr/lib/gcc/x86_64-linux-gnu/12/include/x.h"));
  EXPECT_FALSE(isOfLibraries("/home/me/torch/src/train.cpp"));
  EXPECT_FALSE(isOfLibraries("/usr/src/app/train.cpp"));
  EXPECT_FALSE(isOfLibraries("/home/me/include/net.h"));
}

TEST(Target, ListOfTheLoader) {
  const auto All = parseLoaderList(
      "\tlinux-vdso.so.1 (0x00007ffc)\n"
      "\tlibtorch_cpu.so => /opt/torch lib/libtorch_cpu.so (0x00007f1c)\n"
      "\tlibc10.so => not found\n"
      "\t/lib64/ld-linux-x86-64.so.2 (0x00007f)\n");
  ASSERT_EQ(All.size(), 2u);
  EXPECT_EQ(All[0].first, "libtorch_cpu.so");
  EXPECT_EQ(All[0].second, "/opt/torch lib/libtorch_cpu.so");
  EXPECT_EQ(All[1].second, "");
}

} // namespace

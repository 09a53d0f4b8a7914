#include "recording/Sanitizer.h"
#include <gtest/gtest.h>

using namespace torchtidy::confirm;

namespace {

// As GCC's runtime prints it.
constexpr const char *Freed = R"(some output
=================================================================
==7==ERROR: AddressSanitizer: heap-use-after-free on address 0x60b0 at pc 0x1 bp 0x2 sp 0x3
READ of size 4 at 0x60b0 thread T0
    #0 0x55d1 in measure::check(at::Tensor const&) /app/support/memory.cpp:31
    #1 0x7f00 in at::_ops::sum::call(at::Tensor const&, std::optional<c10::ScalarType>) (/opt/torch/lib/libtorch_cpu.so+0x21) (BuildId: 12ab)
    #2 0x55d2 in at::Tensor::sum() const /opt/torch/include/ATen/core/TensorBody.h:300
    #3 0x55d3 in main /app/train.cpp:19

0x60b0 is located 0 bytes inside of 256-byte region [0x60b0,0x61b0)
freed by thread T0 here:
    #0 0x7f11 in operator delete(void*, unsigned long) ../../../../src/libsanitizer/asan/asan_new_delete.cpp:164
    #1 0x55d4 in std::__new_allocator<float>::deallocate(float*, unsigned long) /usr/include/c++/12/bits/new_allocator.h:158
    #2 0x55d5 in load(long) /app/train.cpp:12:3

previously allocated by thread T0 here:
    #0 0x7f12 in operator new(unsigned long) ../../../../src/libsanitizer/asan/asan_new_delete.cpp:95
    #1 0x55d6 in load(long) /app/my project/train.cpp:10

SUMMARY: AddressSanitizer: heap-use-after-free /app/support/memory.cpp:31 in measure::check
Shadow bytes around the buggy address:
    #9 0x55d6 in nobody /app/other.cpp:1
)";

std::vector<unsigned> lines(const std::vector<SourceLine> &Stack) {
  std::vector<unsigned> Result;
  for (const SourceLine &Line : Stack)
    Result.push_back(Line.Line);
  return Result;
}

TEST(Sanitizer, StacksOfTheUsersFrames) {
  const auto All = parseSanitizer(Freed);
  ASSERT_EQ(All.size(), 1u);
  EXPECT_EQ(All[0].Kind, "heap-use-after-free");
  EXPECT_EQ(All[0].Access, "read of 4 bytes");
  EXPECT_EQ(lines(All[0].Use), (std::vector<unsigned>{31, 19}));
  EXPECT_EQ(lines(All[0].Freed), (std::vector<unsigned>{12}));
  EXPECT_EQ(lines(All[0].Allocated), (std::vector<unsigned>{10}));
  EXPECT_EQ(All[0].Use[1].File, "/app/train.cpp");
  EXPECT_EQ(All[0].Use[1].Function, "main");
  EXPECT_EQ(All[0].Freed[0].Function, "load(long)");
  EXPECT_EQ(All[0].Allocated[0].File, "/app/my project/train.cpp");
}

TEST(Sanitizer, SeveralReports) {
  EXPECT_EQ(parseSanitizer(std::string(Freed) + Freed).size(), 2u);
  EXPECT_TRUE(parseSanitizer("").empty());
  EXPECT_TRUE(
      parseSanitizer("value mean 3\n    #0 0x1 in f /a.cpp:3\n").empty());
}

TEST(Sanitizer, OperationsOfLibTorch) {
  const auto All = parseSanitizer(
      std::string(Freed) +
      "in an operation of LibTorch that is called here:\n"
      "    #1 0x7f00 in at::_ops::sum::call (/opt/lib/libtorch_cpu.so+0x21)\n"
      "    #2 0x55d3 in main /app/train.cpp:20\n");
  ASSERT_EQ(All.size(), 1u);
  EXPECT_EQ(lines(All[0].Use), (std::vector<unsigned>{31, 19, 20}));
}

// Variables are as the runtimes of GCC 12 and Clang 19 print them.
std::vector<SanitizerReport> ofLocal(const std::string &Variables) {
  return parseSanitizer(
      "==7==ERROR: AddressSanitizer: stack-use-after-return on address 0x7f at "
      "pc 0x1 bp 0x2 sp 0x3\n"
      "WRITE of size 1 at 0x7f thread T0\n"
      "    #0 0x55d1 in main /app/train.cpp:21\n"
      "\n"
      "Address 0x7f is located in stack of thread T0 at offset 32 in frame\n"
      "    #0 0x55d1 in load() /app/train.cpp:8\n"
      "\n"
      "  This frame has 2 object(s):\n" +
      Variables +
      "SUMMARY: AddressSanitizer: stack-use-after-return /app/train.cpp:21 in "
      "main\n");
}

TEST(Sanitizer, LocalVariableIsItsLineInTheFunctionThatHoldsIt) {
  const auto All = ofLocal("    [32, 72) 'numbers' (line 9) <== Memory access "
                           "at offset 32 is inside "
                           "this variable\n"
                           "    [96, 136) 'others' (line 10)\n");
  ASSERT_EQ(All.size(), 1u);
  EXPECT_EQ(All[0].Access, "write of 1 byte");
  EXPECT_EQ(lines(All[0].Use), (std::vector<unsigned>{21}));
  EXPECT_EQ(lines(All[0].Allocated), (std::vector<unsigned>{9, 8}));
  EXPECT_EQ(All[0].Allocated[0].File, "/app/train.cpp");
  EXPECT_EQ(All[0].Allocated[0].Function, "load()");
}

TEST(Sanitizer, LocalObjectWithoutALineIsTheFunctionThatHoldsIt) {
  const auto All = ofLocal(
      "    [32, 48) '<unknown>' <== Memory access at offset 32 is inside this "
      "variable\n"
      "    [96, 136) 'others' (line 10)\n");
  ASSERT_EQ(All.size(), 1u);
  EXPECT_EQ(lines(All[0].Allocated), (std::vector<unsigned>{8}));
}

TEST(Sanitizer, GlobalVariableIsItsDefinition) {
  const auto All = parseSanitizer(
      "==7==ERROR: AddressSanitizer: global-buffer-overflow on address 0x5 at "
      "pc 0x1 bp 0x2 sp 0x3\n"
      "READ of size 4 at 0x5 thread T0\n"
      "    #0 0x55d1 in main /app/train.cpp:21\n"
      "0x5 is located 0 bytes to the right of global variable 'table' defined "
      "in '/app/train.cpp:3:7' (0x55) of size 16\n"
      "SUMMARY: AddressSanitizer: global-buffer-overflow /app/train.cpp:21\n");
  ASSERT_EQ(All.size(), 1u);
  EXPECT_EQ(lines(All[0].Allocated), (std::vector<unsigned>{3}));
}

TEST(Sanitizer, ALineThatFitsNoNumberIsNone) {
  const std::string Many(30, '9');
  const auto Local = ofLocal("    [32, 72) 'numbers' (line " + Many +
                             ") <== Memory access at offset 32 is inside this "
                             "variable\n");
  ASSERT_EQ(Local.size(), 1u);
  EXPECT_EQ(lines(Local[0].Allocated), (std::vector<unsigned>{8}));
  const auto All = parseSanitizer(
      "==7==ERROR: AddressSanitizer: global-buffer-overflow on address 0x5 at "
      "pc 0x1 bp 0x2 sp 0x3\n"
      "READ of size 4 at 0x5 thread T0\n"
      "    #0 0x55d1 in main /app/train.cpp:" +
      Many + "\n    #1 0x55d1 in main /app/train.cpp:21:" + Many +
      "\n0x5 is located 0 bytes to the right of global variable 'table' "
      "defined in '/app/train.cpp:" +
      Many + "' (0x55) of size 16\n");
  ASSERT_EQ(All.size(), 1u);
  EXPECT_EQ(lines(All[0].Use), (std::vector<unsigned>{21}));
  EXPECT_TRUE(All[0].Allocated.empty());
}

TEST(Sanitizer, ReportsThatAreNoAccess) {
  const auto All = parseSanitizer(
      "==7==ERROR: AddressSanitizer: attempting free on address which was not "
      "malloc()-ed: 0x5 in thread T0\n"
      "    #0 0x55d1 in main /app/train.cpp:21\n"
      "SUMMARY: AddressSanitizer: bad-free /app/train.cpp:21 in main\n"
      "==7==ERROR: AddressSanitizer: attempting double-free on 0x5 in thread "
      "T0:\n");
  ASSERT_EQ(All.size(), 2u);
  EXPECT_EQ(All[0].Kind, "bad-free");
  EXPECT_EQ(All[1].Kind, "double-free") << "cut off before its summary";
}

} // namespace

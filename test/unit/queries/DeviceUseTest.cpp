// Whether anything in a program can put a tensor elsewhere than on the CPU.
#include "queries/devices/DeviceUse.h"
#include "model/Model.h"

using namespace torchtidy::model;
using namespace torchtidy::test;

static bool uses(llvm::StringRef Code) {
  Model M(Code);
  return M.isRead() && mayUseDevice(M.program());
}

TEST(DeviceUse, WholeProgramsOfTheCpu) {
  EXPECT_FALSE(uses("int main() { torch::zeros({2}); }"));
  EXPECT_FALSE(uses(R"cpp(
    static void go(torch::Device d) { torch::zeros({2}).to(d).cpu(); }
    int main() { go(torch::kCPU); go(torch::Device("cpu")); })cpp"));
}

TEST(DeviceUse, ToAskWhetherThereIsOneUsesNone) {
  EXPECT_FALSE(uses(R"cpp(
    struct Net { torch::Device device = torch::kCPU; };
    int main() {
      Net net;
      if (torch::cuda::is_available())
        std::cout << torch::cuda::device_count();
      torch::zeros({2}).to(net.device);
    })cpp"));
  EXPECT_TRUE(uses(R"cpp(
    int main() {
      torch::Device device(torch::cuda::is_available() ? "cuda" : "cpu");
      torch::zeros({2}).to(device);
    })cpp"));
}

TEST(DeviceUse, Others) {
  EXPECT_TRUE(uses("void go(torch::Device d) { torch::zeros({2}).to(d); }"));
  EXPECT_TRUE(uses("torch::Device pick(); int main() { pick(); }"));
  EXPECT_TRUE(uses("int main() { torch::zeros({2}).cuda(); }"));
  EXPECT_TRUE(uses(R"cpp(
    int main(int argc, char **argv) { torch::zeros({2}).to(torch::Device(argv[1])); })cpp"));
  EXPECT_TRUE(uses(R"cpp(
    torch::Device device(torch::kCUDA);
    int main() { torch::zeros({2}).to(device); })cpp"));
  EXPECT_TRUE(uses(R"cpp(
    int main() { torch::cuda::synchronize(); })cpp"));
}

TEST(DeviceUse, WhatMembersBeginWith) {
  EXPECT_TRUE(uses(R"cpp(
    struct Options { int64_t size = 3; torch::Device device = torch::kCUDA; };
    int main() { Options options; torch::zeros({2}).to(options.device); })cpp"));
  EXPECT_TRUE(uses(R"cpp(
    struct Options { torch::Device device{torch::kCUDA}; };
    struct Trainer { int64_t steps = 1; Options options; };
    int main() { Trainer trainer{5}; torch::zeros({2}).to(trainer.options.device); })cpp"));
  EXPECT_FALSE(uses(R"cpp(
    struct Options { torch::Device device = torch::kCPU; };
    int main() { Options options; torch::zeros({2}).to(options.device); })cpp"));
}

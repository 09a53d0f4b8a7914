// Ends in the way that its argument says.
#include <csignal>
#include <functional>
#include <sys/wait.h>
#include <unistd.h>

static torch::Tensor Static;
struct AtExit {
  ~AtExit() {
    std::cout << "static " << torch::ones({100}).sum().item<float>() << "\n";
  }
} Last;

static int waitFor(pid_t Child) {
  int Status = 0;
  waitpid(Child, &Status, 0);
  std::cout << "child " << Status << "\n";
  return 0;
}

static int overflow(int Depth) {
  volatile char Frame[4096];
  Frame[0] = static_cast<char>(Depth);
  return overflow(Depth + 1) + Frame[0];
}

int main(int, char **Arguments) {
  const std::string How = Arguments[1];
  auto T = torch::ones({4});
  Static = torch::ones({10});
  (void)T.sum().item<float>();
  if (How == "exit")
    exit(3);
  if (How == "_exit")
    _exit(4);
  if (How == "quick_exit")
    quick_exit(5);
  if (How == "segv")
    *static_cast<volatile int *>(nullptr) = 1;
  if (How == "abort")
    abort();
  if (How == "throw")
    T.view({3}); // thrown
  if (How == "catch")
    try {
      T.view({3}); // caught
    } catch (const c10::Error &) {
      std::cout << "caught\n";
    }
  if (How == "again") {
    auto W = torch::ones({4}, torch::requires_grad());
    auto Loss = (W * W).sum();
    Loss.backward();
    Loss.backward(); // again
  }
  if (How == "term")
    raise(SIGTERM);
  if (How == "kill")
    raise(SIGKILL);
  if (How == "terminate")
    std::terminate();
  if (How == "memory")
    torch::empty({int64_t(1) << 50});
  if (How == "fork") {
    const pid_t Child = fork();
    if (!Child) {
      (void)T.sum().item<float>();
      _exit(6);
    }
    return waitFor(Child);
  }
  if (How == "fork-return") {
    const pid_t Child = fork();
    if (!Child) {
      (void)T.sum().item<float>();
      return 7;
    }
    return waitFor(Child);
  }
  // The child never touches a tensor, so it leaves no trace.
  if (How == "fork-idle") {
    const pid_t Child = fork();
    if (!Child)
      _exit(8);
    return waitFor(Child);
  }
  if (How == "exec")
    execl(Arguments[2], Arguments[2], Arguments[3], nullptr);
  if (How == "system")
    return system(Arguments[2]);
  if (How == "handler") {
    signal(SIGSEGV, [](int) { _exit(9); });
    *static_cast<volatile int *>(nullptr) = 1;
  }
  if (How == "overflow")
    return overflow(0);
  if (How == "threads") {
    std::vector<std::thread> Threads;
    for (int I = 0; I < 8; ++I)
      Threads.emplace_back([] {
        for (int K = 0; K < 500; ++K) {
          auto W = torch::ones({8}, torch::requires_grad());
          (W * 2).sum().backward();
          (void)W.grad()[0].item<float>();
        }
      });
    for (auto &Thread : Threads)
      Thread.join();
  }
  // What the allocator for CUDA reports, without a device.
  if (How == "cuda") {
    const c10::Device Cuda(c10::kCUDA, 0);
    auto *Block = reinterpret_cast<void *>(0x10000);
    auto *Other = reinterpret_cast<void *>(0x20000);
    c10::reportMemoryUsageToProfiler(Block, 4096, 4096, 1 << 20, Cuda);
    c10::reportMemoryUsageToProfiler(Other, 1000, 5096, 1 << 20, Cuda);
    c10::reportMemoryUsageToProfiler(Block, -4096, 1000, 1 << 20, Cuda);
  }
  if (How == "many-threads")
    for (int I = 0; I < 300; ++I)
      std::thread([] { torch::ones({8}).sum().item<float>(); }).join();
  return 0;
}

// More events, and more stacks, than the trace has room for.
#include <cstdlib>
#include <fstream>
#include <torch_confirm.h>

static torch::Tensor deep(int Depth, unsigned Way) {
  if (Depth == 0)
    return torch::empty({1});
  if (Way & 1)
    return deep(Depth - 1, Way >> 1);
  return deep(Depth - 1, Way >> 1);
}

static long residentKiB() {
  std::ifstream Status("/proc/self/status");
  for (std::string Word; Status >> Word;)
    if (Word == "VmHWM:") {
      long Size;
      Status >> Size;
      return Size;
    }
  return 0;
}

int main(int, char **Arguments) {
  torch::set_num_threads(1);
  const long Count = atol(Arguments[1]);
  torch_confirm_begin("events");
  for (long I = 0; I < Count; ++I) {
    auto Block = torch::empty({1});
    torch_confirm_iteration("events");
  }
  torch_confirm_end("events");
  std::cout << residentKiB() << "\n";
  for (unsigned Way = 0; Way < (1u << 15); ++Way)
    deep(15, Way);
  std::cout << residentKiB() << "\n";
}
